"""The compile check finds what was put in, and the summaries say what is there."""

from __future__ import annotations

import json
import math
from dataclasses import replace

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
    apply,
    compiles,
    start_graph,
    summary_json,
    summary_text,
    validate,
)
from graph_api.model import ColorRamp, Value

NOISE = Node("noise", "ShaderNodeTexNoise")
USED = Link("noise", "Fac", "principled", "Roughness")


def with_links(graph: Graph, *links: Link) -> Graph:
    return replace(graph, links=(*graph.links, *links))


def with_value(node: str, **inputs: Value) -> Graph:
    graph = start_graph()
    return graph.with_node(replace(graph.nodes[node], inputs=dict(inputs)))


def with_property(node: Node, **properties: Value) -> Graph:
    return start_graph().with_node(replace(node, properties=properties))


BASE = start_graph()
FAULTS: dict[str, tuple[Graph, str]] = {
    "unknown_node_type": (BASE.with_node(Node("x", "ShaderNodeTexMusgrave")), "error"),
    "unknown_property": (with_property(NOISE, noise_tipe="FBM"), "error"),
    "bad_property": (with_property(NOISE, noise_type="CLOUDS"), "error"),
    "refused_combination": (
        with_property(Node("m", "ShaderNodeMix"), data_type="ROTATION", factor_mode="NON_UNIFORM"),
        "error",
    ),
    "unknown_socket": (with_value("principled", Specular=0.5), "error"),
    "bad_value": (with_value("principled", Roughness=(0.1, 0.2)), "error"),
    "not_finite": (with_value("principled", Roughness=math.nan), "error"),
    "out_of_range": (with_value("principled", Roughness=5.0), "warning"),
    "unknown_node": (with_links(BASE, Link("gone", "Fac", "principled", "Roughness")), "error"),
    "socket_disabled": (with_links(BASE.with_node(NOISE), Link("noise", "Fac", "principled", "Weight")), "error"),
    "two_links": (with_links(BASE.with_node(NOISE), USED, replace(USED, src_socket="Color")), "error"),
    "type_mismatch": (with_links(BASE.with_node(NOISE), Link("principled", "BSDF", "noise", "Scale")), "error"),
    "color_as_shader": (
        replace(BASE.with_node(NOISE), links=(Link("noise", "Color", "output", "Surface"),)),
        "warning",
    ),
    "cycle": (
        with_links(BASE.with_node(Node("m", "ShaderNodeMath")), Link("m", "Value", "m", "Value_001")),
        "error",
    ),
    "no_output": (Graph("5.0", {"noise": NOISE}), "error"),
    "no_surface": (replace(BASE, links=()), "error"),
    "unreachable": (BASE.with_node(NOISE), "warning"),
    "no_image": (BASE.with_node(Node("i", "ShaderNodeTexImage")), "error"),
}


@pytest.mark.parametrize("code", FAULTS)
def test_each_fault_is_found_with_its_place(code: str) -> None:
    graph, level = FAULTS[code]
    found = [problem for problem in validate(graph) if problem.code == code]
    assert found
    assert {problem.level for problem in found} == {level}
    assert all(problem.message.startswith("expected ") for problem in found)
    assert code == "no_output" or all(problem.node is not None for problem in found)


def test_ramps_and_curves_are_checked() -> None:
    ramp = with_property(Node("r", "ShaderNodeValToRGB"), color_ramp=ColorRamp(()))
    assert "bad_property" in {problem.code for problem in validate(ramp)}


def test_a_good_graph_compiles_without_a_word() -> None:
    graph = build(
        AddNode("ShaderNodeTexNoise", id="n"),
        Connect("mapping", "n", "Vector"),
        Connect("n", "principled", "Roughness"),
    )
    assert validate(graph) == ()
    assert compiles(validate(graph))
    assert not compiles(validate(replace(graph, links=())))


def test_the_node_limit_is_checked_on_demand() -> None:
    assert [p.code for p in validate(start_graph(), max_nodes=3) if p.level == "error"] == ["node_limit"]


def test_a_color_into_a_shader_behind_reroutes_is_seen() -> None:
    graph = BASE.with_node(NOISE).with_node(Node("r", "NodeReroute"))
    graph = replace(graph, links=(Link("noise", "Color", "r", "Input"), Link("r", "Output", "output", "Surface")))
    assert "color_as_shader" in {problem.code for problem in validate(graph)}


def test_summaries_hold_what_was_set_and_no_defaults() -> None:
    graph = build(
        AddNode("ShaderNodeTexNoise", id="noise", role="macro"),
        SetParam("noise", "Scale", 3.25),
        SetParam("noise", "Detail", 2.0),
        AddNode("ShaderNodeValToRGB", id="ramp"),
        SetParam("ramp", "interpolation", "EASE"),
        Connect("noise", "ramp", "Fac"),
        Connect("ramp", "principled", "Base Color"),
        SetParam("principled", "Base Color", "#123456"),
    )
    text = summary_text(graph)
    assert "noise: ShaderNodeTexNoise [macro]: Scale=3.25\n" in text
    assert "noise.Factor -> ramp.Factor" in text
    assert "EASE" in text
    assert "Detail" not in text
    assert "0.0144" not in text  # the color is idle behind the link
    assert "not connected to the output: texture_coordinate, mapping" in text
    noise = next(node for node in summary_json(graph)["nodes"] if node["id"] == "noise")
    assert noise == {"id": "noise", "type": "ShaderNodeTexNoise", "role": "macro", "set": {"Scale": "3.25"}}


def test_names_in_a_summary_work_in_actions() -> None:
    graph = build(AddNode("ShaderNodeMath", id="m"), SetParam("m", "Value_001", 2.0))
    names = next(node for node in summary_json(graph)["nodes"] if node["id"] == "m")["set"]
    assert names == {"Value_001": "2"}
    for key in names:
        assert apply(graph, SetParam("m", key, 7.0)).graph.nodes["m"].inputs == {"Value_001": 7.0}


def test_a_large_graph_fits_a_context() -> None:
    graph = random_graph(0, size=40)
    assert len(summary_text(graph)) < 200 * len(graph.nodes)
    json.dumps(summary_json(graph))
