"""The exported script, run in real Blender, rebuilds every node, value and link."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from blenders import ask, interpreters
from random_graphs import plain_types, random_graph

from graph_api import (
    AddNode,
    ColorRamp,
    CurveMapping,
    Graph,
    SetParam,
    apply,
    available_versions,
    load_catalog,
    migrate,
    start_graph,
    to_python,
)
from graph_api.catalog.registry import IMAGE_SETTINGS

# What a script leaves to the editor; a reroute takes its type from its source.
UNCOMPARED = (
    "socket_idname",
    "hide",
    "location",
    "width",
    "use_custom_color",
    "color",
    "is_active_output",
)


def close(expected: Any, got: Any) -> bool:
    if isinstance(expected, str | bool):
        return bool(expected == got)
    return bool(np.allclose(np.asarray(expected, float), np.asarray(got, float), rtol=1e-6, atol=1e-6))


def same_ramp(ramp: ColorRamp, got: Any) -> bool:
    flat = [[stop.position, *stop.color] for stop in ramp.stops]
    found = [[position, *color] for position, color in got["stops"]]
    return got["modes"] == [ramp.color_mode, ramp.interpolation, ramp.hue_interpolation] and close(flat, found)


def same_curve(curves: CurveMapping, got: Any) -> bool:
    points = [[(p.x, p.y) for p in curve] for curve in curves.curves]
    found = [[(x, y) for x, y, _ in curve] for curve in got]
    handles = [[p.handle for p in curve] for curve in curves.curves]
    same = all(close(a, b) for a, b in zip(points, found, strict=True))
    return same and handles == [[handle for _, _, handle in curve] for curve in got]


def compare(graph: Graph, seen: dict[str, Any]) -> None:
    catalog = load_catalog(graph.blender_version)
    assert set(seen["nodes"]) == set(graph.nodes)
    for node in graph.nodes.values():
        kind, got = catalog.node(node.type), seen["nodes"][node.id]
        assert kind is not None
        assert got["type"] == node.type
        for name, prop in kind.properties.items():
            value = node.properties.get(name, prop.default)
            if name in IMAGE_SETTINGS:
                continue
            there = got["properties"][name]
            if prop.type == "ramp":
                assert isinstance(value, ColorRamp)
                assert same_ramp(value, there), (node, there)
            elif prop.type == "curve":
                assert isinstance(value, CurveMapping)
                assert same_curve(value, there), (node, there)
            elif prop.type != "datablock" and name not in UNCOMPARED:
                assert close(value, there), (node.id, name, value, there)
        state = kind.state(node.properties)
        assert state is not None
        for sockets, values, found in (
            (state.inputs, node.inputs, got["inputs"]),
            (state.outputs, node.outputs, got["outputs"]),
        ):
            for identifier, socket in sockets.items():
                # A few nodes of Blender 5.3 make sockets on demand: what is absent is not enabled.
                there = found.get(identifier, {"enabled": False})
                assert there["enabled"] == socket.enabled, (node.id, identifier)
                if socket.default is not None and socket.enabled and node.type != "NodeReroute":
                    value = values.get(identifier, socket.default)
                    assert close(value, found[identifier]["value"]), (node.id, identifier, value, found[identifier])
    links = {(link.src, link.src_socket, link.dst, link.dst_socket, True) for link in graph.links}
    assert {tuple(link) for link in seen["links"]} == links


@pytest.mark.parametrize("version", available_versions())
def test_every_node_type_and_random_graphs_come_back(version: str, tmp_path: Path) -> None:
    python = interpreters().get(version)
    if python is None:
        pytest.skip(f"Blender {version} is not installed here: make venvs builds it")
    types = plain_types(load_catalog(version))
    graphs = [random_graph(seed, version=version) for seed in range(6)]
    graphs.append(random_graph(99, version=version, types=types))
    jobs = []
    for index, graph in enumerate(graphs):
        path = tmp_path / f"material_{index}.py"
        path.write_text(to_python(graph, f"Material {index}"), encoding="utf-8")
        jobs.append({"script": str(path)})
    answers, said = ask(python, jobs, tmp_path)
    assert "warning:" not in said
    for index, (graph, answer) in enumerate(zip(graphs, answers, strict=True)):
        assert answer["name"] == f"Material {index}"
        compare(graph, answer)


def test_names_and_labels_survive_as_literals(tmp_path: Path) -> None:
    python = next(iter(interpreters().values()))
    version = next(iter(interpreters()))
    graph = apply(start_graph(version), AddNode("ShaderNodeRGB", id="木材 'a'")).graph
    graph = apply(graph, SetParam("木材 'a'", "Color", (0.1, 0.2, 0.3, 1.0))).graph
    graph = apply(graph, SetParam("木材 'a'", "label", 'say "hi" \\ @NODES@')).graph
    path = tmp_path / "material.py"
    path.write_text(to_python(graph, 'Oak "x" \\ 1'), encoding="utf-8")
    answers, _ = ask(python, [{"script": str(path)}], tmp_path)
    assert answers[0]["name"] == 'Oak "x" \\ 1'
    compare(graph, answers[0])
    assert answers[0]["nodes"]["木材 'a'"]["properties"]["label"] == 'say "hi" \\ @NODES@'


def test_a_migrated_graph_has_the_values_of_the_old_version(tmp_path: Path) -> None:
    """4.5 and a newer Blender, asked both, agree on every value of the nodes that both have."""
    if "4.5" not in interpreters() or len(interpreters()) < 2:
        pytest.skip("needs Blender 4.5 and a newer one: make venvs builds them")
    newer = next(v for v in available_versions() if v != "4.5" and v in interpreters())
    old = random_graph(3, version="4.5", size=15, types=["ShaderNodeMix", "ShaderNodeBlackbody", "ShaderNodeTexNoise"])
    new = migrate(old, newer).graph
    seen = []
    for version, graph in (("4.5", old), (newer, new)):
        path = tmp_path / f"{version}.py"
        path.write_text(to_python(graph), encoding="utf-8")
        answers, _ = ask(interpreters()[version], [{"script": str(path)}], tmp_path)
        seen.append(answers[0])
    for name, node in seen[0]["nodes"].items():
        for identifier, socket in node["inputs"].items():
            if socket["value"] is not None:
                assert close(socket["value"], seen[1]["nodes"][name]["inputs"][identifier]["value"]), (name, identifier)
    assert len(seen[0]["links"]) == len(seen[1]["links"])
