"""The scripted actor: the example in the repository plays, and a bad script says where it is bad."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graph_api import Finish
from material_agent.actors import AttemptSetup, load_script, script_from_json
from material_agent.budget import Ledger
from material_agent.errors import ActorError, BadInput
from material_agent.react import Brief, Inner, StopRules

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "script.json"


def test_the_example_plays_as_it_is_written(world):
    actor = load_script(EXAMPLE).actor(AttemptSetup(1, 0, Ledger()))
    ended = Inner(world.environment, world.ledger, world.log, StopRules()).run(
        actor, Brief(world.environment.task, None)
    )
    assert (ended.outcome, ended.turns, ended.structure) == ("unfinished", 2, "checks")
    assert {step.observation.status for step in ended.context.history} == {"ok"}
    assert ended.best.evaluation.reward < 0.9  # a floor is no brick wall
    assert world.log.kinds("decision")[0].reason == "A checker of two stones, for a floor"


def test_attempts_beyond_the_last_play_the_last_and_turns_beyond_the_last_are_an_end():
    script = script_from_json({"attempts": [[], [{"actions": [{"op": "finish", "outcome": "unfinished"}]}]]})
    actor = script.actor(AttemptSetup(7, 0, Ledger()))
    assert isinstance(actor.act(None, None).actions[0], Finish)
    with pytest.raises(ActorError, match="after 1 turns"):
        actor.act(None, None)
    with pytest.raises(ActorError, match="after 0 turns"):
        script.actor(AttemptSetup(1, 0, Ledger())).act(None, None)


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ([], "attempts"),
        ({"attempts": []}, "attempts"),
        ({"attempts": [[{"actions": [{"op": "fly"}]}]]}, r"attempts\[0\]\[0\]"),
        ({"attempts": [[{}]]}, r"attempts\[0\]\[0\]"),
        ({"attempts": [["render"]]}, r"attempts\[0\]\[0\]"),
        ({"attempts": [[]], "reflections": [{"id": "r"}]}, "reflection"),
        ({"attempts": [7]}, "attempts"),
        ({"attempts": [[]], "reflections": None}, "reflections"),
    ],
)
def test_a_bad_script_is_bad_input_with_the_place(tmp_path, data, place):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(data))
    with pytest.raises(BadInput, match=place):
        load_script(path)


def test_a_script_that_is_no_json_or_not_there_is_bad_input(tmp_path):
    (tmp_path / "text.json").write_text("render please")
    for path in (tmp_path / "text.json", tmp_path / "none.json"):
        with pytest.raises(BadInput, match="expected a script"):
            load_script(path)
