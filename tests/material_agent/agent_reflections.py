"""Reflections for tests: a good one, to be spoilt field by field."""

from __future__ import annotations

from graph_api import AddNode, Ban, SetParam
from material_agent.memory import Attribution, Evidence, GraphChange, Reflection

CITED = "a1.o5"


def reflection(reward: float = 0.3, **fields: object) -> Reflection:
    """A reflection that passes: it bans the macro noise and asks for bricks."""
    given = {
        "id": "r",
        "evidence": (Evidence(CITED, "reward", reward, "the noise scored low"),),
        "scale": Attribution("macro", "base_color", "noise (hypothesis)", "this reference"),
        "graph_change": GraphChange("use bricks", (AddNode("ShaderNodeTexBrick", role="macro"),)),
        "forbidden_op": Ban("node", type="ShaderNodeTexNoise", role="macro"),
    }
    return Reflection(**{**given, **fields})


__all__ = ["CITED", "SetParam", "reflection"]
