"""JSON there and back, and clear words for what is not it."""

from __future__ import annotations

import copy
import json
import math
from typing import Any

import numpy as np
import pytest
from random_graphs import random_graph

from graph_api import (
    ACTIONS,
    ActionRejected,
    AddNode,
    ColorRamp,
    ColorStop,
    Connect,
    Disconnect,
    Finish,
    Graph,
    InspectGraph,
    Link,
    MalformedGraph,
    Node,
    Note,
    RemoveNode,
    Render,
    SetParam,
    action_from_json,
    action_schema,
    action_to_json,
    available_versions,
    dumps,
    from_json,
    load_catalog,
    load_graph,
    migrate,
    start_graph,
    to_json,
    validate,
)
from graph_api.actions import Action


@pytest.mark.parametrize("version", available_versions())
def test_graphs_come_back_equal(version: str) -> None:
    for seed in range(5):
        graph = random_graph(seed, version=version)
        assert from_json(to_json(graph)) == graph
        text = dumps(graph)
        assert from_json(text) == graph
        assert dumps(from_json(text)) == text
        assert json.loads(text) == json.loads(json.dumps(to_json(graph)))


def test_numbers_that_json_cannot_say_come_back() -> None:
    values = {"Scale": math.inf, "Detail": math.nan}
    graph = Graph("5.0", {"n": Node("n", "ShaderNodeTexNoise", values)})
    back = from_json(dumps(graph)).nodes["n"].inputs
    assert back["Scale"] == math.inf
    assert isinstance(back["Detail"], float)
    assert math.isnan(back["Detail"])


def spoiled(rng: np.random.Generator, raw: Any) -> Any:
    """A copy with one place replaced by nonsense or removed."""
    raw = copy.deepcopy(raw)
    place = raw
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = keys[int(rng.integers(len(keys)))]
        inner = place[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.8:
            place = inner
            continue
        junk: list[Any] = [None, -1, "?", [], {}, [[1]], {"kind": "color_ramp"}, True, 1e308 * 10]
        if rng.random() < 0.2:
            del place[key]
        else:
            place[key] = junk[int(rng.integers(len(junk)))]
        return raw


def test_spoiled_documents_are_refused_or_read_but_never_a_traceback() -> None:
    rng = np.random.default_rng(5)
    refused = 0
    for seed in range(4):
        raw = json.loads(dumps(random_graph(seed, size=12)))
        for _ in range(150):
            try:
                graph = from_json(spoiled(rng, raw))
            except MalformedGraph as error:
                assert "expected" in str(error)
                refused += 1
            else:
                validate(graph)
    assert refused > 200


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("{", "document: expected JSON"),
        ("[]", "document: expected an object"),
        ("[" * 100000, "document: expected JSON"),
        ({}, "format: expected 'material-agent/graph', got None"),
        ({"format": "material-agent/graph", "version": 99}, "version: expected 1, got 99"),
        (
            {"format": "material-agent/graph", "version": 1, "blender_version": "2.79"},
            "blender_version: expected one of 4.5, 5.0",
        ),
    ],
)
def test_the_place_and_the_reason_are_told(data: Any, words: str) -> None:
    with pytest.raises(MalformedGraph) as caught:
        from_json(data)
    assert words in str(caught.value)


def test_links_to_nowhere_and_double_ids_are_malformed() -> None:
    raw = to_json(start_graph())
    with pytest.raises(MalformedGraph, match=r"links\[2\]"):
        from_json({**raw, "links": [*raw["links"], ["gone", "A", "output", "Surface"]]})
    with pytest.raises(MalformedGraph, match=r"nodes\[4\].id"):
        from_json({**raw, "nodes": [*raw["nodes"], raw["nodes"][0]]})


RAMP = ColorRamp((ColorStop(0.25, (0.1, 0.2, 0.3, 1.0)),), interpolation="EASE")
EVERY: list[Action] = [
    AddNode("ShaderNodeMix", id="m", role="color"),
    Connect("m.Result", "principled", "Base Color"),
    SetParam("m", "Factor", 0.5),
    SetParam("m", "A", (0.1, 0.2, 0.3, 1.0)),
    SetParam("r", "color_ramp", RAMP),
    RemoveNode("m"),
    Disconnect("principled", "Base Color"),
    Render("tilt", ("beauty", "height")),
    InspectGraph(),
    Finish("unfinished", "no steps left"),
    Note("the joints align"),
]


@pytest.mark.parametrize("action", EVERY, ids=lambda a: a.op)
def test_actions_come_back_equal(action: Action) -> None:
    assert action_from_json(json.loads(json.dumps(action_to_json(action)))) == action


def test_every_action_has_a_schema_that_its_json_fits() -> None:
    schemas = action_schema()
    assert list(schemas) == list(ACTIONS)
    assert {action.op for action in EVERY} == set(ACTIONS)
    for action in EVERY:
        raw, parameters = action_to_json(action), schemas[action.op]["parameters"]
        assert set(raw) - {"op"} <= set(parameters["properties"])
        assert set(parameters["required"]) <= set(raw)
        assert parameters["additionalProperties"] is False
        assert schemas[action.op]["description"]
    assert schemas["finish"]["parameters"]["properties"]["outcome"]["enum"] == ["success", "unfinished"]
    assert schemas["render"]["parameters"]["properties"]["view"]["default"] == "flat"
    json.dumps(schemas)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (None, "an object"),
        ({}, "the name of an action"),
        ({"op": "add"}, "add_node"),
        ({"op": ["add_node"]}, "the name of an action"),
        ({"op": "add_node"}, "type in add_node"),
        ({"op": "add_node", "type": 3}, "text as add_node.type"),
        ({"op": "add_node", "type": "x", "colour": 1}, "fields of add_node"),
        ({"op": "render", "view": "top"}, "flat, tilt, sphere"),
        ({"op": "render", "maps": "beauty"}, "a list of text"),
        ({"op": "finish", "outcome": "maybe"}, "success, unfinished"),
        ({"op": "set_param", "node": "n", "key": "k", "value": None}, "a value as set_param.value"),
        ({"op": "set_param", "node": "n", "key": "k", "value": {"kind": "color_ramp"}}, "stops"),
    ],
)
def test_malformed_actions_say_what_is_wrong(raw: Any, words: str) -> None:
    with pytest.raises(ActionRejected) as caught:
        action_from_json(raw)
    assert caught.value.code == "bad_action"
    assert words in caught.value.message


def test_a_graph_of_an_older_blender_is_moved_and_it_is_said() -> None:
    nodes = {
        "mix": Node("mix", "ShaderNodeMix", {"A_Float": 0.5}),
        "split": Node("split", "ShaderNodeSeparateRGB", {"Image": (0.1, 0.2, 0.3, 1.0)}),
        "sky": Node("sky", "ShaderNodeTexSky", {}, {"sky_type": "NISHITA", "dust_density": 2.0}),
        "join": Node("join", "ShaderNodeCombineRGB"),
        "points": Node("points", "ShaderNodeTexPointDensity"),
    }
    links = (
        Link("split", "R", "mix", "Factor_Float"),
        Link("split", "G", "join", "B"),
        Link("points", "Color", "join", "R"),
    )
    moved = load_graph(dumps(Graph("4.5", nodes, links)), "5.3")
    graph = moved.graph
    assert graph.blender_version == "5.3"
    assert graph.nodes["split"].type == "ShaderNodeSeparateColor"
    assert graph.nodes["split"].inputs == {"Color": (0.1, 0.2, 0.3, 1.0)}
    assert graph.nodes["sky"].properties["sky_type"] == "MULTIPLE_SCATTERING"
    assert graph.nodes["sky"].properties["aerosol_density"] == 2.0
    # The default went from 0.5 to 1 in 5.3; the link makes it idle, but the value is what it was.
    assert graph.nodes["mix"].inputs["Factor_Float"] == 0.5
    assert Link("split", "Green", "join", "Blue") in graph.links
    assert {n.code for n in moved.notices} >= {"alias", "pinned", "unknown_node_type"}
    errors = [p for p in validate(graph) if p.level == "error"]
    assert {p.code for p in errors} == {"unknown_node_type", "no_output"}


@pytest.mark.parametrize("version", available_versions())
def test_moving_there_and_back_keeps_what_both_have(version: str) -> None:
    graph = start_graph("5.0")
    there = migrate(graph, version)
    assert migrate(graph, "5.0").graph is graph
    assert {p.code for p in validate(there.graph)} <= {"unreachable"}
    back = migrate(there.graph, "5.0").graph
    catalog = load_catalog("5.0")
    for node in back.nodes.values():
        kind = catalog.node(node.type)
        assert kind is not None
        for name, value in node.inputs.items():
            assert kind.default_state.inputs[name].default == value
