"""The built-in reflector: from the last verdict's gaps to a cause, a change the next attempt must show, and a ban."""

from __future__ import annotations

from collections.abc import Sequence

from graph_api.model import Graph, Node
from graph_api.rules import Ban
from material_agent.actors.builtin.measurements import measure
from material_agent.actors.builtin.overlay import Overlay, moves_for, overlays
from material_agent.actors.builtin.plan import breaks, weights
from material_agent.actors.builtin.structure import Structure, structures
from material_agent.context import Context, Evaluation, Gap
from material_agent.errors import ActorError
from material_agent.memory.reflection import Attribution, Evidence, GraphChange, Reflection
from material_agent.observation import Observation

_STRUCTURAL = ("lattice_missing", "lattice_offset", "orientation")
_POOR = 0.55
"""Below this reward the structure is held responsible, not a branch of it, unless no other is called for as much."""
_RANGE = 1.12
"""A banned Scale takes this factor to either side with it: a smaller step would be the same material again."""
_TEXTURES = ("ShaderNodeTexNoise", "ShaderNodeTexVoronoi", "ShaderNodeTexWave", "ShaderNodeTexBrick")


class BuiltinReflector:
    """Blames a structure or a branch by the gaps, asks for another one, and bans the one that failed."""

    name = "builtin"

    def reflect(self, context: Context, outcome: str, label: str) -> Reflection:
        """The four fields. Raises `ActorError` when nothing was judged, so that there is nothing to learn from."""
        judged = [s.observation for s in context.history if s.observation.evaluation is not None]
        if not judged:
            raise ActorError("expected a judged render to reflect on, got none")
        seen = max(judged, key=lambda item: _verdict(item).reward)
        graph = context.state.best_graph or context.state.graph
        evaluation = _verdict(seen)
        gap = evaluation.gaps[0] if evaluation.gaps else None
        poor = evaluation.reward < _POOR and not self._founded(context, graph)
        structural = gap is None or gap.kind in _STRUCTURAL or poor
        made = self._structure(context, seen, gap, graph) if structural else None
        if made is None and gap is not None:
            made = self._branch(context, seen, gap, graph)
        if made is None:
            made = self._structure(context, seen, gap, graph)
        if made is None:
            raise ActorError(f"expected an untried structure or branch after {outcome} ({label}), got none")
        return made

    def _structure(self, context: Context, seen: Observation, gap: Gap | None, graph: Graph) -> Reflection | None:
        """Another structure: the likeliest whose macro texture is of a type that is neither tried nor banned."""
        used = _macro(graph)
        if used is None:
            return None
        ban = Ban("node", type=used.type, role="macro", reason=f"as the macro branch it left {_said(gap)}")
        bans = (*context.constraints.bans, ban)
        other = self._untried(context, used.type, bans)
        if other is None or _known(ban, context):
            return None
        wanted = Ban("node", type=other.macro_type, role=_role_of(other))
        change = GraphChange(
            f"build {other.title.lower()} with a {_kind(other.macro_type)} as its macro branch", (), wanted
        )
        cause = f"macro branch ({used.id}, {_kind(used.type)})"
        return Reflection("", _evidence(seen, gap), _blame(gap, cause, "macro"), change, ban)

    def _untried(self, context: Context, used: str, bans: tuple[Ban, ...]) -> Structure | None:
        table = weights(measure(context))
        ranked = sorted(table, key=lambda name: (-table[name], name))
        fresh = [structures()[name] for name in ranked if name not in context.state.tried]
        return next((item for item in fresh if item.macro_type != used and not breaks(item, bans)), None)

    def _founded(self, context: Context, graph: Graph) -> bool:
        """Whether the measurements call for the texture that carries the graph at least as much as for what is open."""
        used = _macro(graph)
        if used is None:
            return False
        table = weights(measure(context))
        alike = max((table[name] for name in table if structures()[name].macro_type == used.type), default=0.0)
        bans = (*context.constraints.bans, Ban("node", type=used.type, role="macro"))
        other = self._untried(context, used.type, bans)
        return alike > 0 and (other is None or alike >= table[other.name])

    def _branch(self, context: Context, seen: Observation, gap: Gap, graph: Graph) -> Reflection | None:
        """The branch at the gap's scale: a layer that the graph lacks, and no more of the Scale that did not do."""
        used = _texture(graph, gap.scale)
        overlay = _missing_overlay(evaluation_gaps(seen), graph)
        if used is None or overlay is None:
            return None
        value = used.inputs.get("Scale")
        if not isinstance(value, int | float) or value <= 0:
            return None
        ban = Ban(
            "param",
            type=used.type,
            role=used.role,
            socket="Scale",
            low=float(value) / _RANGE,
            high=float(value) * _RANGE,
            reason=f"at this Scale the {used.role} branch left {_said(gap)}",
        )
        texture = next(node for node in overlay.nodes if node.type.startswith("ShaderNodeTex"))
        wanted = Ban("node", type=texture.type, role=texture.role)
        if _known(ban, context):
            return None
        change = GraphChange(f"add an independent branch: {overlay.title}", (), wanted)
        cause = f"{used.role} branch ({used.id}, {_kind(used.type)} at Scale {float(value):.3g})"
        return Reflection("", _evidence(seen, gap), _blame(gap, cause, gap.scale), change, ban)


def evaluation_gaps(seen: Observation) -> Sequence[Gap]:
    """The gaps of an observation that has a verdict."""
    return _verdict(seen).gaps


def _verdict(seen: Observation) -> Evaluation:
    assert seen.evaluation is not None, "only judged observations are reflected on"
    return seen.evaluation


def _said(gap: Gap | None) -> str:
    return "the thresholds unmet" if gap is None else gap.message


def _kind(node_type: str) -> str:
    return node_type.removeprefix("ShaderNodeTex").removeprefix("ShaderNode")


def _known(ban: Ban, context: Context) -> bool:
    fields = [(b.kind, b.type, b.role, b.socket, b.low, b.high) for b in context.constraints.bans]
    return (ban.kind, ban.type, ban.role, ban.socket, ban.low, ban.high) in fields


def _macro(graph: Graph) -> Node | None:
    found = [node for node in graph.nodes.values() if node.type in _TEXTURES]
    return next((node for node in found if node.role == "macro"), None)


def _texture(graph: Graph, scale: str) -> Node | None:
    """The texture at a gap's scale whose size is its Scale; a brick's is its width and height, at a Scale of 1."""
    order = {"micro": ("micro", "meso"), "meso": ("meso", "micro"), "macro": ("macro", "meso")}.get(
        scale, ("meso", "micro")
    )
    found = [node for role in order for node in graph.nodes.values() if node.type in _TEXTURES and node.role == role]
    return next((node for node in found if "Scale" in node.inputs and node.type != "ShaderNodeTexBrick"), None)


def _role_of(structure: Structure) -> str:
    return next(node.role for node in structure.nodes if node.type == structure.macro_type)


def _missing_overlay(gaps: Sequence[Gap], graph: Graph) -> Overlay | None:
    """The first overlay that a gap calls for and whose texture, by type and role, the graph does not have."""
    present = {(node.type, node.role) for node in graph.nodes.values()}
    names = [move for gap in gaps for move in moves_for(gap)]
    for name in [*names, *overlays()]:
        overlay = overlays().get(name)
        if overlay is None or any(p.hard for p in overlay.parameters):
            continue
        texture = next(node for node in overlay.nodes if node.type.startswith("ShaderNodeTex"))
        if (texture.type, texture.role) not in present:
            return overlay
    return None


def _blame(gap: Gap | None, cause: str, scale: str) -> Attribution:
    if gap is None:
        return Attribution("global", "luma", cause, "this reference")
    return Attribution("macro" if scale == "macro" else gap.scale, gap.channel, cause, "this reference")


def _evidence(seen: Observation, gap: Gap | None) -> tuple[Evidence, ...]:
    evaluation = _verdict(seen)
    facts = [
        Evidence(
            seen.id, "reward", evaluation.reward, f"the best render of the attempt has reward {evaluation.reward:.3f}"
        )
    ]
    if gap is not None:
        facts.append(Evidence(seen.id, f"{gap.kind}.measured", gap.measured, gap.message))
    return tuple(facts)
