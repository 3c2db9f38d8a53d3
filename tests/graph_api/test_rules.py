"""Bans reject every spelling of a move and admit its siblings; locks hold; bad bans are not taken."""

from __future__ import annotations

import json
from typing import Any

import pytest
from builds import build

from graph_api import (
    ActionRejected,
    AddNode,
    Ban,
    BanInvalid,
    Connect,
    Disconnect,
    Endpoint,
    Graph,
    Lock,
    RemoveNode,
    Rules,
    SetParam,
    apply,
    ban_from_json,
    ban_to_json,
    check_ban,
    load_catalog,
    lock_from_json,
    lock_to_json,
    start_graph,
)
from graph_api.actions import Edit


def banned(ban: Ban, graph: Graph, *actions: Edit) -> bool:
    """Whether the last of the actions is refused by the ban; the others must pass."""
    check_ban(ban)
    rules = Rules(bans=(ban,))
    for action in actions[:-1]:
        graph = apply(graph, action, rules=rules).graph
    try:
        apply(graph, actions[-1], rules=rules)
    except ActionRejected as error:
        assert error.code == "banned", error
        assert ban.describe() in error.message
        return True
    return False


NOISE = AddNode("ShaderNodeTexNoise", id="noise")
HIGH = Ban("param", type="ShaderNodeTexNoise", socket="Scale", low=12, low_open=True)


@pytest.mark.parametrize(
    "actions",
    [
        [SetParam("noise", "Scale", 12.5)],
        [SetParam("noise", "Scale", "40")],
        [SetParam("noise", "scale", 999)],
        [AddNode("ShaderNodeValue", id="v"), SetParam("v", "Value", 20.0), Connect("v", "noise", "Scale")],
        [AddNode("ShaderNodeValue", id="v"), Connect("v", "noise", "Scale"), SetParam("v", "Value", 20.0)],
        [
            AddNode("ShaderNodeValue", id="v"),
            AddNode("NodeReroute", id="r"),
            SetParam("v", "Value", 20.0),
            Connect("v", "r", "Input"),
            Connect("r", "noise", "Scale"),
        ],
        [
            AddNode("ShaderNodeMath", id="m"),
            SetParam("m", "Value", 7.0),
            SetParam("m", "Value_001", 6.0),
            Connect("m", "noise", "Scale"),
        ],
        [AddNode("ShaderNodeRGB", id="c"), SetParam("c", "Color", [30, 30, 30, 1]), Connect("c", "noise", "Scale")],
    ],
)
def test_a_direction_is_banned_in_every_spelling(actions: list[Edit]) -> None:
    assert banned(HIGH, build(NOISE), *actions)


@pytest.mark.parametrize(
    "actions",
    [
        [SetParam("noise", "Scale", 12.0)],
        [SetParam("noise", "Scale", 3)],
        [SetParam("noise", "Detail", 14)],
        [AddNode("ShaderNodeTexVoronoi", id="v"), SetParam("v", "Scale", 50)],
        [AddNode("ShaderNodeValue", id="v"), SetParam("v", "Value", 4.0), Connect("v", "noise", "Scale")],
        [AddNode("ShaderNodeTexWave", id="w"), Connect("w", "noise", "Scale")],
    ],
)
def test_its_siblings_are_free(actions: list[Edit]) -> None:
    assert not banned(HIGH, build(NOISE), *actions)


def test_what_was_there_before_stays_free_to_leave_but_not_to_go_further() -> None:
    graph = build(NOISE, SetParam("noise", "Scale", 20.0))
    assert not banned(HIGH, graph, SetParam("noise", "Detail", 3))
    assert not banned(HIGH, graph, SetParam("noise", "Scale", 5))
    assert banned(HIGH, graph, SetParam("noise", "Scale", 30))


def test_a_ban_on_the_default_leaves_the_node_but_not_its_use() -> None:
    low = Ban("param", type="ShaderNodeTexNoise", socket="Scale", high=6.0)
    use = Connect("noise.Factor", "principled", "Roughness")
    assert not banned(low, start_graph(), NOISE, SetParam("noise", "Scale", 9.0), use)
    assert banned(low, start_graph(), NOISE, use)
    assert banned(low, start_graph(), NOISE, SetParam("noise", "Scale", 4.0))
    assert banned(low, start_graph(), NOISE, SetParam("noise", "Scale", 5.0), use)


def test_enums_ranges_and_vectors() -> None:
    graph = build(NOISE, AddNode("ShaderNodeMath", id="m"))
    power = Ban("param", type="ShaderNodeMath", socket="operation", values=("POWER",))
    assert banned(power, graph, SetParam("m", "operation", "power"))
    assert not banned(power, graph, SetParam("m", "operation", "SQRT"))
    stretch = Ban("param", role="mapping", socket="Scale", low=4.0)
    assert banned(stretch, graph, SetParam("mapping", "Scale", [1, 4, 1]))
    assert not banned(stretch, graph, SetParam("mapping", "Scale", [1, 3.9, 1]))
    middle = Ban("param", type="ShaderNodeBsdfPrincipled", socket="Metallic", low=0.1, high=0.9)
    assert [banned(middle, graph, SetParam("principled", "Metallic", v)) for v in (0.09, 0.1, 0.9, 1.0)] == [
        False,
        True,
        True,
        False,
    ]
    grey = Ban("param", type="ShaderNodeBsdfPrincipled", socket="Specular", values=(0.3,))
    assert banned(grey, graph, SetParam("principled", "Specular IOR Level", 0.3))


def test_node_bans_know_aliases_and_roles() -> None:
    for ban in (Ban("node", type="ShaderNodeMix"), Ban("node", type="ShaderNodeMixRGB")):
        assert banned(ban, start_graph(), AddNode("ShaderNodeMixRGB"))
    only_color = Ban("node", type="ShaderNodeMixRGB")
    assert not banned(only_color, start_graph(), AddNode("ShaderNodeMix"))
    assert banned(only_color, start_graph(), AddNode("ShaderNodeMix", id="m"), SetParam("m", "data_type", "RGBA"))
    micro = Ban("node", type="ShaderNodeTexNoise", role="micro")
    assert banned(micro, start_graph(), AddNode("ShaderNodeTexNoise", role="micro"))
    assert not banned(micro, start_graph(), AddNode("ShaderNodeTexNoise", role="macro"))
    assert not banned(
        Ban("node", type="ShaderNodeBsdfPrincipled"), start_graph(), SetParam("principled", "Roughness", 0.1)
    )


def test_link_bans_see_through_reroutes_and_replacements() -> None:
    ban = Ban("link", type="ShaderNodeTexNoise", output="Fac", to_type="ShaderNodeBsdfPrincipled", socket="Roughness")
    graph = build(NOISE, AddNode("NodeReroute", id="r"), AddNode("NodeReroute", id="q"), Connect("r", "q", "Input"))
    assert banned(ban, graph, Connect("noise", "principled", "Roughness"))
    assert banned(ban, graph, Connect("noise.Factor", "r", "Input"), Connect("q", "principled", "Roughness"))
    assert banned(ban, graph, Connect("q", "principled", "Roughness"), Connect("noise.Factor", "r", "Input"))
    assert not banned(ban, graph, Connect("noise.Color", "principled", "Roughness"))
    assert not banned(ban, graph, Connect("noise", "principled", "Metallic"))


SHARE = Ban(
    "share",
    type="ShaderNodeTexNoise",
    targets=(Endpoint("Height", "ShaderNodeBump"), Endpoint("Roughness", "ShaderNodeBsdfPrincipled")),
)


def test_sharing_is_seen_through_converters_in_either_order() -> None:
    graph = build(
        NOISE,
        AddNode("ShaderNodeTexNoise", id="second"),
        AddNode("ShaderNodeBump", id="bump"),
        AddNode("ShaderNodeValToRGB", id="ramp"),
        AddNode("ShaderNodeMath", id="math"),
        Connect("ramp", "principled", "Roughness"),
        Connect("math", "bump", "Height"),
    )
    assert banned(SHARE, graph, Connect("noise", "ramp", "Fac"), Connect("noise", "math", "Value"))
    assert banned(SHARE, graph, Connect("noise", "math", "Value"), Connect("noise", "ramp", "Fac"))
    assert banned(SHARE, graph, Connect("noise", "bump", "Height"), Connect("noise.Color", "principled", "Roughness"))
    assert not banned(SHARE, graph, Connect("noise", "ramp", "Fac"), Connect("second", "math", "Value"))
    coordinates = [Connect("mapping", "noise", "Vector"), Connect("mapping", "second", "Vector")]
    assert not banned(SHARE, graph, *coordinates, Connect("noise", "ramp", "Fac"), Connect("second", "math", "Value"))


def test_removal_bans_hold_against_cutting_off_and_muting() -> None:
    macro = AddNode("ShaderNodeTexNoise", id="macro", role="macro")
    graph = build(macro, AddNode("ShaderNodeValToRGB", id="ramp"), Connect("macro", "ramp", "Fac"))
    graph = apply(graph, Connect("ramp", "principled", "Base Color")).graph
    ban = Ban("remove", role="macro")
    assert banned(ban, graph, RemoveNode("macro"))
    assert banned(ban, graph, Disconnect("ramp", "Factor"))
    assert banned(ban, graph, RemoveNode("ramp"))
    assert banned(ban, graph, SetParam("macro", "mute", True))
    assert not banned(ban, graph, SetParam("macro", "Scale", 2))
    second = [Connect("ramp", "principled", "Roughness"), Disconnect("principled", "Base Color")]
    assert not banned(ban, graph, *second)


EMPTY: list[Ban] = [
    Ban("node"),
    Ban("node", type="ShaderNodeOutputMaterial"),
    Ban("node", role="output"),
    Ban("link"),
    Ban("link", type="ShaderNodeTexNoise"),
    Ban("link", to_type="ShaderNodeOutputMaterial"),
    Ban("link", to_type="ShaderNodeOutputMaterial", socket="Surface"),
    Ban("link", socket="Roughness"),
    Ban("param", type="ShaderNodeTexNoise"),
    Ban("param", type="ShaderNodeTexNoise", socket="Scale"),
    Ban("param", type="ShaderNodeTexNoise", socket="Scale", low=float("-inf")),
    Ban("param", type="ShaderNodeTexNoise", socket="Scale", low=-1000.0),
    Ban("param", type="ShaderNodeTexNoise", socket="Scale", low=5.0, high=4.0),
    Ban("param", type="ShaderNodeTexNoise", socket="Scale", low=float("nan")),
    Ban("param", type="ShaderNodeBsdfPrincipled", socket="distribution", values=("GGX", "MULTI_GGX")),
    Ban("param", type="ShaderNodeTexNoise", socket="Scall", low=5.0),
    Ban("remove"),
    Ban("share", type="ShaderNodeTexNoise"),
    Ban("share", targets=(Endpoint("Height"), Endpoint("Height"))),
    Ban("node", type="ShaderNodeTexNoize"),
    Ban("node", role="giant"),
    Ban("move", type="ShaderNodeTexNoise"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("ban", EMPTY, ids=lambda ban: ban.describe() if ban.kind != "move" else "move")
def test_bans_that_say_nothing_or_close_every_road_are_refused(ban: Ban) -> None:
    with pytest.raises(BanInvalid, match="expected"):
        check_ban(ban)


def test_bans_that_close_every_road_together_are_refused() -> None:
    low = Ban("param", type="ShaderNodeTexNoise", socket="Scale", high=12)
    rules = Rules().with_ban(HIGH)
    with pytest.raises(BanInvalid, match="beside the others"):
        rules.with_ban(low)
    assert len(rules.with_ban(Ban("param", type="ShaderNodeTexNoise", socket="Scale", high=3)).bans) == 2


@pytest.mark.parametrize("ban", [HIGH, SHARE, Ban("remove", role="macro", reason="it carried the joints")])
def test_bans_and_locks_survive_json(ban: Ban) -> None:
    assert ban_from_json(json.loads(json.dumps(ban_to_json(ban)))) == ban
    for lock in (Lock("noise"), Lock("noise", "Scale")):
        assert lock_from_json(json.loads(json.dumps(lock_to_json(lock)))) == lock


BAD_JSON: list[Any] = [
    None, [], {}, {"kind": 5}, {"kind": "node", "typ": "x"}, {"kind": "param", "low": "much"},
    {"kind": "param", "values": 3},
    {"kind": "share", "targets": [5]}, {"kind": "share", "targets": [{"type": "x"}]}, {"kind": "param", "low_open": 1},
]  # fmt: skip


@pytest.mark.parametrize("raw", BAD_JSON)
def test_malformed_bans_are_refused(raw: Any) -> None:
    with pytest.raises(BanInvalid, match="expected"):
        ban_from_json(raw)


def locked(lock: Lock, graph: Graph, action: Edit) -> bool:
    try:
        apply(graph, action, rules=Rules(locks=(lock,)))
    except ActionRejected as error:
        assert error.code == "locked", error
        return True
    return False


def test_locks_hold_what_they_name_and_nothing_else() -> None:
    graph = build(NOISE, Connect("noise", "principled", "Roughness"))
    whole, one = Lock("principled"), Lock("principled", "Specular")
    assert locked(whole, graph, SetParam("principled", "Metallic", 1))
    assert locked(whole, graph, RemoveNode("principled"))
    assert locked(whole, graph, Disconnect("principled", "Roughness"))
    assert locked(whole, graph, RemoveNode("noise"))
    assert not locked(whole, graph, SetParam("noise", "Scale", 2))
    assert locked(one, graph, SetParam("principled", "Specular IOR Level", 0.1))
    assert locked(one, graph, Connect("noise", "principled", "Specular"))
    assert not locked(one, graph, SetParam("principled", "Metallic", 1))


def test_the_node_limit_stops_growth_only() -> None:
    rules = Rules(max_nodes=5)
    graph = build(NOISE)
    with pytest.raises(ActionRejected, match="at most 5 nodes"):
        apply(graph, AddNode("ShaderNodeMix"), rules=rules)
    assert apply(
        build(NOISE, AddNode("ShaderNodeMix"), AddNode("ShaderNodeRGB", id="c")), RemoveNode("c"), rules=rules
    ).changed


def test_the_check_knows_the_version() -> None:
    thin = Ban("param", type="ShaderNodeBsdfPrincipled", socket="Thin Wall", values=(True,))
    check_ban(thin, load_catalog("5.3"))
    with pytest.raises(BanInvalid):
        check_ban(thin, load_catalog("5.0"))
