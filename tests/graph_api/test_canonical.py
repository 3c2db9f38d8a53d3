"""Hashes see what differs and nothing else."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from builds import build
from random_graphs import random_graph

from graph_api import (
    AddNode,
    Connect,
    Graph,
    Link,
    Node,
    SetParam,
    active_output,
    apply,
    available_versions,
    content_hash,
    load_catalog,
    render_hash,
    start_graph,
)
from graph_api.actions import Edit


def renamed(graph: Graph, rng: np.random.Generator) -> Graph:
    """The same material under other ids, built in another order."""
    ids = list(graph.nodes)
    names = dict(zip(ids, (f"n{i}" for i in rng.permutation(len(ids))), strict=True))
    nodes = [replace(graph.nodes[ids[i]], id=names[ids[i]]) for i in rng.permutation(len(ids))]
    links = [graph.links[i] for i in rng.permutation(len(graph.links))]
    moved = tuple(replace(link, src=names[link.src], dst=names[link.dst]) for link in links)
    return Graph(graph.blender_version, {node.id: node for node in nodes}, moved)


@pytest.mark.parametrize("version", available_versions())
def test_ids_and_order_do_not_count(version: str) -> None:
    rng = np.random.default_rng(1)
    for seed in range(6):
        graph = random_graph(seed, version=version, size=18)
        for _ in range(3):
            other = renamed(graph, rng)
            assert content_hash(other) == content_hash(graph)
            assert render_hash(other) == render_hash(graph)


def test_defaults_count_as_absent_and_numbers_as_float32() -> None:
    graph = start_graph()
    catalog = load_catalog()
    nodes = {}
    for node in graph.nodes.values():
        kind = catalog.node(node.type)
        assert kind is not None
        inputs = {s.identifier: s.default for s in kind.default_state.inputs.values() if s.default is not None}
        nodes[node.id] = replace(node, inputs=inputs, properties={p.name: p.default for p in kind.properties.values()})
    full = replace(graph, nodes=nodes)
    assert content_hash(full) == content_hash(graph)
    assert render_hash(full) == render_hash(graph)
    values = (0.1, float(np.float32(0.1)), np.nextafter(0.1, 1))
    hashes = {content_hash(build(SetParam("principled", "Metallic", float(v)))) for v in values}
    assert len(hashes) == 1
    assert content_hash(build(SetParam("principled", "Metallic", 0.1001))) not in hashes


def test_roles_labels_and_layout_do_not_count() -> None:
    graph = build(SetParam("principled", "label", "the shader"), SetParam("principled", "location", (5.0, 6.0)))
    plain = replace(graph.nodes["principled"], role="")
    assert content_hash(graph.with_node(plain)) == content_hash(start_graph())


@pytest.mark.parametrize(
    "action",
    [
        SetParam("noise", "Scale", 5.001),
        SetParam("noise", "noise_type", "RIDGED_MULTIFRACTAL"),
        SetParam("noise", "mute", True),
        SetParam("ramp", "interpolation", "EASE"),
        SetParam("ramp", "stops", [[0, [0, 0, 0, 1]], [0.9, [1, 1, 1, 1]]]),
        SetParam("principled", "Metallic", 1.0),
        Connect("noise.Color", "ramp", "Fac"),
        Connect("ramp.Alpha", "principled", "Base Color"),
        Connect("mapping", "noise", "Vector"),
    ],
)
def test_what_shows_counts_in_both(action: Edit) -> None:
    actions: list[Edit] = [
        AddNode("ShaderNodeTexNoise", id="noise"),
        AddNode("ShaderNodeValToRGB", id="ramp"),
        Connect("noise", "ramp", "Fac"),
        Connect("ramp", "principled", "Base Color"),
    ]
    before = build(*actions)
    after = apply(before, action).graph
    assert content_hash(after) != content_hash(before)
    assert render_hash(after) != render_hash(before)


def test_what_does_not_show_counts_in_the_content_only() -> None:
    noise = build(AddNode("ShaderNodeTexNoise", id="noise"), Connect("noise", "principled", "Roughness"))
    quiet: list[Edit] = [
        AddNode("ShaderNodeTexWave"),
        SetParam("principled", "Roughness", 0.1),
        SetParam("mapping", "Scale", 3.0),
    ]
    for action in quiet:
        after = apply(noise, action).graph
        assert content_hash(after) != content_hash(noise), action
        assert render_hash(after) == render_hash(noise), action


def test_reroutes_render_alike() -> None:
    direct = build(AddNode("ShaderNodeTexNoise", id="noise"), Connect("noise", "principled", "Roughness"))
    around = build(
        AddNode("ShaderNodeTexNoise", id="noise"),
        AddNode("NodeReroute", id="a"),
        AddNode("NodeReroute", id="b"),
        Connect("noise", "a", "Input"),
        Connect("a", "b", "Input"),
        Connect("b", "principled", "Roughness"),
    )
    assert render_hash(direct) == render_hash(around)
    assert content_hash(direct) != content_hash(around)


def fan(sources: list[int]) -> Graph:
    """Math nodes 0, 1, 2 … fed by equal noises; `sources` says which noise feeds which."""
    graph = start_graph()
    for i in sorted(set(sources)):
        graph = apply(graph, AddNode("ShaderNodeTexNoise", id=f"noise{i}")).graph
    for i, source in enumerate(sources):
        graph = apply(graph, AddNode("ShaderNodeMath", id=f"math{i}")).graph
        graph = apply(graph, SetParam(f"math{i}", "Value_001", 1.0 + i)).graph
        graph = apply(graph, Connect(f"noise{source}", f"math{i}", "Value")).graph
    return graph


def test_sharing_is_not_copying() -> None:
    hashes = {content_hash(fan(sources)) for sources in ([0, 0, 0], [0, 1, 2], [0, 0, 1], [0, 1, 1], [0, 1, 0])}
    assert len(hashes) == 5
    assert content_hash(fan([0, 0, 1])) == content_hash(fan([1, 1, 0]))


def test_unused_nodes_are_counted() -> None:
    one, two = build(AddNode("ShaderNodeMix")), build(AddNode("ShaderNodeMix"), AddNode("ShaderNodeMix"))
    assert len({content_hash(start_graph()), content_hash(one), content_hash(two)}) == 3


def test_the_active_output_decides_what_renders() -> None:
    """B with target CYCLES wins over A with target ALL (case F1)."""
    graph = build(AddNode("ShaderNodeOutputMaterial", id="b"), AddNode("ShaderNodeEmission", id="glow"))
    graph = apply(graph, Connect("glow", "b", "Surface")).graph
    cycles = apply(graph, SetParam("b", "target", "CYCLES")).graph
    changed = apply(cycles, SetParam("principled", "Metallic", 1.0)).graph
    assert render_hash(changed) == render_hash(cycles)
    assert render_hash(apply(cycles, SetParam("glow", "Strength", 3.0)).graph) != render_hash(cycles)


def test_one_output_of_a_type_is_active_as_in_blender() -> None:
    graph = build(AddNode("ShaderNodeOutputMaterial", id="b"), AddNode("ShaderNodeOutputMaterial", id="c"))

    def active(graph: Graph) -> list[bool]:
        return [bool(graph.nodes[n].properties.get("is_active_output", True)) for n in ("output", "b", "c")]

    assert active(graph) == [True, False, False]
    graph = apply(graph, SetParam("c", "is_active_output", True)).graph
    assert active(graph) == [False, False, True]
    found = active_output(graph)
    assert found is not None
    assert found.id == "c"


def test_circles_and_broken_links_of_foreign_graphs_do_not_break_it() -> None:
    nodes = {name: Node(name, "ShaderNodeMath") for name in "abc"}
    ring = tuple(Link(x, "Value", y, "Value") for x, y in ("ab", "bc", "ca"))
    graph = Graph("5.0", nodes, ring)
    turned = Graph("5.0", dict(reversed(nodes.items())), tuple(reversed(ring)))
    assert content_hash(graph) == content_hash(turned)
    assert content_hash(graph) != content_hash(Graph("5.0", nodes, ring[:2]))
    assert content_hash(Graph("5.0", nodes, (Link("a", "Value", "gone", "x"),)))
    odd = Graph("5.0", {"a": Node("a", "Unknown", {"x": float("nan")}, {"y": 1e300})})
    assert content_hash(odd) == content_hash(odd)


def test_a_long_chain_is_hashed_in_time_that_grows_with_its_length() -> None:
    """Each link once: a search hashes every candidate, and a quadratic walk took seconds for 600 nodes."""
    nodes = {f"n{i}": Node(f"n{i}", "ShaderNodeMath") for i in range(3000)}
    links = tuple(Link(f"n{i}", "Value", f"n{i + 1}", "Value") for i in range(2999))
    start = time.process_time()
    content_hash(Graph("5.0", nodes, links))
    assert time.process_time() - start < 3.0
