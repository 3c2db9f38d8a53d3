"""Stop rules on a scripted actor in a real environment, and the failure table rule by rule."""

from __future__ import annotations

import pytest
from agent_world import GIVE_UP, RENDER, SUCCESS, actions, brick, make_world, noise, put

from evaluators.result import Evaluation, Gap
from graph_api.actions import AddNode, Finish, InspectGraph, Render, SetParam
from material_agent.actors import ScriptedActor, Turn
from material_agent.context import Step
from material_agent.observation import Observation
from material_agent.react import Brief, Inner, Stop, StopRules, Trace, label_failure


def attempt(world, turns, **rules):
    actor = ScriptedActor([Turn(actions(*turn)) for turn in turns])
    brief = Brief(world.environment.task, None)
    return Inner(world.environment, world.ledger, world.log, StopRules(**rules)).run(actor, brief)


def test_the_same_failing_action_three_times_is_a_loop(world):
    ended = attempt(world, [[put("principled", "Bogus", 1.0)], noise()] * 25)
    assert (ended.stop.kind, ended.label) == ("loop", "loop")
    assert sum(event.status == "rejected" for event in world.log.kinds("observation")) <= 6


def test_going_back_and_forth_is_not_a_loop_until_the_third_time_round(world):
    there, back = put("principled", "Roughness", 0.2), put("principled", "Roughness", 0.9)
    ended = attempt(world, [[there], [back]] * 10)
    assert ended.stop.kind == "loop"
    assert ended.turns == 6  # the first way there began elsewhere, so its answer differs


def test_turns_without_actions_are_a_loop(world):
    ended = attempt(world, [[]] * 5)
    assert (ended.stop.kind, ended.turns) == ("loop", 3)


def test_no_progress_over_k_actions(world):
    edits = [[put("noise", "Scale", 5.0 + i)] for i in range(40)]
    ended = attempt(world, [noise(), [RENDER], *edits], no_progress_actions=12)
    assert ended.stop.kind == "no_progress"
    assert ended.turns == 2 + 12


def test_the_step_limit_counts_turns(world):
    ended = attempt(world, [[put("principled", "Roughness", 0.1 * i)] for i in range(1, 9)], max_steps=4)
    assert (ended.stop.kind, ended.turns) == ("step_limit", 4)


def test_the_budget_ends_an_attempt_and_keeps_its_best(pool, brick_image):
    world = make_world(pool, brick_image, {"renders": 1})
    ended = attempt(world, [[*brick(), RENDER], [put("bricks", "Scale", 5.0), RENDER]])
    assert ended.stop.kind == "budget"
    assert "renders" in ended.stop.reason
    assert ended.best.observation == "a1.o9"


def test_a_script_that_ends_is_a_reason_and_not_a_crash(world):
    ended = attempt(world, [noise()])
    assert (ended.stop.kind, ended.outcome) == ("actor_failed", "stopped")


def test_a_refused_action_does_not_keep_its_siblings_from_running(world):
    ended = attempt(
        world, [[put("principled", "Roughness", 0.3), put("nowhere", "Scale", 1.0), *brick(), RENDER, SUCCESS]]
    )
    assert [step.observation.status for step in ended.context.history][:3] == ["ok", "rejected", "ok"]
    assert (ended.outcome, ended.label) == ("success", "")


def test_thoughts_are_logged_and_stand_before_the_action_they_led_to(world):
    ended = attempt(world, [[{"op": "note", "text": "rougher"}, put("principled", "Roughness", 0.3), GIVE_UP]])
    assert [step.thought for step in ended.context.history] == ["rougher", ""]
    assert [event.text for event in world.log.kinds("thought")] == ["rougher"]
    assert world.ledger.spent["actions"] == 2


GAP = Gap("structure", "macro", "luma", "contrast", "too_low", 0.5, 0.1, 0.2, "", "low contrast")
JUDGED = Evaluation(0.4, {}, False, gaps=(GAP,))
SOUND = Step("", Render(), Observation("a1.o1", "render", "ok", evaluation=JUDGED))


def step(action, status="ok", **more):
    return Step("", action, Observation("a1.o2", action.op, status, **more))


CASES = {
    "untrustworthy_observation": ([SOUND, step(Render(), "error")], Stop("actor_failed", ""), 0.5),
    "loop": ([SOUND], Stop("loop", "again"), 0.5),
    "early_finish": ([SOUND, step(Finish("success"), "rejected")], Stop("step_limit", ""), 1.0),
    "argument": ([SOUND, *[step(SetParam("a", "b", 1.0), "rejected")] * 4], Stop("step_limit", ""), 1.0),
    "tool_choice": ([SOUND, *[step(AddNode("Musgrave"), "rejected")] * 4], Stop("step_limit", ""), 1.0),
    "uninformative_observation": ([step(InspectGraph())], Stop("step_limit", ""), 1.0),
    "planning": ([SOUND, step(SetParam("a", "b", 1.0))], Stop("no_progress", ""), 1.0),
}


@pytest.mark.parametrize("label", CASES)
def test_each_kind_of_failure_has_its_label(label):
    steps, stop, used = CASES[label]
    found, fact = label_failure(Trace(steps, stop, used))
    assert found == label
    assert fact
