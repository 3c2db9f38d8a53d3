"""Overlays: branches that an edit adds to a structure, as data, and the table from gaps to edits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

from material_agent.actors.builtin.measurements import Measurements
from material_agent.actors.builtin.proposal import Proposal
from material_agent.actors.builtin.structure import NodeSpec, Parameter, parameters_from, specs
from material_agent.context import Gap

_PACKAGE = "material_agent.actors.builtin"


@dataclass(frozen=True)
class Overlay:
    """A branch: its parameters and nodes, and which outputs it takes over; `tune`: base parameters to move with it.

    `color` takes over the base color; such a branch stands behind the ramps.
    `ladder`: values to put before the full judge, of a branch so fine that the screen's small pictures do not show it.
    """

    name: str
    title: str
    parameters: tuple[Parameter, ...]
    nodes: tuple[NodeSpec, ...]
    pattern: str
    height: str
    color: str
    tune: tuple[str, ...]
    ladder: Mapping[str, tuple[float, ...]]

    def measured_in(self, measured: Measurements) -> bool:
        """Whether everything that the branch cannot do without was measured."""
        return all(p.measured in measured.numbers for p in self.parameters if p.hard)


@cache
def overlays() -> Mapping[str, Overlay]:
    """All overlays by name."""
    folder = resources.files(_PACKAGE).joinpath("overlays")
    made = {}
    for file in sorted((f for f in folder.iterdir() if f.name.endswith(".json")), key=lambda f: f.name):
        data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        made[file.name[:-5]] = Overlay(
            file.name[:-5], data["title"], parameters_from(data["parameters"]), specs(data["nodes"]),
            data.get("pattern", ""), data.get("height", ""), data.get("color", ""), tuple(data.get("tune", ())),
            {name: tuple(values) for name, values in data.get("ladder", {}).items()},
        )  # fmt: skip
    return made


@cache
def _rules() -> tuple[Mapping[str, Any], ...]:
    text = resources.files(_PACKAGE).joinpath("repairs.json").read_text(encoding="utf-8")
    return tuple(json.loads(text)["rules"])


def moves_for(gap: Gap) -> tuple[str, ...]:
    """What to try against a gap, in order: overlay names, "recolor", "tune", "tune:role" or "scale:parameter"."""
    for rule in _rules():
        fits = gap.kind in rule.get("kinds", (gap.kind,)) and gap.scale == rule.get("scale", gap.scale)
        if fits and gap.direction == rule.get("direction", gap.direction):
            return tuple(rule["moves"])
    return ()


def lay_over(proposal: Proposal, overlay: Overlay, measured: Measurements) -> Proposal | None:
    """The proposal with the overlay's branch; None when it has it already, or when there is nothing to measure from."""
    base, fit = proposal.structure, proposal.fit
    present = {node.id for node in (*base.nodes, *base.finish)}
    if fit is None or any(node.id in present for node in overlay.nodes):
        return None
    if not overlay.measured_in(measured):
        return None
    outputs = {"@pattern": base.pattern, "@height": base.height or base.pattern, "@color": base.color or "@color"}
    nodes = tuple(replace(n, links={k: outputs.get(v, v) for k, v in n.links.items()}) for n in overlay.nodes)
    structure = replace(
        base,
        parameters=base.parameters + overlay.parameters,
        pattern=overlay.pattern or base.pattern,
        height=overlay.height or base.height or base.pattern,
        color=overlay.color or base.color,
        overlays=(*base.overlays, overlay.name),
    )
    values = {p.name: measured.numbers.get(p.measured, p.start) if p.measured else p.start for p in overlay.parameters}
    ranges = {
        f"{name}_range": fit.numbers[f"{name}_high"] - fit.numbers[f"{name}_low"] for name in ("pattern", "height")
    }
    # The range is fixed at the moment of laying over, so that later overlays do not change what weights mean.
    renamed = {f"{overlay.name}_{key}": value for key, value in ranges.items()}
    nodes = tuple(_renamed(n, overlay.name) for n in nodes)
    before, behind = ((), nodes) if overlay.color else (nodes, ())
    structure = replace(structure, nodes=base.nodes + before, finish=base.finish + behind)
    return Proposal(structure, {**proposal.values, **values, **renamed})


def _renamed(node: NodeSpec, overlay: str) -> NodeSpec:
    def text(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return value.replace("pattern_range", f"{overlay}_pattern_range").replace(
            "height_range", f"{overlay}_height_range"
        )

    return replace(node, set={key: text(value) for key, value in node.set.items()})
