"""Locks in words: what they hold, over hundreds of random edits, judged by looking at the graphs."""

from __future__ import annotations

import numpy as np
import pytest
from random_graphs import plain_types, set_something

from graph_api import (
    ActionRejected,
    AddNode,
    Connect,
    Disconnect,
    Graph,
    Link,
    Node,
    RemoveNode,
    Rules,
    SetParam,
    apply,
    load_catalog,
    render_hash,
)
from graph_api.locking import channels, locks_for

CATALOG = load_catalog("5.0")


def material() -> Graph:
    """Two noises: one feeds color and roughness, one the roughness alone; bricks feed the bump."""
    nodes = [
        Node("shared", "ShaderNodeTexNoise", {"Scale": 7.0}), Node("grime", "ShaderNodeTexNoise", {"Scale": 30.0}),
        Node("ramp", "ShaderNodeValToRGB"), Node("mix", "ShaderNodeMath"), Node("bricks", "ShaderNodeTexBrick"),
        Node("bump", "ShaderNodeBump"), Node("shader", "ShaderNodeBsdfPrincipled", {"Metallic": 0.1}),
        Node("out", "ShaderNodeOutputMaterial"),
    ]  # fmt: skip
    links = (
        Link("shared", "Fac", "ramp", "Fac"), Link("ramp", "Color", "shader", "Base Color"),
        Link("shared", "Fac", "mix", "Value"), Link("grime", "Fac", "mix", "Value_001"),
        Link("mix", "Value", "shader", "Roughness"), Link("bricks", "Fac", "bump", "Height"),
        Link("bump", "Normal", "shader", "Normal"), Link("shader", "BSDF", "out", "Surface"),
    )  # fmt: skip
    return Graph("5.0", {node.id: node for node in nodes}, links)


def random_edit(rng: np.random.Generator, graph: Graph):
    """Any edit, most of them at the nodes that are there."""
    names = list(graph.nodes)
    one, other = (str(name) for name in rng.choice(names, 2))
    choice = rng.integers(7)
    if choice == 0:
        return AddNode(str(rng.choice(plain_types(CATALOG))))
    if choice == 1:
        return RemoveNode(one)
    if choice == 2:
        return SetParam(one, "mute", bool(rng.integers(2)))
    state = CATALOG.node(graph.nodes[one].type).state(graph.nodes[one].properties)
    inputs = [socket.identifier for socket in state.enabled_inputs]
    if choice == 3 and inputs:
        return Disconnect(one, str(rng.choice(inputs)))
    if choice == 4 and inputs:
        return Connect(other, one, str(rng.choice(inputs)))
    return set_something(rng, graph, graph.nodes[one], CATALOG) or AddNode("ShaderNodeValue")


def seen_of(graph: Graph, channel: str) -> str:
    """What a channel looks like: the hash of what renders when it alone is shown."""
    socket = {"color": "Base Color", "roughness": "Roughness", "metallic": "Metallic", "relief": "Normal"}[channel]
    # Of the shader, this input alone; upstream of it, everything.
    shader = graph.nodes["shader"]
    kept = {key: value for key, value in shader.inputs.items() if key == socket}
    only = Node("shader", shader.type, kept, {k: v for k, v in shader.properties.items() if k == "mute"})
    shown = ("Surface", "Displacement") if channel == "relief" else ("Surface",)
    ends = (socket, *shown)
    links = tuple(one for one in graph.links if one.dst not in ("shader", "out") or one.dst_socket in ends)
    return render_hash(Graph(graph.blender_version, {**graph.nodes, "shader": only}, links))


@pytest.mark.parametrize("seed", range(100))
def test_nothing_locked_changes_in_random_fits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = start = material()
    names = [str(name) for name in rng.choice([n for n in start.nodes if n != "shader"], 2, replace=False)]
    channel = str(rng.choice(list(channels())))
    rules = Rules(locks=locks_for(start, [*names, "shader.Metallic", channel]))
    taken = 0
    for _ in range(60):
        try:
            graph = apply(graph, random_edit(rng, graph), CATALOG, rules).graph
            taken += 1
        except ActionRejected:
            continue
        assert all(graph.nodes[name] == start.nodes[name] for name in names)
        assert all(graph.links_to(name) == start.links_to(name) for name in names)
        assert graph.nodes["shader"].inputs.get("Metallic") == 0.1
        assert seen_of(graph, channel) == seen_of(start, channel)
    assert taken > 3


@pytest.mark.parametrize("seed", range(40))
def test_only_one_channel_changes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = start = material()
    rules = Rules(locks=locks_for(start, (), ["roughness"]))
    for _ in range(60):
        try:
            graph = apply(graph, random_edit(rng, graph), CATALOG, rules).graph
        except ActionRejected:
            continue
        for channel in ("color", "metallic", "relief"):
            assert seen_of(graph, channel) == seen_of(start, channel)


def test_only_roughness_leaves_the_roughness_free() -> None:
    graph = material()
    rules = Rules(locks=locks_for(graph, (), ["roughness"]))
    for action in (SetParam("grime", "Scale", 3.0), RemoveNode("mix"), Connect("bricks", "shader", "Roughness")):
        assert apply(graph, action, CATALOG, rules).changed
    for action in (SetParam("shared", "Scale", 3.0), SetParam("shader", "Metallic", 1.0), RemoveNode("ramp")):
        with pytest.raises(ActionRejected, match="locked"):
            apply(graph, action, CATALOG, rules)


def test_another_output_cannot_take_over_from_a_locked_one() -> None:
    graph = material()
    rules = Rules(locks=locks_for(graph, ["color"]))
    graph = apply(graph, AddNode("ShaderNodeOutputMaterial", id="second"), CATALOG, rules).graph
    for action in (SetParam("second", "target", "CYCLES"), SetParam("second", "is_active_output", True)):
        with pytest.raises(ActionRejected, match="locked"):
            apply(graph, action, CATALOG, rules)


@pytest.mark.parametrize("word", ["absent", "shader.Absent", "absent.Scale", ""])
def test_words_that_name_nothing_are_refused_with_what_is_known(word: str) -> None:
    with pytest.raises(ActionRejected, match=r"known|mean"):
        locks_for(material(), [word])
    with pytest.raises(ActionRejected, match="known: color"):
        locks_for(material(), (), ["weather"])
