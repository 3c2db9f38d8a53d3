"""Reflections as JSON: how memory and events store them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from graph_api import action_from_json, action_to_json, ban_from_json, ban_to_json
from graph_api.actions import Edit
from material_agent.memory.reflection import Attribution, Evidence, GraphChange, Reflection, Scale


def reflection_to_json(reflection: Reflection) -> dict[str, Any]:
    """The four fields and the id as plain JSON."""
    change = reflection.graph_change
    return {
        "id": reflection.id,
        "evidence": [
            {"observation": fact.observation, "figure": fact.figure, "value": fact.value, "text": fact.text}
            for fact in reflection.evidence
        ],
        "scale": {
            "scale": reflection.scale.scale,
            "channel": reflection.scale.channel,
            "cause": reflection.scale.cause,
            "scope": reflection.scale.scope,
        },
        "graph_change": {
            "text": change.text,
            "actions": [action_to_json(action) for action in change.actions],
            "pattern": None if change.pattern is None else ban_to_json(change.pattern),
        },
        "forbidden_op": ban_to_json(reflection.forbidden_op),
    }


def reflection_from_json(data: Mapping[str, Any]) -> Reflection:
    """The reflection that `reflection_to_json` wrote. Raises KeyError or the graph API's errors for other input."""
    change = data["graph_change"]
    scale = data["scale"]
    return Reflection(
        id=data["id"],
        evidence=tuple(
            Evidence(fact["observation"], fact["figure"], float(fact["value"]), fact["text"])
            for fact in data["evidence"]
        ),
        scale=Attribution(cast("Scale", scale["scale"]), scale["channel"], scale["cause"], scale["scope"]),
        graph_change=GraphChange(
            change["text"],
            tuple(cast("Edit", action_from_json(action)) for action in change["actions"]),
            None if change["pattern"] is None else ban_from_json(change["pattern"]),
        ),
        forbidden_op=ban_from_json(data["forbidden_op"]),
    )
