"""Experiments as they run: again, killed and resumed, with nothing to find and with a rigged arm."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from experiment_world import REFERENCES, RUN, Here, plan, script

from material_agent.errors import BadInput
from material_agent.experiments import run_experiment
from renderer import BlenderPool

ARMS = {"retry": {"run": {"context": {"memory": "none"}}}, "reflexion": {}}
TESTS = [{"id": "T", "claim": "c", "measure": "reward", "versus": "retry", "to": "reflexion", "primary": True}]


@pytest.fixture
def scripted(tmp_path: Path):
    actor = script(tmp_path)
    return plan(tmp_path, arms=ARMS, actors=[actor], tests=TESTS, run={**RUN, "attempts": 2}, editability=True)


def files(folder: Path) -> dict[str, bytes]:
    names = ("attempts.csv", "experiment.json", "report.md", "attempts.parquet")
    plots = sorted(folder.glob("plots/*.png"))
    return {name: (folder / name).read_bytes() for name in names} | {path.name: path.read_bytes() for path in plots}


def test_a_plan_comes_out_the_same_again_and_after_an_interruption(pool: BlenderPool, scripted, tmp_path: Path):
    first = run_experiment(scripted, str(tmp_path / "a"), engine=Here(pool))
    assert (len(first.rows), first.failed, first.pending) == (8, (), ())
    stopped = run_experiment(scripted, str(tmp_path / "b"), engine=Here(pool, stop_after=1))
    assert (len(stopped.pending), stopped.answers) == (3, ())
    # What a kill in the middle of a unit leaves: files, and no record.
    half = tmp_path / "b" / "runs" / stopped.pending[0]
    half.mkdir(parents=True)
    (half / "events.jsonl").write_text('{"kind": "run_started"')
    again = Here(pool)
    resumed = run_experiment(scripted, str(tmp_path / "b"), engine=again)
    assert (resumed.kept, len(again.done)) == (1, 3)
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert len(files(tmp_path / "a")) >= 7

    rows = [row for row in first.rows if row["arm"] == "reflexion"]
    assert {row["built"] for row in rows} == {"noise", "bricks"}
    assert all(0 < row["reward"] < 1 and row["truth_reward"] is not None and row["valid"] for row in rows)
    assert all(row["editable"] is not None for row in rows if row["attempt"] == 2)
    assert "sha256 " + scripted.sha256 in (tmp_path / "a" / "report.md").read_text()

    changed = plan(tmp_path, arms=ARMS, actors=scripted.file.actors, run={**RUN, "attempts": 2, "max_nodes": 70})
    with pytest.raises(BadInput, match="max_nodes"):
        run_experiment(changed, str(tmp_path / "a"), engine=Here(pool))


def test_killed_processes_change_nothing(pool: BlenderPool, scripted, tmp_path: Path):
    (tmp_path / "plan.toml").write_text(toml_of(scripted))
    command = [sys.executable, "-m", "material_agent.cli", "experiment", str(tmp_path / "plan.toml"), "-j", "1"]
    out = tmp_path / "killed"
    process = subprocess.Popen([*command, "-o", str(out)], stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stderr is not None
    for line in process.stderr:
        if "[1/4]" in line:
            break
    time.sleep(0.3)  # into the next unit
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stderr.close()
    assert len(list(out.glob("runs/*/task.json"))) < 4
    engine = Here(pool)
    run_experiment(scripted, str(out), engine=engine)
    assert 1 <= len(engine.done) <= 3
    run_experiment(scripted, str(tmp_path / "whole"), engine=Here(pool))
    assert files(out) == files(tmp_path / "whole")


def toml_of(scripted) -> str:
    """The plan as a file: JSON's scalars and lists are TOML's, tables are written inline."""

    def inline(value):
        if isinstance(value, dict):
            kept = {key: item for key, item in value.items() if item is not None}
            return "{" + ", ".join(f"{key} = {inline(item)}" for key, item in kept.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(inline(item) for item in value) + "]"
        return json.dumps(value)

    data = scripted.file.model_dump(mode="json", exclude_defaults=True)
    return "".join(f"{key} = {inline(value)}\n" for key, value in data.items())


def test_equal_arms_do_not_differ_and_a_rigged_one_is_found(pool: BlenderPool, tmp_path: Path):
    arms = {"one": {}, "other": {"stream": 1}, "rigged": {"run": {"max_nodes": 10}}}
    tests = [
        {"id": "null", "claim": "none", "measure": "reward", "versus": "one", "to": "other", "primary": True},
        {"id": "rigged", "claim": "worse", "measure": "reward", "versus": "one", "to": "rigged", "primary": True},
    ]
    run = {**RUN, "inner": "one_shot", "context": {"memory": "none"}}
    small = plan(arms=arms, tests=tests, references=list(REFERENCES), run=run, oracle=False)
    found = run_experiment(small, str(tmp_path / "x"), engine=Here(pool))
    verdicts = {answer.test.id: answer.verdict(0.07) for answer in found.answers}
    # Six references: the smallest two-sided p of a sign-flip test is 1/32, and Holm doubles it.
    assert verdicts == {"null": "no difference found", "rigged": "lower"}
    null = found.answers[0].found
    assert null is not None
    assert null.same < null.pairs  # other random streams, so that the check is none of equal numbers
    assert null.low <= 0 <= null.high


def test_a_unit_without_a_result_is_a_failure_and_a_photograph_has_no_truth(
    pool: BlenderPool, brick_file: Path, tmp_path: Path
):
    actor = script(tmp_path)
    shutil.copy(brick_file, tmp_path / "photo.png")
    broken = plan(tmp_path, actors=[actor], arms={"a": {}, "b": {}}, references=["photo.png"], tests=[])
    out = tmp_path / "out"

    class Breaks(Here):
        def run(self, specs, listen):
            for result in super().run(specs, listen):
                lost = result.id.endswith(".b")
                yield result.model_copy(update={"status": "failed", "kind": "crash"}) if lost else result

    found = run_experiment(broken, str(out), engine=Breaks(pool))
    assert len(found.failed) == 1
    (known,) = [row for row in found.rows if row["arm"] == "a"]
    assert known["reward"] is not None
    assert (known["truth_reward"], known["false_positive"]) == (None, None)
    lost = [row for row in found.rows if row["arm"] == "b"]
    assert [(row["status"], row["cum_success"], row["selected_reward"]) for row in lost] == [("failed", False, 0.0)]
    assert "count as failures" in (out / "report.md").read_text()
