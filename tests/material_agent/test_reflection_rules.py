"""What a reflection must be to enter memory, refused reason by reason."""

from __future__ import annotations

import json

import pytest
from agent_reflections import CITED, reflection
from agent_world import build, noise

from graph_api import AddNode, Ban, Rules, SetParam, apply, load_catalog, start_graph
from material_agent.context import Step
from material_agent.errors import ReflectionRefused
from material_agent.memory import Evidence, GraphChange, reflection_from_json, reflection_to_json
from material_agent.observation import Observation
from material_agent.proposals import BadCall, Tune
from material_agent.reflexion import Ground, check_reflection, measure_uptake

SEEN = {CITED: {"reward": (0.3,), "lattice_period": (0.21, 0.4)}, "a1.o6": {}}
NO_NOISE = Ban("node", type="ShaderNodeTexNoise", role="macro")


def ground(*bans):
    return Ground(SEEN, [start_graph("5.0"), build(noise())], bans, load_catalog("5.0"), 80)


def fact(observation=CITED, figure="reward", value=0.3):
    return (Evidence(observation, figure, value, "seen"),)


def test_a_sound_reflection_passes():
    check_reflection(reflection(), ground())
    check_reflection(reflection(evidence=fact(figure="lattice_period", value=0.4)), ground())


def test_a_change_for_the_best_graph_passes_although_the_start_graph_lacks_its_node():
    change = GraphChange("finer", (SetParam("noise", "Scale", 12.0),))
    ban = Ban("param", type="ShaderNodeTexNoise", socket="Scale", low=15.0)
    check_reflection(reflection(graph_change=change, forbidden_op=ban), ground())


REFUSED = {
    "no evidence": ({"evidence": ()}, "at least one fact"),
    "an observation that never was": ({"evidence": fact("a9.o9")}, "observation of this run, got 'a9.o9'"),
    "a figure that was not measured": ({"evidence": fact(figure="beauty")}, "known: lattice_period, reward"),
    "an observation without figures": ({"evidence": fact("a1.o6")}, "nothing was judged there"),
    "a figure that does not agree": ({"evidence": fact(value=0.35)}, "reward = 0.3 in a1.o5, got 0.35"),
    "a figure that is no number": ({"evidence": fact(value=float("nan"))}, "got nan"),
    "words alone": ({"graph_change": GraphChange("be more careful")}, "words alone change nothing"),
    "a change that cannot be applied": (
        {"graph_change": GraphChange("?", (AddNode("ShaderNodeTexMusgraveX"),))},
        "cannot be applied",
    ),
    "a change that changes nothing": (
        {"graph_change": GraphChange("?", (SetParam("principled", "Roughness", 0.5),))},
        "changes nothing",
    ),
    "a ban on the very change": ({"forbidden_op": Ban("node", type="ShaderNodeTexBrick")}, "cannot be applied"),
    "a ban on the wanted pattern": (
        {
            "graph_change": GraphChange("bricks", pattern=Ban("node", type="ShaderNodeTexBrick")),
            "forbidden_op": Ban("node", type="ShaderNodeTexBrick", reason="no"),
        },
        "forbids the very change",
    ),
    "a ban that names nothing": ({"forbidden_op": Ban("node")}, "ban cannot be used"),
    "a ban that closes every road": (
        {"forbidden_op": Ban("node", type="ShaderNodeOutputMaterial")},
        "ban cannot be used",
    ),
    "an empty pattern": (
        {"graph_change": GraphChange("?", pattern=Ban("param", type="ShaderNodeTexBrick"))},
        "pattern",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_name_the_reason(case):
    fields, text = REFUSED[case]
    with pytest.raises(ReflectionRefused) as caught:
        check_reflection(reflection(**fields), ground())
    assert text in str(caught.value)


def test_an_active_ban_again_is_refused_whatever_its_reason_says():
    active = Ban("node", type="ShaderNodeTexNoise", role="macro", reason="other words")
    with pytest.raises(ReflectionRefused, match="already active"):
        check_reflection(reflection(), ground(active))


def test_an_active_ban_on_the_change_is_a_refusal():
    with pytest.raises(ReflectionRefused, match="cannot be applied"):
        check_reflection(reflection(), ground(Ban("node", type="ShaderNodeTexBrick")))


@pytest.mark.parametrize("bounds", [(4.4, 5.6), (None, 6.0), (6.0, None)])
def test_no_accepted_ban_keeps_a_node_from_being_added_and_then_set_right(bounds):
    ban = Ban("param", type="ShaderNodeTexNoise", role="micro", socket="Scale", low=bounds[0], high=bounds[1])
    try:
        check_reflection(reflection(forbidden_op=ban), ground())
    except ReflectionRefused:
        return
    graph = apply(start_graph("5.0"), AddNode(ban.type, "fine", ban.role), rules=Rules((ban,))).graph
    right = 7.0 if bounds[0] is None else bounds[0] - 0.5
    apply(graph, SetParam("fine", "Scale", right), rules=Rules((ban,)))


def test_bans_that_together_leave_no_value_are_refused():
    low = Ban("param", type="ShaderNodeTexBrick", socket="Mortar Smooth", high=0.5)
    high = Ban("param", type="ShaderNodeTexBrick", socket="Mortar Smooth", low=0.5)
    with pytest.raises(ReflectionRefused, match="ban cannot be used"):
        check_reflection(reflection(forbidden_op=high), ground(low))


def test_all_problems_are_told_at_once():
    spoilt = reflection(evidence=(), graph_change=GraphChange("hm"))
    with pytest.raises(ReflectionRefused) as caught:
        check_reflection(spoilt, ground())
    assert len(caught.value.problems) == 2


def test_reflections_survive_json():
    change = GraphChange("bricks", (SetParam("noise", "Scale", 2.5),), Ban("node", type="ShaderNodeTexBrick"))
    whole = reflection(graph_change=change, forbidden_op=NO_NOISE)
    assert reflection_from_json(json.loads(json.dumps(reflection_to_json(whole)))) == whole


def test_uptake_looks_at_edits_and_passes_over_searches_and_bad_calls():
    change = GraphChange("noise", (AddNode("ShaderNodeTexNoise", role="macro"),))
    asked = reflection(graph_change=change)
    graph = start_graph("5.0")
    steps = [
        Step("", action, Observation("a2.o1", action.op, "ok"))
        for action in (Tune(("noise.Scale",)), BadCall("paint", "paint()", "no such tool"))
    ]
    catalog = load_catalog("5.0")
    known = {"reward_before": 0.4, "reward_after": 0.5, "start": graph, "reached": [graph], "catalog": catalog}
    assert not measure_uptake(asked, steps=steps, **known).change_made
    built = Step("", AddNode("ShaderNodeTexNoise", id="n", role="macro"), Observation("a2.o2", "add_node", "ok"))
    found = measure_uptake(asked, steps=[*steps, built], **known)
    assert (found.change_made, found.helped) == (True, True)
