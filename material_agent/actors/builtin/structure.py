"""Structures: kinds of material as data. One JSON file each; a new one needs no other file to change.

A file holds `parameters` (priors, with the measurement that starts each), `nodes` (typed, with roles, inputs and
links), where the `pattern` scalar comes out (optionally a `mask` and a second, `figure` scalar), and the `evidence`:
the hypotheses of the analysis that call for it, with weights.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from graph_api.actions import AddNode, Connect, Edit, SetParam
from graph_api.model import ColorRamp, Value
from material_agent.actors.builtin.expression import evaluate

_PACKAGE = "material_agent.actors.builtin"


@dataclass(frozen=True)
class Parameter:
    """One parameter of a structure, in [low, high].

    `log`: searched on a logarithmic scale. `whole`: integer. `sign`: only −1 and 1. `hard`: given by a measurement
    and never searched. `measured`: the measurement that starts it; `start` serves when that is missing.
    """

    name: str
    low: float
    high: float
    start: float
    log: bool = False
    whole: bool = False
    sign: bool = False
    hard: bool = False
    measured: str = ""
    unit: str = ""

    def to_unit(self, value: float) -> float:
        """Value to [0, 1]."""
        value = min(max(value, self.low), self.high)
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def from_unit(self, position: float) -> float:
        """[0, 1] to value, rounded where the parameter is an integer or a sign."""
        position = min(max(position, 0.0), 1.0)
        if self.sign:
            return 1.0 if position >= 0.5 else -1.0
        if self.log:
            value = self.low * (self.high / self.low) ** position
        else:
            value = self.low + (self.high - self.low) * position
        return float(round(value)) if self.whole else value


@dataclass(frozen=True)
class NodeSpec:
    """A node of a structure: `set` maps keys to values or "=expressions", `links` input sockets to "node.Output"."""

    id: str
    type: str
    role: str
    set: Mapping[str, Any]
    links: Mapping[str, str]


@dataclass(frozen=True)
class Structure:
    """A kind of material. `needs` names a measurement without which it cannot be built ("" for none).

    `finish`: nodes behind the ramps, whose output `color` is the base color ("" for the ramps' own).
    `starts`: values of the sub-kinds that enter the race, such as the twills of a houndstooth and of a plain check.
    """

    name: str
    title: str
    evidence: Mapping[str, float]
    needs: str
    parameters: tuple[Parameter, ...]
    nodes: tuple[NodeSpec, ...]
    pattern: str
    mask: str = ""
    mask_softness: str = ""
    figure: str = ""
    height: str = ""
    overlays: tuple[str, ...] = ()
    starts: tuple[Mapping[str, float], ...] = ({},)
    finish: tuple[NodeSpec, ...] = ()
    color: str = ""

    def parameter(self, name: str) -> Parameter:
        """The parameter `name`. Raises KeyError."""
        return next(item for item in self.parameters if item.name == name)

    @property
    def macro_type(self) -> str:
        """Type of the node that carries the structure: its first macro texture."""
        textures = [node for node in self.nodes if node.type.startswith("ShaderNodeTex")]
        return next((node.type for node in textures if node.role == "macro"), textures[0].type)


def parameters_from(data: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """Parameters from plain data (the form of the `parameters` tables)."""
    made = []
    for name, item in data.items():
        low, high = float(item["low"]), float(item["high"])
        middle = math.sqrt(low * high) if item.get("log") else (low + high) / 2
        made.append(
            Parameter(
                name,
                low,
                high,
                float(item.get("start", middle)),
                bool(item.get("log")),
                bool(item.get("int")),
                bool(item.get("sign")),
                bool(item.get("hard")),
                item.get("from", ""),
                item.get("unit", ""),
            )
        )
    return tuple(made)


def _nodes(items: Sequence[Mapping[str, Any]]) -> tuple[NodeSpec, ...]:
    return tuple(NodeSpec(i["id"], i["type"], i.get("role", ""), i.get("set", {}), i.get("in", {})) for i in items)


def _repeated(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The `repeat` block written out: copy k uses {k}, {previous} and its three harmonics {a}, {b}, {c}."""
    block = data.get("repeat")
    if block is None:
        return []
    made: list[Mapping[str, Any]] = []
    previous = block["first"]
    for k in range(block["count"]):
        text = json.dumps(block["nodes"])
        for key, value in {"k": k, "a": 3 * k, "b": 3 * k + 1, "c": 3 * k + 2, "previous": previous}.items():
            text = text.replace("{" + key + "}", str(value))
        made += json.loads(text)
        previous = f"{made[-1]['id']}.Value"
    return made


def _load(name: str, text: str) -> Structure:
    data = json.loads(text)
    items = [*data["nodes"], *_repeated(data), *data.get("tail", [])]
    own = parameters_from(data["parameters"])
    # A structure may narrow what all share, such as the range of its relief.
    shared = tuple(p for p in parameters_from(shading()["parameters"]) if p.name not in data["parameters"])
    return Structure(
        name, data["title"], data["evidence"], data.get("needs", ""),
        own + shared, _nodes(items), data["pattern"],
        data.get("mask", ""), data.get("mask_softness", ""), data.get("figure", ""), data.get("height", ""),
        starts=tuple(data.get("starts", ({},))),
    )  # fmt: skip


@cache
def shading() -> Mapping[str, Any]:
    """The branch from pattern to shader that all structures share: colour, bump, roughness."""
    data: Mapping[str, Any] = json.loads(resources.files(_PACKAGE).joinpath("shading.json").read_text(encoding="utf-8"))
    return data


@cache
def structures() -> Mapping[str, Structure]:
    """All structures by name."""
    folder = resources.files(_PACKAGE).joinpath("structures")
    files = sorted((item for item in folder.iterdir() if item.name.endswith(".json")), key=lambda item: item.name)
    return {f.name[:-5]: _load(f.name[:-5], f.read_text(encoding="utf-8")) for f in files}


def resolve(value: Any, numbers: Mapping[str, float], ramps: Mapping[str, ColorRamp]) -> Value:
    """A value of a structure file with its "=expressions" evaluated and its "$ramps" put in."""
    if isinstance(value, list):
        return tuple(float(resolve(item, numbers, ramps)) for item in value)  # type: ignore[arg-type]
    if isinstance(value, str) and value.startswith("="):
        return evaluate(value[1:], numbers)
    if isinstance(value, str) and value.startswith("$"):
        return ramps[value[1:]]
    return value  # type: ignore[no-any-return]


def node_edits(
    nodes: Sequence[NodeSpec], names: Mapping[str, str], numbers: Mapping[str, float], ramps: Mapping[str, ColorRamp]
) -> list[Edit]:
    """Typed actions that add, set and connect `nodes`; `names` resolves "@alias" in links and ids."""
    edits: list[Edit] = []
    for node in nodes:
        if node.type:
            edits.append(AddNode(node.type, id=node.id, role=node.role))
        edits += [SetParam(names.get(node.id, node.id), key, resolve(v, numbers, ramps)) for key, v in node.set.items()]
    for node in nodes:
        edits += [Connect(names.get(src, src), names.get(node.id, node.id), slot) for slot, src in node.links.items()]
    return edits


def specs(items: Sequence[Mapping[str, Any]]) -> tuple[NodeSpec, ...]:
    """Node specifications from plain data (the form of the `nodes` lists)."""
    return _nodes(items)
