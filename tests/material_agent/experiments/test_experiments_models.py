"""The bundled plan for a script and a model behind HTTP, and the search for a context whose file `fit` takes."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from agent_world import GIVE_UP, RENDER, brick, noise
from experiment_world import RUN, Here, plan

from material_agent.cli.app import run as command_line
from material_agent.context_config import load_context
from material_agent.errors import BadInput
from material_agent.experiments import load_plan, run_experiment
from renderer import BlenderPool

sys.path.append(str(Path(__file__).resolve().parent.parent / "llm"))
from model_server import KEY, Answer, calls, serving


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return lambda url: monkeypatch.setenv("MATERIAL_AGENT_BASE_URL", url)


def model(body, number):
    """Builds bricks when it is asked to act, and reflects on what it can cite."""
    tools = {tool["function"]["name"] for tool in body.get("tools", ())}
    words = "\n".join(str(message.get("content")) for message in body["messages"])
    if "reflect" in tools:
        cited = words.split("Observation ")[1].split(":")[0]
        figures = json.loads(words.split('<data name="figures">')[1].split("</data>")[0].replace("\\n", ""))
        return Answer(
            calls=[
                (
                    "reflect",
                    {
                        "evidence": [
                            {"observation": cited, "figure": "reward", "value": figures["reward"], "text": "the reward"}
                        ],
                        "scale": {"scale": "macro", "channel": "luma", "cause": "macro (noise)", "scope": "this"},
                        "graph_change": {"text": "bricks", "pattern": {"kind": "node", "type": "ShaderNodeTexBrick"}},
                        "forbidden_op": {"kind": "node", "type": "ShaderNodeTexVoronoi", "role": "macro"},
                    },
                )
            ]
        )
    edits = brick() if "Reflections on earlier attempts" in words else noise()
    if any(message["role"] == "tool" for message in body["messages"]):
        return Answer(calls=calls(GIVE_UP))
    return Answer(text="I build.", calls=calls(*edits, RENDER))


def test_the_reduced_plan_runs_with_a_script_and_a_model_behind_http(pool: BlenderPool, tmp_path: Path, address):
    whole = load_plan("models")
    one = replace(whole, file=whole.file.model_copy(update={"references": whole.file.references[:1], "oracle": False}))
    with serving(model) as server:
        address(server.url)
        found = run_experiment(one, str(tmp_path / "x"), engine=Here(pool))
        asked = len(server.asked)
    assert (found.failed, found.pending) == ((), ())
    assert asked > 0
    units = {(row["arm"], row["actor"]) for row in found.rows}
    assert len(units) == 8
    spoken = [row for row in found.rows if row["actor"] == "openai:local"]
    silent = [row for row in found.rows if row["actor"] != "openai:local"]
    assert all(row["tokens"] > 0 and row["calls"] > 0 for row in spoken)
    assert all(row["tokens"] == 0 for row in silent)
    assert all(row["reward"] is not None for row in found.rows)
    remembered = [row for row in spoken if row["outer"] == "reflexion"]
    assert [row["change_made"] for row in remembered if row["attempt"] == 2] == [True, True]
    assert all(row["change_made"] is None for row in spoken if row["outer"] == "retry")
    # One turn is one call; the reflection between two attempts is one more.
    assert {row["calls"] for row in spoken if row["inner"] == "one_shot" and row["outer"] == "retry"} == {1.0}
    with serving(model) as other:
        address(other.url)  # another port: nothing of a result depends on it
        again = run_experiment(one, str(tmp_path / "x"), engine=Here(pool))
        assert (again.rows, again.kept, other.asked) == (found.rows, 8, [])


def test_the_search_finds_the_better_context_and_fit_takes_it(pool: BlenderPool, tmp_path: Path, capsys):
    arms = {
        "blind": {"run": {"context": {"parts": [], "memory": "none"}}},
        "palette": {"run": {"context": {"parts": ["palette"], "memory": "none"}}},
        "whole": {"run": {"context": {"memory": "none"}}},
    }
    search = {"development": ["brick_wall", "checkerboard"], "held_out": ["brick_long"], "budget": 8}
    run = {**RUN, "inner": "one_shot"}
    looked = plan(arms=arms, references=[], search=search, run=run, name="looked", side=96, oracle=False)
    found = run_experiment(looked, str(tmp_path), engine=Here(pool))
    assert found.chosen is not None
    assert found.chosen.runs <= 8
    means = found.chosen.rungs[0].scores
    assert found.chosen.arm.id == max(means, key=lambda name: means[name]) != "blind"
    assert found.chosen.found is not None and found.chosen.found.references == 1
    chosen = load_context(tmp_path / "context.toml")
    assert chosen == looked.config(found.chosen.arm).context
    assert found.chosen.arm.id in (tmp_path / "report.md").read_text()

    out = tmp_path / "fit"
    words = ["fit", "no_such_reference", "--context", str(tmp_path / "missing.toml"), "-o", str(out)]
    assert command_line(words) == 2
    assert "missing.toml" in capsys.readouterr().err
    words[3] = str(tmp_path / "context.toml")
    assert command_line(words) == 2
    assert "no_such_reference" in capsys.readouterr().err

    with pytest.raises(BadInput, match="at least 6 runs"):
        small = plan(arms=arms, references=[], search={**search, "budget": 5}, run=run, side=96)
        run_experiment(small, str(tmp_path / "small"), engine=Here(pool))
