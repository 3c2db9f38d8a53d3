"""A proposal: one structure with values, its fitted colours, and the typed actions that build it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from graph_api.actions import AddNode, Connect, Edit, RemoveNode, SetParam
from graph_api.model import ColorRamp, Graph
from material_agent.actors.builtin.color import Array, Light, Span, hue_ramp, ramp, span
from material_agent.actors.builtin.expression import evaluate
from material_agent.actors.builtin.measurements import Measurements
from material_agent.actors.builtin.structure import NodeSpec, Structure, node_edits, shading, specs
from material_agent.observation import FloatArray

_COLOR = {"one": "ramp.Color", "two": "colors.Result_Color"}
"""Where the color branches of the shading file come out."""


@dataclass(frozen=True)
class Fit:
    """What a probe render told: ranges of the scalars, the region's threshold, and the ramps that follow."""

    numbers: Mapping[str, float]
    ramps: Mapping[str, ColorRamp]


@dataclass(frozen=True)
class Surface:
    """What is the same for all proposals of an attempt: how light answers, and the base of the shading."""

    light: Light = field(default_factory=Light)
    patch_m: float = 1.0
    base_roughness: float = 0.7
    metallic: float = 0.0
    specular: float = 0.5
    relief_limit: float = 1.0
    """In patches: fine relief of a polished surface would glitter."""

    @property
    def numbers(self) -> Mapping[str, float]:
        """Names for the shading file."""
        return {
            "patch": self.patch_m,
            "base_roughness": self.base_roughness,
            "metallic": self.metallic,
            "specular": self.specular,
            "relief_limit": self.relief_limit,
        }


@dataclass(frozen=True)
class Proposal:
    """A structure, its parameter values (by name) and what was fitted in closed form (None before the probe)."""

    structure: Structure
    values: Mapping[str, float]
    fit: Fit | None = None
    tags: tuple[str, ...] = field(default=())

    def with_values(self, values: Mapping[str, float]) -> Proposal:
        """The same structure with other values, not yet fitted."""
        return replace(self, values={**self.values, **values}, fit=None)


class Builder:
    """Turns proposals into typed actions against one start graph."""

    def __init__(self, start: Graph, measured: Measurements, surface: Surface) -> None:
        """`start` must hold a Texture Coordinate, a Mapping (the seed's one offset) and a Principled shader."""
        self.start, self.measured, self.surface = start, measured, surface
        self.names = {
            "@shader": _only(start, "ShaderNodeBsdfPrincipled"),
            "@coords": f"{_mapping(start)}.Vector",
            # What has one place in the picture, such as a centre, must not move with the seed.
            "@uv": f"{_only(start, 'ShaderNodeTexCoord')}.UV",
        }
        self.mapping = _mapping(start)

    def probe(self, proposal: Proposal) -> list[Edit]:
        """Actions whose base color is (pattern, figure, mask) and whose height is the height scalar."""
        return self._body(proposal) + self._branch(proposal, specs(shading()["probe"]), {}, {})

    def edits(self, proposal: Proposal) -> list[Edit]:
        """Actions that build the fitted proposal on the start graph."""
        assert proposal.fit is not None, "a proposal is fitted before it is built"
        numbers = {**proposal.values, **self.surface.numbers, **proposal.fit.numbers}
        structure = proposal.structure
        color = specs(shading()["two" if structure.mask else "one"])
        finish = structure.finish
        if structure.color:
            finish += (NodeSpec("@shader", "", "", {}, {"Base Color": structure.color}),)
        nodes = color + finish + specs(shading()["surface"])
        edits = self._body(proposal) + self._branch(proposal, nodes, numbers, proposal.fit.ramps)
        # The finish takes the base color over from the ramps: the later of two links into one input stays.
        return list(_table(edits).values()) if structure.color else edits

    def fit(self, proposal: Proposal, probe: FloatArray, height: FloatArray) -> Proposal:
        """The proposal with colours and ranges from its probe: `probe` (H, W, 3), `height` (H, W, 1)."""
        structure = proposal.structure
        contrast = proposal.values["contrast"] * proposal.values.get("spread", 1.0)
        light = self.surface.light.times(proposal.values.get("exposure", 1.0))
        pattern, figure, mask = (np.asarray(probe[..., c], dtype=np.float64) for c in range(3))
        raised = span(height)
        numbers = {"height_low": raised.low, "height_high": raised.high}
        if not structure.mask:
            scalar = span(pattern)
            numbers |= {"pattern_low": scalar.low, "pattern_high": scalar.high}
            ramps = {"pattern": ramp(scalar, self.measured.colors, light, contrast)} | self._hue(structure, light)
            return replace(proposal, fit=Fit(numbers, ramps))
        share, low, high = self._region(proposal, mask)
        part: Array = np.clip((mask - low) / (high - low), 0, 1)
        ground_colors, figure_colors = self.measured.region_colors(share)
        ground, second = span(pattern, 1 - part), span(figure, part)
        numbers |= {"mask_low": low, "mask_high": high} | _ranges(ground, "pattern") | _ranges(second, "figure")
        ramps = {
            "pattern": ramp(ground, ground_colors, light, contrast),
            "figure": ramp(second, figure_colors, light, contrast),
            **self._hue(structure, light),
        }
        return replace(proposal, fit=Fit(numbers, ramps))

    def _hue(self, structure: Structure, light: Light) -> dict[str, ColorRamp]:
        return {"hue": hue_ramp(self.measured.second_axis / light.gain)} if structure.color else {}

    def _region(self, proposal: Proposal, mask: Array) -> tuple[float, float, float]:
        """Share of the figure and the mask's range: from the measured area where the mask is a field, else as it is."""
        if not proposal.structure.mask_softness:
            return float((mask > 0.5).mean()), 0.0, 1.0
        share = 0.3 if self.measured.regions is None else self.measured.regions.share
        soft = evaluate(proposal.structure.mask_softness[1:], proposal.values)
        threshold = float(np.quantile(mask, 1 - share))
        return share, threshold - soft, threshold + soft

    def _body(self, proposal: Proposal) -> list[Edit]:
        numbers = {**self.measured.numbers, **proposal.values, **self.surface.numbers}
        return node_edits(proposal.structure.nodes, self.names, numbers, {})

    def _branch(
        self,
        proposal: Proposal,
        nodes: Sequence[NodeSpec],
        numbers: Mapping[str, float],
        ramps: Mapping[str, ColorRamp],
    ) -> list[Edit]:
        structure = proposal.structure
        names = {
            **self.names,
            "@pattern": structure.pattern,
            "@figure": structure.figure or structure.pattern,
            "@mask": structure.mask or structure.pattern,
            "@height": structure.height or structure.pattern,
            "@color": _COLOR["two" if structure.mask else "one"],
        }
        return node_edits(nodes, names, numbers, ramps)


def transition(before: Sequence[Edit], after: Sequence[Edit]) -> list[Edit]:
    """Typed actions that lead from the graph that `before` built to the one that `after` builds."""
    old, new = _table(before), _table(after)
    gone = [RemoveNode(item.id or "") for key, item in old.items() if key not in new and isinstance(item, AddNode)]
    changed = [item for key, item in new.items() if old.get(key) != item]
    order = {AddNode: 0, SetParam: 1, Connect: 2}
    return [*gone, *sorted(changed, key=lambda item: order.get(type(item), 3))]


def _table(edits: Sequence[Edit]) -> dict[tuple[str, ...], Edit]:
    """Edits by what they decide, the last of each in its place."""
    keys: dict[tuple[str, ...], Edit] = {}
    for edit in edits:
        match edit:
            case AddNode(id=name):
                what: tuple[str, ...] = ("add", name or "")
            case SetParam(node=node, key=key):
                what = ("set", node, key)
            case Connect(dst=dst, slot=slot):
                what = ("link", dst, slot)
            case _:
                continue
        keys.pop(what, None)
        keys[what] = edit
    return keys


def _ranges(scalar: Span, name: str) -> dict[str, float]:
    return {f"{name}_low": scalar.low, f"{name}_high": scalar.high}


def _only(graph: Graph, kind: str) -> str:
    found = [node.id for node in graph.nodes.values() if node.type == kind]
    if not found:
        known = ", ".join(sorted({node.type for node in graph.nodes.values()}))
        raise ValueError(f"expected a start graph with a {kind}, got none; known: {known}")
    return found[0]


def _mapping(graph: Graph) -> str:
    return _only(graph, "ShaderNodeMapping")
