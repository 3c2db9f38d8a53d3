"""The search that an actor may ask for, against a reference with a known answer."""

from __future__ import annotations

import pytest
from agent_world import RENDER, brick, make_world

from graph_api import ActionRejected
from material_agent.proposals import Tune, proposed_to_json, tune_from_json, tune_schema


def started(pool, image, scale=4.5, **settings):
    made = make_world(pool, image, **settings)
    made.play(*brick(scale))
    return made


def test_it_finds_a_number_that_was_guessed_badly_says_what_moved_and_is_charged(pool, brick_image):
    world = started(pool, brick_image)
    before = world.play(RENDER)[0].evaluation.reward
    seen = world.environment.step(Tune(("bricks.Scale",), "reward", 48))
    assert seen.status == "ok"
    assert seen.changed[0].startswith("bricks.Scale: 4.5 → ")
    assert "reward" in seen.messages[0]
    scale = world.environment.graph.nodes["bricks"].inputs["Scale"]
    assert abs(scale - 4.0) < 0.15  # what the reference was made with
    assert world.play(RENDER)[0].evaluation.reward > before + 0.05
    assert 30 <= world.ledger.spent["candidates"] <= 48
    assert sum(event.tried for event in world.log.kinds("search")) == world.ledger.spent["candidates"]


def test_it_repeats_itself_and_leaves_what_is_not_named(pool, brick_image):
    found = []
    for _ in range(2):
        world = started(pool, brick_image)
        before = world.environment.graph
        world.environment.step(Tune(("bricks.Scale", "principled.Roughness"), "appearance", 16))
        after = world.environment.graph
        changed = {name for name in after.nodes if after.nodes[name] != before.nodes[name]}
        assert changed <= {"bricks", "principled"}
        assert after.links == before.links
        found.append(world.environment.graph_hash)
    assert found[0] == found[1]


def test_values_that_are_right_stay(pool, brick_image):
    world = started(pool, brick_image, scale=4.0)
    seen = world.environment.step(Tune(("bricks.Scale",), "reward", 16))
    assert seen.status == "ok"
    assert seen.changed == ()
    assert "nothing beat the present values" in seen.messages[0]
    assert world.environment.graph.nodes["bricks"].inputs["Scale"] == 4.0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("bricks.Vector", "without a link"),
        ("nowhere.Scale", "the id of a node"),
        ("bricks.Scael", "an input of bricks"),
        ("bricks", "node.Socket"),
        ("mapping.vector_type", "an input of mapping"),
    ],
)
def test_what_cannot_be_searched_is_refused(pool, brick_image, name, said):
    world = started(pool, brick_image)
    seen = world.environment.step(Tune((name,)))
    assert seen.status == "rejected"
    assert said in seen.messages[0]
    assert world.ledger.spent["candidates"] == 0


def test_it_can_be_off(pool, brick_image):
    world = started(pool, brick_image, tune=False)
    seen = world.environment.step(Tune(("bricks.Scale",)))
    assert seen.status == "rejected"
    assert "off" in seen.messages[0]


def test_a_ledger_that_runs_out_ends_the_search_with_what_it_found(pool, brick_image):
    world = make_world(pool, brick_image, {"candidates": 20})
    world.play(*brick(4.5))
    seen = world.environment.step(Tune(("bricks.Scale",), "reward", 200))
    assert seen.status == "ok"
    assert world.ledger.spent["candidates"] <= 20


def test_its_json_reads_back():
    tune = Tune(("a.Scale", "b.Detail"), "structure", 64)
    assert tune_from_json(proposed_to_json(tune)) == tune
    assert tune_from_json({"parameters": "a.Scale"}) == Tune(("a.Scale",))
    assert tune_from_json({"parameters": ["a.Scale"], "budget": "1"}).budget == 16
    assert set(tune_schema()["parameters"]["properties"]) == {"parameters", "goal", "budget"}


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"parameters": []},
        {"parameters": [5]},
        {"parameters": ["a.b"], "goal": "beauty"},
        {"parameters": ["a.b"], "budget": "many"},
        {"parameters": ["a.b"], "budget": float("nan")},
        {"parameters": ["a.b"] * 13},
        {"parameters": ["a.b"], "code": "1"},
    ],
)
def test_other_json_is_refused(data):
    with pytest.raises(ActionRejected):
        tune_from_json(data)
