"""Conversions between socket types, as numbers for constants and as nodes for links.

Blender converts where a link ends in another type, so nodes are needed only where a type lies *between* two others and
loses something: a color that passed a number is grey, and stays so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from graph_api.ids import fresh_id
from graph_api.model import Link, Node, Value

_LUMA = (0.2126, 0.7152, 0.0722)
# (from, to): what passing that border costs, as (node type, properties, inputs, input socket, output socket).
_LOSSY: Mapping[tuple[str, str], tuple[str, dict[str, Any], dict[str, Any], str, str]] = {
    ("RGBA", "VALUE"): ("ShaderNodeRGBToBW", {}, {}, "Color", "Val"),
    ("VECTOR", "VALUE"): (
        "ShaderNodeVectorMath", {"operation": "DOT_PRODUCT"}, {"Vector_001": (1 / 3, 1 / 3, 1 / 3)}, "Vector", "Value",
    ),
    ("VALUE", "INT"): ("ShaderNodeMath", {"operation": "TRUNC"}, {}, "Value", "Value"),
    ("VALUE", "SHADER"): ("ShaderNodeEmission", {}, {}, "Color", "Emission"),
    ("RGBA", "SHADER"): ("ShaderNodeEmission", {}, {}, "Color", "Emission"),
    ("VECTOR", "SHADER"): ("ShaderNodeEmission", {}, {}, "Color", "Emission"),
}  # fmt: skip


def as_type(value: Value, kind: str, types: tuple[str, ...]) -> tuple[Value, str]:
    """A constant of type `kind` after it passed `types` in order; it stays what it was before a step unknown here."""
    for wanted in types:
        if wanted == kind:
            continue
        step = _NUMBERS.get((kind, wanted))
        if step is None:
            break
        value, kind = step(value), wanted
    return value, kind


def _grey(value: Any) -> Value:
    return float(sum(weight * part for weight, part in zip(_LUMA, value[:3], strict=True)))


def _mean(value: Any) -> Value:
    return float(sum(value[:3]) / 3)


def _color(value: Any) -> Value:
    return (float(value),) * 3 + (1.0,)


def _vector(value: Any) -> Value:
    return (float(value),) * 3


_NUMBERS: Mapping[tuple[str, str], Callable[[Any], Value]] = {
    ("RGBA", "VALUE"): _grey,
    ("RGBA", "VECTOR"): lambda value: tuple(map(float, value[:3])),
    ("VECTOR", "VALUE"): _mean,
    ("VECTOR", "RGBA"): lambda value: (*map(float, value[:3]), 1.0),
    ("VALUE", "RGBA"): _color,
    ("VALUE", "VECTOR"): _vector,
    ("VALUE", "INT"): math.trunc,
    ("INT", "VALUE"): float,
    ("INT", "RGBA"): _color,
    ("INT", "VECTOR"): _vector,
    ("BOOLEAN", "VALUE"): float,
    ("BOOLEAN", "INT"): int,
    ("BOOLEAN", "RGBA"): _color,
    ("BOOLEAN", "VECTOR"): _vector,
}


class Converters:
    """Adds to `nodes` what links need on their way; what two links share is added once."""

    def __init__(self, nodes: dict[str, Node]) -> None:
        self._nodes = nodes
        self._made: dict[tuple[Any, ...], str] = {}

    def link(self, source: str, socket: str, types: tuple[str, ...], target: str, slot: str) -> Iterator[Link]:
        """The links that carry `source.socket` of type `types[0]` through the other types into `target.slot`."""
        kind = real = types[0]
        for index, wanted in enumerate(types[1:], 2):
            # At the end Blender converts by itself, from the type that really arrives; into a shader it is not asked.
            by_itself = index == len(types) and real == kind and wanted != "SHADER"
            step = None if by_itself else _LOSSY.get((kind, wanted))
            if step is not None:
                node_type, properties, inputs, into, out = step
                key = (source, socket, node_type)
                if key not in self._made:
                    self._made[key] = self._add(node_type, node_type.removeprefix("ShaderNode"), inputs, properties)
                    yield Link(source, socket, self._made[key], into)
                source, socket, real = self._made[key], out, wanted
            kind = wanted
        yield Link(source, socket, target, slot)

    def constant(self, value: Value, kind: str, wanted: str, target: str, slot: str) -> Iterator[Link]:
        """The links from a node that holds `value` into `target.slot` of type `wanted`."""
        maker = _HOLDERS.get(kind)
        if maker is None:
            return
        node_type, side, values, out = maker(value)
        key = (node_type, value)
        if key not in self._made:
            self._made[key] = self._add(node_type, node_type.removeprefix("ShaderNode"), **{side: values})
        yield from self.link(self._made[key], out, (kind, wanted), target, slot)

    def _add(
        self,
        node_type: str,
        name: str,
        inputs: Mapping[str, Value] | None = None,
        properties: Mapping[str, Value] | None = None,
        outputs: Mapping[str, Value] | None = None,
    ) -> str:
        made = fresh_id(name, self._nodes)
        self._nodes[made] = Node(made, node_type, inputs or {}, properties or {}, outputs or {})
        return made


def _number(value: Any) -> tuple[str, str, dict[str, Value], str]:
    return "ShaderNodeValue", "outputs", {"Value": float(value)}, "Value"


_HOLDERS: Mapping[str, Callable[[Any], tuple[str, str, dict[str, Value], str]]] = {
    "VALUE": _number,
    "INT": _number,
    "BOOLEAN": _number,
    "RGBA": lambda value: ("ShaderNodeRGB", "outputs", {"Color": tuple(value)}, "Color"),
    "VECTOR": lambda value: (
        "ShaderNodeCombineXYZ", "inputs", dict(zip("XYZ", map(float, value), strict=False)), "Vector",
    ),
}  # fmt: skip
