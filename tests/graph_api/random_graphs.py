"""Random graphs over every node type of a catalog, built through `apply` alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graph_api import ActionRejected, AddNode, Catalog, Connect, Graph, Node, SetParam, apply, load_catalog, start_graph
from graph_api.model import ColorRamp, ColorStop, CurveMapping, CurvePoint

# Their sockets depend on data that a graph does not hold (a group, a zone's partner, a shared object).
DYNAMIC = ("ShaderNodeGroup", "NodeGroupInput", "NodeGroupOutput", "NodeFrame", "ShaderNodeScript")
FREESTYLE = ("ShaderNodeOutputLineStyle",)  # its `target` reads as empty in 4.5 once the tree is not a line style's
# Blender judges links of the light nodes of 5.3 by the zone they stand in.
ZONES = (
    "Repeat",
    "Closure",
    "Bundle",
    "MenuSwitch",
    "IndexSwitch",
    "EnableOutput",
    "FormatString",
    "ImplicitConversion",
)
LIGHT = ("NodeLightIter", "NodeLightInfo", "NodeLightEval", "NodeLightAccu", "ShadowRaycast")


def plain_types(catalog: Catalog) -> list[str]:
    return [
        t for t in catalog.types if t not in (*DYNAMIC, *FREESTYLE) and not any(word in t for word in (*ZONES, *LIGHT))
    ]


def random_value(rng: np.random.Generator, kind: str, size: int, low: float, high: float) -> Any:
    if kind == "BOOLEAN":
        return bool(rng.integers(2))
    start = low if low > 5.0 else max(low, -5.0)
    stop = min(high, start + 10.0)
    if kind == "INT":
        return int(rng.integers(start, stop + 1))
    numbers = [float(np.float32(rng.uniform(start, stop))) for _ in range(size)]
    return numbers[0] if size == 1 else numbers


def random_ramp(rng: np.random.Generator, catalog: Catalog) -> ColorRamp:
    items = catalog.struct_items["ColorRamp"]
    places = sorted(float(np.float32(x)) for x in rng.uniform(0, 1, rng.integers(1, 33)))
    stops = tuple(ColorStop(p, tuple(float(np.float32(c)) for c in rng.uniform(0, 1, 4))) for p in places)
    return ColorRamp(stops, **{name: str(rng.choice(options)) for name, options in items.items()})


def random_curve(rng: np.random.Generator, current: CurveMapping) -> CurveMapping:
    def curve() -> tuple[CurvePoint, ...]:
        inner = sorted(float(np.float32(x)) for x in rng.uniform(0.05, 0.95, rng.integers(0, 4)))
        xs = [0.0, *inner, 1.0]
        return tuple(
            CurvePoint(x, float(np.float32(rng.uniform(0, 1))), str(rng.choice(["AUTO", "VECTOR"]))) for x in xs
        )

    return CurveMapping(tuple(curve() for _ in current.curves), clip=current.clip)


def set_something(rng: np.random.Generator, graph: Graph, node: Node, catalog: Catalog) -> SetParam | None:
    kind = catalog.node(node.type)
    assert kind is not None
    props = [p for p in kind.properties.values() if p.type in ("enum", "bool", "ramp", "curve", "float", "int")]
    props = [p for p in props if p.type != "enum" or p.items]
    props = [
        p for p in props if p.name not in ("hide", "use_custom_color", "width", "is_active_output", "active_index")
    ]
    state = kind.state(node.properties)
    assert state is not None
    sockets = [s for s in state.enabled_inputs if s.type in ("VALUE", "VECTOR", "RGBA", "INT") and not s.hide_value]
    choices: list[Any] = [*props, *sockets]
    if not choices:
        return None
    chosen = choices[rng.integers(len(choices))]
    if chosen in sockets:
        low = -5.0 if chosen.min is None else chosen.min
        high = 5.0 if chosen.max is None else chosen.max
        value = random_value(rng, chosen.type, chosen.size, low, high)
        return SetParam(node.id, chosen.identifier, value)
    low = -5.0 if chosen.min is None else chosen.min
    high = 5.0 if chosen.max is None else chosen.max
    makers: dict[str, Callable[[], Any]] = {
        "ramp": lambda: random_ramp(rng, catalog),
        "curve": lambda: random_curve(rng, chosen.default),
        "enum": lambda: str(rng.choice(chosen.items)),
        "bool": lambda: bool(rng.integers(2)),
    }
    make = makers.get(chosen.type, lambda: random_value(rng, chosen.type.upper(), 1, low, high))
    return SetParam(node.id, chosen.name, make())


def random_graph(seed: int, *, version: str = "5.0", size: int = 25, types: list[str] | None = None) -> Graph:
    rng = np.random.default_rng(seed)
    catalog = load_catalog(version)
    names = types or [str(t) for t in rng.choice(plain_types(catalog), size)]
    graph = start_graph(version)
    for name in names:
        added = apply(graph, AddNode(name))
        graph = added.graph
        for _ in range(4):
            action = set_something(rng, graph, graph.nodes[str(added.node)], catalog)
            if action is not None:
                try:
                    graph = apply(graph, action).graph
                except ActionRejected as error:
                    assert error.code == "refused_combination", error
    ids = list(graph.nodes)
    for _ in range(3 * len(ids)):
        src, dst = (str(name) for name in rng.choice(ids, 2))
        outputs = state(graph.nodes[src], catalog).enabled_outputs
        inputs = state(graph.nodes[dst], catalog).enabled_inputs
        if outputs and inputs:
            out, slot = outputs[rng.integers(len(outputs))], inputs[rng.integers(len(inputs))]
            try:
                graph = apply(graph, Connect(f"{src}.{out.identifier}", dst, slot.identifier)).graph
            except ActionRejected as error:
                assert error.code in ("cycle", "type_mismatch"), error
    return graph


def state(node: Node, catalog: Catalog) -> Any:
    kind = catalog.node(node.type)
    assert kind is not None
    found = kind.state(node.properties)
    assert found is not None
    return found
