"""The drawing of a graph and the difference of two, against what the graphs are made of."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from random_graphs import random_graph

from graph_api import Graph, Link, Node, load_catalog, start_graph
from graph_api.compare import compare
from graph_api.faces import face_of
from graph_api.knobs import knobs
from graph_api.svg import to_svg

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("seed", range(6))
def test_every_node_socket_and_link_is_drawn(seed: int) -> None:
    graph = random_graph(seed, size=15)
    root = ET.fromstring(to_svg(graph))
    catalog = load_catalog(graph.blender_version)
    drawn = {group.get("data-id"): group for group in root.iter(f"{SVG}g") if group.get("class") == "node"}
    assert set(drawn) == set(graph.nodes)
    for name, node in graph.nodes.items():
        kind = catalog.node(node.type)
        assert kind is not None
        state = kind.state(node.properties)
        assert state is not None
        dots = [item for item in drawn[name].iter(f"{SVG}circle") if item.get("class") == "socket"]
        if node.type != "NodeReroute":
            assert len(dots) == len(state.enabled_inputs) + len(state.enabled_outputs)
    assert len([p for p in root.iter(f"{SVG}path") if p.get("class") == "link"]) == len(graph.links)


def test_links_end_on_the_dots_of_their_sockets() -> None:
    graph = start_graph("5.0")
    root = ET.fromstring(to_svg(graph))
    dots = {(c.get("cx"), c.get("cy")) for c in root.iter(f"{SVG}circle")}
    for path in (p for p in root.iter(f"{SVG}path") if p.get("class") == "link"):
        start, *_, end = str(path.get("d")).removeprefix("M").replace("C", "").split()
        assert tuple(start.split(",")) in dots
        assert tuple(end.split(",")) in dots


def test_text_of_any_kind_stays_text() -> None:
    node = Node("a", "ShaderNodeEmission", label="<b>&\"'\x00 木")
    root = ET.fromstring(to_svg(Graph("5.0", {"a": node})))
    assert any("<b>&" in str(text.text) for text in root.iter(f"{SVG}text"))


def test_a_graph_without_nodes_has_a_drawing() -> None:
    assert ET.fromstring(to_svg(Graph("5.0"))).tag == f"{SVG}svg"


def test_a_face_shows_the_fields_that_take_effect() -> None:
    graph = start_graph("5.0")
    shader = next(node for node in graph.nodes.values() if node.type == "ShaderNodeBsdfPrincipled")
    graph = graph.with_node(replace(shader, inputs={"Roughness": 0.125}))
    rows = {row.text: row for row in face_of(graph.nodes[shader.id], graph).rows}
    assert rows["Roughness"].value == 0.125
    assert rows["Normal"].value is None


def test_differences_are_found_whatever_the_ids() -> None:
    before = start_graph("5.0")
    shader = next(node for node in before.nodes.values() if node.type == "ShaderNodeBsdfPrincipled")
    after = before.with_node(replace(shader, inputs={"Roughness": 0.25})).with_node(Node("n", "ShaderNodeTexNoise"))
    after = replace(after, links=(*after.links, Link("n", "Color", shader.id, "Base Color")))
    found = compare(before, after)
    assert found.added == ("n",) and found.removed == () and found.unlinked == ()
    assert [str(change) for change in found.changed] == [f"{shader.id}.Roughness: default -> 0.25"]
    assert found.linked == (f"n.Color -> {shader.id}.Base Color",)
    assert found.marks(after=True) == {shader.id: "changed", "n": "added"}
    renamed = {f"x{name}": replace(node, id=f"x{name}") for name, node in before.nodes.items()}
    links = tuple(Link(f"x{one.src}", one.src_socket, f"x{one.dst}", one.dst_socket) for one in before.links)
    assert compare(before, Graph("5.0", renamed, links)).empty
    back = compare(after, before)
    assert back.removed == ("n",) and back.marks(after=False)["n"] == "removed"


@pytest.mark.parametrize("seed", range(5))
def test_a_graph_does_not_differ_from_itself(seed: int) -> None:
    graph = random_graph(seed, size=12)
    assert compare(graph, graph).lines() == ["no difference"]


def test_knobs_are_few_named_and_free() -> None:
    graph = random_graph(3, types=["ShaderNodeTexNoise", "ShaderNodeTexBrick", "ShaderNodeBump"] * 9)
    found = knobs(graph)
    assert len({knob.name for knob in found}) == len(found) <= 12
    assert all(graph.link_into(knob.node, knob.socket) is None for knob in found)
