"""Cases G1 to G5: what fails for people who drive Blender's nodes, and the whole kind of each fault."""

from __future__ import annotations

import math
from typing import Any

import pytest
from builds import build, refuse

from graph_api import (
    ActionRejected,
    AddNode,
    ColorRamp,
    ColorStop,
    Connect,
    Graph,
    SetParam,
    action_from_json,
    apply,
    available_versions,
    load_catalog,
    start_graph,
    summary_json,
)

VERSIONS = available_versions()


# G1: names of older and newer versions

OLD_PRINCIPLED = {
    "Specular": "Specular IOR Level",
    "Subsurface": "Subsurface Weight",
    "Transmission": "Transmission Weight",
    "Clearcoat": "Coat Weight",
    "Clearcoat Roughness": "Coat Roughness",
    "Sheen": "Sheen Weight",
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("old", "new"), OLD_PRINCIPLED.items())
def test_g1_old_socket_names_reach_the_right_socket_and_it_is_said(version: str, old: str, new: str) -> None:
    done = apply(start_graph(version), SetParam("principled", old, 0.25))
    assert done.graph.nodes["principled"].inputs == {new: 0.25}
    assert [n.code for n in done.notices] == ["alias"]
    assert old in done.notices[0].message
    assert new in done.notices[0].message


@pytest.mark.parametrize("version", VERSIONS)
def test_g1_emission_takes_a_color(version: str) -> None:
    done = apply(start_graph(version), SetParam("principled", "Emission", [1, 0.5, 0, 1]))
    assert done.graph.nodes["principled"].inputs == {"Emission Color": (1.0, 0.5, 0.0, 1.0)}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["Fac", "Factor"])
def test_g1_noise_fac_and_factor_are_one_output_in_every_version(version: str, name: str) -> None:
    graph = build(AddNode("ShaderNodeTexNoise", id="noise"), version=version)
    done = apply(graph, Connect(f"noise.{name}", "principled", "Roughness"))
    link = done.graph.link_into("principled", "Roughness")
    assert link is not None
    assert link.src_socket == "Fac"
    kind = load_catalog(version).node("ShaderNodeTexNoise")
    assert kind is not None
    assert bool(done.notices) == (kind.default_state.outputs["Fac"].name != name)


@pytest.mark.parametrize("gone", ["Subsurface Color", "Transmission Roughness"])
def test_g1_what_has_no_successor_is_refused_with_the_reason(gone: str) -> None:
    error = refuse(start_graph(), SetParam("principled", gone, 0.5), "socket_removed")
    assert "removed in 4.0" in error.message
    assert "Base Color" in error.known


def test_g1_a_wrong_name_is_refused_with_the_likely_one() -> None:
    error = refuse(start_graph(), SetParam("principled", "Rougness", 0.5), "unknown_key")
    assert error.suggestion == "Roughness"
    refuse(
        build(AddNode("ShaderNodeTexNoise", id="n")),
        Connect("n.Colour Map", "principled", "Roughness"),
        "unknown_socket",
    )


# G2: node types

REPLACED = {
    "ShaderNodeTexMusgrave": "ShaderNodeTexNoise",
    "ShaderNodeTexNoise ": "ShaderNodeTexNoise",
    "shadernodetexnoise": "ShaderNodeTexNoise",
    "Noise Texture": "ShaderNodeTexNoise",
    "ShaderNodeNoiseTexture": "ShaderNodeTexNoise",
    "ShaderNodeColorRamp": "ShaderNodeValToRGB",
    " ShaderNodeMixRGB": "ShaderNodeMix",
    "Principled BSDF": "ShaderNodeBsdfPrincipled",
}


@pytest.mark.parametrize(("name", "suggestion"), REPLACED.items())
def test_g2_near_misses_and_replaced_types_are_refused_with_the_replacement(name: str, suggestion: str) -> None:
    with pytest.raises(ActionRejected) as caught:
        apply(start_graph(), AddNode(name))
    assert caught.value.suggestion is not None
    assert caught.value.suggestion.split(" ")[0] == suggestion


@pytest.mark.parametrize(
    "name", ["GeometryNodeMeshCube", "CompositorNodeBlur", "TextureNodeChecker", "", "🙂", "x" * 5000, "\0"]
)
def test_g2_what_is_no_shader_node_is_refused(name: str) -> None:
    error = refuse(start_graph(), AddNode(name), "unknown_node_type")
    assert error.known
    assert len(error.message) < 6000


def test_g2_a_geometry_node_is_named_as_such() -> None:
    assert "a geometry node" in refuse(start_graph(), AddNode("GeometryNodeMeshCube"), "unknown_node_type").message


EXACT = {
    "ShaderNodeMixRGB": ("ShaderNodeMix", {"data_type": "RGBA"}),
    "ShaderNodeSeparateRGB": ("ShaderNodeSeparateColor", {"mode": "RGB"}),
    "ShaderNodeCombineHSV": ("ShaderNodeCombineColor", {"mode": "HSV"}),
    "ShaderNodeBsdfGlossy": ("ShaderNodeBsdfAnisotropic", {}),
    "ShaderNodeBsdfVelvet": ("ShaderNodeBsdfSheen", {"distribution": "ASHIKHMIN"}),
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("old", EXACT)
def test_g2_exact_replacements_are_made_and_said(version: str, old: str) -> None:
    done = apply(start_graph(version), AddNode(old, id="x"))
    node_type, properties = EXACT[old]
    assert done.graph.nodes["x"].type == node_type
    assert done.graph.nodes["x"].properties == properties
    assert [n.code for n in done.notices] == ["alias"]
    assert node_type in done.notices[0].message


def test_g2_old_socket_names_of_a_replaced_node_work_on_the_new_one() -> None:
    graph = build(AddNode("ShaderNodeMixRGB", id="mix"), AddNode("ShaderNodeRGB", id="rgb"))
    graph = apply(graph, Connect("rgb", "mix", "Color1")).graph
    graph = apply(graph, SetParam("mix", "Color2", (0.0, 0.0, 1.0, 1.0))).graph
    graph = apply(graph, SetParam("mix", "Fac", 0.3)).graph
    graph = apply(graph, Connect("mix.Color", "principled", "Base Color")).graph
    assert graph.link_into("mix", "A_Color") is not None
    assert graph.nodes["mix"].inputs == {"Factor_Float": 0.3, "B_Color": (0.0, 0.0, 1.0, 1.0)}
    link = graph.link_into("principled", "Base Color")
    assert link is not None
    assert link.src_socket == "Result_Color"


@pytest.mark.parametrize("version", VERSIONS)
def test_g2_types_that_inspection_prints_can_be_added_again(version: str) -> None:
    for node_type in load_catalog(version).types:
        done = apply(start_graph(version), AddNode(node_type, id="again"))
        printed = summary_json(done.graph)["nodes"][-1]["type"]
        assert apply(done.graph, AddNode(printed)).graph.nodes["again"].type == printed


# G3: sockets that share a name


def mix_graph() -> Graph:
    return build(
        AddNode("ShaderNodeTexNoise", id="noise"),
        AddNode("ShaderNodeMix", id="mix"),
        SetParam("mix", "data_type", "RGBA"),
        Connect("noise.Color", "mix", "A"),
        Connect("mix.Result", "principled", "Base Color"),
    )


def test_g3_names_resolve_to_the_enabled_socket() -> None:
    graph = mix_graph()
    assert graph.link_into("mix", "A_Color") is not None
    assert [link.src_socket for link in graph.links_from("mix")] == ["Result_Color"]


def test_g3_a_type_change_reports_the_links_that_died() -> None:
    done = apply(mix_graph(), SetParam("mix", "data_type", "FLOAT"))
    assert [n.code for n in done.notices] == ["link_died", "link_died"]
    assert any("noise.Color -> mix.A" in change for change in done.changes)
    assert done.graph.links_to("mix") == ()
    assert done.graph.links_from("mix") == ()


def test_g3_a_hidden_socket_is_refused_with_the_way_to_enable_it() -> None:
    graph = build(AddNode("ShaderNodeMix", id="mix"))
    assert "data_type is RGBA" in refuse(graph, SetParam("mix", "A_Color", "#fff"), "socket_disabled").message
    voronoi = build(AddNode("ShaderNodeTexVoronoi", id="v"), AddNode("ShaderNodeValue", id="x"))
    assert "MINKOWSKI" in refuse(voronoi, Connect("x", "v", "Exponent"), "socket_disabled").message


# G4: color ramps


def stops(count: int) -> list[dict[str, Any]]:
    return [{"position": i / 50, "color": [i / 50, 0, 0, 1]} for i in range(count)]


@pytest.mark.parametrize("count", [0, 33, 40, 1000])
def test_g4_too_many_or_no_stops_are_refused_whole(count: int) -> None:
    graph = build(AddNode("ShaderNodeValToRGB", id="ramp"), SetParam("ramp", "color_ramp", {"stops": stops(3)}))
    kept = graph.nodes["ramp"].properties["color_ramp"]
    error = refuse(graph, SetParam("ramp", "color_ramp", {"stops": stops(count)}), "stop_count")
    assert "1 to 32" in error.message
    assert graph.nodes["ramp"].properties["color_ramp"] is kept


@pytest.mark.parametrize("count", [1, 2, 32])
def test_g4_one_to_32_stops_are_taken(count: int) -> None:
    graph = build(AddNode("ShaderNodeValToRGB", id="ramp"), SetParam("ramp", "stops", stops(count)))
    ramp = graph.nodes["ramp"].properties["color_ramp"]
    assert isinstance(ramp, ColorRamp)
    assert len(ramp.stops) == count


BLACK, WHITE = (0.0, 0.0, 0.0, 1.0), (1.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    "written",
    [
        {"stops": [{"position": 0.2, "color": [0, 0, 0, 1]}, {"position": 1, "color": [1, 1, 1, 1]}]},
        {"elements": [{"pos": "0.2", "color": "#000"}, {"position": 1, "color": [1, 1, 1]}]},
        [[0.2, "#000000"], [1.0, "#ffffff"]],
        [[0.2, 0, 0, 0], [1, 1, 1, 1, 1]],
        [{"position": 1, "color": [1, 1, 1]}, {"position": 0.2, "color": [0, 0, 0]}],
        '{"stops": [[0.2, [0, 0, 0, 1]], [1, [1, 1, 1, 1]]]}',
        ColorRamp((ColorStop(0.2, BLACK), ColorStop(1.0, WHITE))),
    ],
)
def test_g4_a_ramp_may_be_written_in_many_ways(written: Any) -> None:
    graph = build(AddNode("ShaderNodeValToRGB", id="ramp"))
    ramp = apply(graph, SetParam("ramp", "color_ramp", written)).graph.nodes["ramp"].properties["color_ramp"]
    assert ramp == ColorRamp((ColorStop(0.2, BLACK), ColorStop(1.0, WHITE)))


@pytest.mark.parametrize(
    "bad",
    [
        [[0.2]],
        {"stops": 3},
        {},
        "red",
        5,
        {"colors": []},
        [[math.nan, BLACK]],
        [["x", BLACK]],
        {"interpolation": "cubic"},
    ],
)
def test_g4_what_is_no_ramp_is_refused(bad: Any) -> None:
    graph = build(AddNode("ShaderNodeValToRGB", id="ramp"))
    with pytest.raises(ActionRejected):
        apply(graph, SetParam("ramp", "color_ramp", bad))


def test_g4_one_field_keeps_the_others() -> None:
    graph = build(AddNode("ShaderNodeValToRGB", id="ramp"), SetParam("ramp", "stops", stops(5)))
    ramp = (
        apply(graph, SetParam("ramp", "color_ramp.interpolation", "constant"))
        .graph.nodes["ramp"]
        .properties["color_ramp"]
    )
    assert isinstance(ramp, ColorRamp)
    assert (len(ramp.stops), ramp.interpolation) == (5, "CONSTANT")


# G5: values

RED = (1.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("key", "written", "value", "code"),
    [
        ("Base Color", [1, 0, 0], RED, "alpha"),
        ("Base Color", "#ff0000", RED, "parsed"),
        ("Base Color", "#f00", RED, "parsed"),
        ("Base Color", "ff0000ff", RED, "parsed"),
        ("Base Color", "[1, 0, 0, 1]", RED, "parsed"),
        ("Base Color", "1, 0, 0, 1", RED, "parsed"),
        ("Base Color", [-1, 0.5, 2, 1], (0.0, 0.5, 2.0, 1.0), "clamped"),
        ("Roughness", "0.25", 0.25, "parsed"),
        ("Roughness", True, 1.0, "converted"),
        ("Roughness", 5, 1.0, "clamped"),
        ("Roughness", -1e30, 0.0, "clamped"),
        ("IOR", 0.2, 1.0, "clamped"),
        ("Subsurface Radius", 0.5, (0.5, 0.5, 0.5), "converted"),
        ("Subsurface Radius", [0.1, 0.2], (0.1, 0.2, 0.0), "converted"),
        ("distribution", "multi ggx", "MULTI_GGX", "near_name"),
    ],
)
def test_g5_values_are_understood_and_it_is_said(key: str, written: Any, value: Any, code: str) -> None:
    done = apply(start_graph(), SetParam("principled", key, written))
    node = done.graph.nodes["principled"]
    held = {**node.inputs, **node.properties}.get(key)
    if done.changed:
        assert held == value
        assert type(held) is type(value)
    else:
        assert key == "distribution"
    assert code in [n.code for n in done.notices]


def test_g5_hex_is_read_as_srgb() -> None:
    done = apply(start_graph(), SetParam("principled", "Base Color", "#808080"))
    color = done.graph.nodes["principled"].inputs["Base Color"]
    assert color == pytest.approx((0.21586, 0.21586, 0.21586, 1.0), abs=1e-5)  # IEC 61966-2-1 for 128/255


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, 1e400, 10**400, "nan", "inf", "1e400", [1, math.nan, 0, 1], 3.5e38]
)
@pytest.mark.parametrize("key", ["Roughness", "Base Color", "Emission Strength", "Subsurface Radius"])
def test_g5_what_is_not_finite_is_refused(key: str, value: Any) -> None:
    with pytest.raises(ActionRejected) as caught:
        apply(start_graph(), SetParam("principled", key, value))
    assert caught.value.code in ("not_finite", "bad_value")
    if not isinstance(value, list):
        assert caught.value.code == "not_finite"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("Roughness", [1, 2]), ("Roughness", "rough"), ("Roughness", None), ("Roughness", {"a": 1}), ("Roughness", "{"),
        ("Base Color", [1] * 5), ("Base Color", "#ggg"), ("Base Color", "red"), ("Base Color", []),
        ("Base Color", [[1], 2]), ("distribution", "BECKMANN"), ("distribution", 3), ("Normal", [0, 0, 1]),
        ("mute", "perhaps"), ("", 1), ("x" * 999, 1), ("label", "a\0b"), ("label", "\ud800"), ("label", 5),
    ],
)  # fmt: skip
def test_g5_nonsense_is_refused_and_nothing_else(key: str, value: Any) -> None:
    graph = start_graph()
    before = repr(graph)
    with pytest.raises(ActionRejected):
        apply(graph, SetParam("principled", key, value))
    assert repr(graph) == before


def test_g5_a_bad_item_lists_the_good_ones() -> None:
    error = refuse(start_graph(), SetParam("principled", "distribution", "GGXX"), "bad_enum")
    assert set(error.known) == {"GGX", "MULTI_GGX"}
    assert error.suggestion == "GGX"


def test_g5_an_integer_too_long_to_print_is_refused_in_few_words() -> None:
    error = refuse(start_graph(), SetParam("principled", "Roughness", 10**5000), "not_finite")
    assert len(error.message) < 200


def test_g5_the_same_through_json_of_a_model() -> None:
    action = action_from_json({"op": "set_param", "node": "principled", "key": "Base Color", "value": "[1,0,0,1]"})
    assert isinstance(action, SetParam)
    assert apply(start_graph(), action).graph.nodes["principled"].inputs["Base Color"] == RED
