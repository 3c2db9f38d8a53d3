"""The one door: what it lets through, what it refuses, and what it does when the world fails. Real Blender."""

from __future__ import annotations

import os
import threading
import time

import pytest
from agent_world import GIVE_UP, RENDER, SUCCESS, actions, brick, make_world, noise, put

from graph_api import Ban, start_graph
from graph_api.actions import SetParam
from material_agent.errors import BadInput, BudgetExhausted

SMALL = 128


def test_success_needs_a_render_of_the_present_graph(world):
    assert world.play(SUCCESS)[0].status == "rejected"
    world.play(*brick())
    rendered, accepted = world.play(RENDER, SUCCESS)
    assert rendered.evaluation.success, rendered.evaluation.failures
    assert accepted.status == "ok"
    assert world.environment.finished.outcome == "success"


def test_an_edit_makes_the_evidence_stale_and_undoing_it_does_not(world):
    world.play(*brick(), RENDER, put("principled", "Roughness", 0.7))
    assert world.environment.edited_since_render
    refused = world.play(SUCCESS)[0]
    assert refused.status == "rejected"
    assert "no flat render since the last edit" in refused.messages[0]
    world.play(put("principled", "Roughness", 0.8))
    assert not world.environment.edited_since_render


def test_success_is_refused_under_a_threshold_and_giving_up_never(world):
    world.play(*noise(), RENDER)
    refused = world.play(SUCCESS)[0]
    assert refused.status == "rejected"
    assert any("is not above" in text for text in refused.messages)
    assert world.play(GIVE_UP)[0].status == "ok"


def test_another_view_is_no_evidence(world):
    world.play(*brick())
    tilted = world.play({"op": "render", "view": "tilt", "maps": ["beauty"]})[0]
    assert tilted.status == "ok"
    assert tilted.evaluation is None
    assert world.play(SUCCESS)[0].status == "rejected"


def test_a_graph_that_does_not_compile_is_a_result_and_scores_nothing(world):
    world.play(*brick(), RENDER)
    broken = world.play({"op": "disconnect", "dst": "output", "slot": "Surface"}, RENDER)[-1]
    assert broken.status == "rejected"
    assert not broken.images
    assert broken.evaluation.reward <= 0
    assert "does not compile" in world.play(SUCCESS)[0].messages[0]


def test_useless_and_rejected_actions_are_counted_into_the_facts(world):
    world.play(*brick(), RENDER)
    tally = world.environment.tally
    assert (tally.rejected, tally.useless) == (0, 0)
    world.play(put("bricks", "Scale", 4.0), RENDER, put("bricks", "Bogus", 1.0), {"op": "inspect_graph"})
    assert (tally.rejected, tally.useless) == (1, 2)
    before = world.environment.evaluation.terms["budget"].value
    world.play(*[put("bricks", "Scale", 4.0)] * 20, RENDER)
    assert world.environment.evaluation.terms["budget"].value > before


def test_a_map_that_does_not_exist_is_told_and_known(world):
    answer = world.play({"op": "render", "view": "flat", "maps": ["albedo"]})[0]
    assert answer.status == "rejected"
    assert "base_color" in answer.messages[0]


def test_bans_hold_at_both_doors(world):
    ban = Ban("node", type="ShaderNodeTexNoise", role="macro")
    world.environment.reset(start_graph("5.0"), (ban,))
    assert world.play(noise()[0])[0].status == "rejected"
    trials = world.environment.try_many([actions(*noise()), actions(*brick())], resolution=SMALL)
    assert [trial.ok for trial in trials] == [False, True]
    assert "banned" in trials[0].reason


def test_a_search_leaves_the_graph_and_is_charged_and_ranks(world):
    world.play(*brick(9.0), RENDER)
    before = world.environment.graph
    scales = (2.0, 4.0, 9.0)
    trials = world.environment.try_many([(SetParam("bricks", "Scale", scale),) for scale in scales], resolution=SMALL)
    assert world.environment.graph is before
    assert max(zip(scales, trials, strict=True), key=lambda pair: pair[1].score)[0] == 4.0
    assert world.ledger.spent["candidates"] == 3
    event = world.log.kinds("search")[-1]
    assert (event.tried, event.ok, event.best) == (3, 3, 1)
    full = world.environment.try_many([(SetParam("bricks", "Scale", 4.0),)], resolution=SMALL, judge="full")[0]
    assert full.evaluation.success
    assert full.score == full.evaluation.reward


def test_a_search_beyond_the_budget_is_cut_and_then_refused(pool, brick_image):
    world = make_world(pool, brick_image, {"candidates": 2})
    trials = world.environment.try_many([actions(*brick(scale)) for scale in (2.0, 3.0, 4.0)], resolution=SMALL)
    assert [trial.ok for trial in trials] == [True, True, False]
    assert "no candidates left" in trials[2].reason
    with pytest.raises(BudgetExhausted) as caught:
        world.environment.try_many([actions(*brick())], resolution=SMALL)
    assert (caught.value.resource, caught.value.limit) == ("candidates", 2)


def test_a_search_with_an_unknown_judge_is_bad_input(world):
    with pytest.raises(BadInput, match="known: none, screen, texture, sketch, full"):
        world.environment.try_many([()], judge="oracle")


def test_a_killed_worker_costs_one_observation(pool, brick_image):
    # Slow enough (seconds) that the kill surely falls into the render.
    world = make_world(pool, brick_image, resolution=512, samples=1024)
    world.play(*brick())
    pool.warm_up()

    def kill() -> None:
        time.sleep(0.7)
        for pid in pool.pids:
            os.kill(pid, 9)

    killer = threading.Thread(target=kill)
    killer.start()
    lost = world.play(RENDER)[0]
    killer.join()
    assert lost.status == "error"
    assert lost.evaluation is None
    assert world.ledger.spent["renders"] == 1
    assert [event.status for event in world.log.kinds("worker_lost")] == ["crashed"]
    assert world.play(SUCCESS)[0].status == "rejected"
    again = make_world(pool, brick_image)
    assert again.play(*brick(), RENDER)[-1].evaluation.success


def test_a_failed_render_never_leaves_the_former_picture_as_evidence(pool, brick_image):
    world = make_world(pool, brick_image)
    world.play(*brick(), RENDER)
    assert world.environment.evaluation.success
    slow = make_world(pool, brick_image, resolution=512, samples=4096, timeout_s=0.5)
    slow.play(*brick())
    slow.environment._judged = (slow.environment.graph_hash, world.environment.evaluation)
    assert slow.play(RENDER)[0].status == "error"
    assert slow.environment.evaluation is None
    assert slow.play(SUCCESS)[0].status == "rejected"
