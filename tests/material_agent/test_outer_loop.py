"""Attempts with memory between them: bans hold, uptake is measured, what hurt is dropped. Real Blender."""

from __future__ import annotations

from agent_reflections import reflection
from agent_runs import GIVE_UP, RENDER, SUCCESS, Bans, Plays, brick, config, noise

from material_agent.events import read_events
from material_agent.fit import run_fit
from material_agent.memory import GraphChange

NOISE, BRICK = "ShaderNodeTexNoise", "ShaderNodeTexBrick"


def run(pool, reference, out, plays, reflector, **settings):
    result = run_fit(config(reference, out, **settings), actor_factory=plays, reflector=reflector, renderer=pool)
    return result, read_events(out / "events.jsonl").events


def of_kind(events, kind, attempt=None):
    return [event for event in events if event.kind == kind and attempt in (None, event.attempt)]


def test_a_ban_holds_in_the_next_attempt_and_the_reflection_that_helped_stays(pool, brick_file, tmp_path):
    plays = Plays([[*noise(), RENDER, GIVE_UP], [*noise(), *brick(), RENDER, SUCCESS]])
    result, events = run(pool, brick_file, tmp_path, plays, Bans(NOISE, BRICK))

    assert [one.accepted for one in of_kind(events, "reflection")] == [True]
    second = [(event.op, event.status) for event in of_kind(events, "observation", 2)]
    assert second[1] == ("add_node", "rejected")
    assert ("finish", "ok") in second
    (uptake,) = of_kind(events, "uptake")
    assert (uptake.change_made, uptake.ban_respected, uptake.helped, uptake.demoted) == (True, True, True, False)
    assert plays.contexts[1].memory[0].forbidden_op.type == NOISE
    assert plays.contexts[1].constraints.bans == (plays.contexts[1].memory[0].forbidden_op,)

    assert result.outcome == "success"
    assert result.exit_code == 0
    assert [attempt.outcome for attempt in result.attempts] == ["unfinished", "success"]
    assert result.best.attempt == 2


def test_a_reflection_that_hurt_is_demoted_and_its_ban_falls(pool, brick_file, tmp_path):
    plays = Plays(
        [
            [*brick(5.0), RENDER, GIVE_UP],
            [*brick(5.0)[:1], *noise(), RENDER, GIVE_UP],
            [*brick(), RENDER, SUCCESS],
        ],
        ["bricks", "noise", "bricks"],
    )
    result, events = run(pool, brick_file, tmp_path, plays, Bans(BRICK, NOISE))

    assert of_kind(events, "observation", 2)[1].status == "rejected"
    (uptake, *_) = of_kind(events, "uptake")
    assert (uptake.helped, uptake.demoted) == (False, True)
    ids = [one.reflection["id"] for one in of_kind(events, "reflection") if one.accepted]
    assert uptake.reflection == ids[0]
    assert ids[0] not in of_kind(events, "attempt_started", 3)[0].memory
    third = plays.contexts[2]
    assert ids[0] not in [one.id for one in third.memory]
    assert third.state.force_new_structure
    assert third.state.tried == ("bricks", "noise")
    assert len(result.attempts) == 3


def test_a_reflection_without_substance_is_asked_for_once_more_and_then_dropped(pool, brick_file, tmp_path):
    class Vague:
        name = "vague"
        asked = ()

        def reflect(self, context, outcome, label):
            self.asked = (*self.asked, outcome)
            return reflection(evidence=(), graph_change=GraphChange("be more careful"))

    vague = Vague()
    plays = Plays([[*noise(), RENDER, GIVE_UP]])
    _, events = run(pool, brick_file, tmp_path, plays, vague, attempts=2)
    refused = of_kind(events, "reflection")
    assert [one.accepted for one in refused] == [False, False]
    assert "words alone change nothing" in " ".join(refused[0].reasons)
    assert "refused" in vague.asked[1]
    assert of_kind(events, "attempt_started", 2)[0].memory == ()


def test_every_attempt_starts_from_the_start_graph_with_a_fresh_actor(pool, brick_file, tmp_path):
    plays = Plays([[*noise(), RENDER, GIVE_UP]])
    run(pool, brick_file, tmp_path, plays, None)
    starts = [context.state.graph for context in plays.contexts]
    assert len(starts) == 3
    assert starts[0] == starts[1] == starts[2]
    assert all(not context.history and context.state.best_reward is None for context in plays.contexts)


def test_the_share_leaves_as_much_to_the_attempts_that_follow(pool, brick_file, tmp_path):
    plays = Plays([[*noise(), RENDER, GIVE_UP]])
    run(pool, brick_file, tmp_path, plays, None, limits={"candidates": 300, "renders": 30})
    shares = [context.state.share for context in plays.contexts]
    assert [share["candidates"] for share in shares] == [100, 150, 300]
    assert [round(share["renders"], 6) for share in shares] == [10, 14.5, 28]
