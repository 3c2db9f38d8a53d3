"""Reflections by a model and for a model: validated like anybody's, in both directions."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from agent_runs import config
from agent_world import GIVE_UP, RENDER, noise
from model_server import Answer, calls, serving, text_of
from test_llm_fits import MODEL, fit

from material_agent.api import LLMSettings, fit_material
from material_agent.events import read_events

BAN = {"kind": "node", "type": "ShaderNodeTexNoise", "role": "macro", "reason": "no lattice"}


def fields(reward: object, observation: str) -> dict[str, Any]:
    return {
        "evidence": [{"observation": observation, "figure": "reward", "value": reward, "text": "the best reward"}],
        "scale": {"scale": "macro", "channel": "luma", "cause": "macro branch (noise)", "scope": "this reference"},
        "graph_change": {"text": "use bricks", "pattern": {"kind": "node", "type": "ShaderNodeTexBrick"}},
        "forbidden_op": BAN,
    }


def reflections(out):
    return [event for event in read_events(out / "events.jsonl").events if event.kind == "reflection"]


def script(path):
    turns = [{"actions": [*noise(), RENDER, GIVE_UP], "reason": "noise", "structure": "noise"}]
    path.write_text(json.dumps({"attempts": [turns, turns]}))
    return f"scripted:{path}"


@pytest.mark.parametrize("tools", [True, False])
def test_a_model_reflects_for_another_actor_and_a_refused_reflection_is_asked_for_again(
    pool, brick_file, tmp_path, tools
):
    def play(body: dict[str, Any], number: int) -> Answer:
        words = text_of(body)
        observation = re.search(r"Observation (a1\.o\d+):", words).group(1)
        reward = re.search(r'"reward": ([\d.]+)', words).group(1)
        if number == 0:
            return Answer(calls=[("reflect", fields(0.999, observation))]) if tools else Answer("I would try harder.")
        assert "Your reflection was refused" in words
        made = fields(reward, observation)  # a number as text, as weak models write it
        return Answer(calls=[("reflect", made)]) if tools else Answer(f"Here it is:\n{json.dumps(made)}")

    with serving(play) as server:
        result = fit_material(
            config(brick_file, tmp_path / "run", attempts=2, report_resolution=64),
            actor=script(tmp_path / "script.json"),
            reflector=MODEL,
            models=LLMSettings(base_url=server.url, native_tools=tools),
            renderer=pool,
        )
    assert result.reflector == MODEL
    assert len(server.asked) == 2
    refused, accepted = reflections(tmp_path / "run")
    assert not refused.accepted
    assert ("expected reward =" if tools else "expected one JSON object") in refused.reasons[0]
    assert accepted.accepted, accepted.reasons
    assert accepted.reflection["forbidden_op"]["type"] == "ShaderNodeTexNoise"
    assert result.spent["calls"] == 2
    # The ban binds the next attempt, whoever acts in it.
    second = [event for event in read_events(tmp_path / "run/events.jsonl").events if event.attempt == 2]
    assert any(event.kind == "observation" and "banned" in " ".join(event.messages) for event in second)


def test_the_built_in_reflector_serves_a_model(pool, brick_file, tmp_path):
    def play(body: dict[str, Any], number: int) -> Answer:
        return Answer(calls=calls(*(noise() if number == 0 else []), RENDER, GIVE_UP))

    with serving(play) as server:
        result = fit(pool, brick_file, tmp_path, server, attempts=2, report_resolution=64)
    assert result.reflector == "builtin"
    (made,) = reflections(tmp_path)
    assert made.accepted, made.reasons
    words = text_of(server.asked[1])
    assert "This is attempt 2" in words
    assert made.reflection["graph_change"]["text"] in words
    assert "Banned: " in words
