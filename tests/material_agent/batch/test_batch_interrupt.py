"""Being stopped and being killed: what is left, what survives, and that going on ends where it would have ended."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from dataclasses import replace

import psutil
import pytest
from batch_world import BROKEN, family, picture, settings, started, survivors, until

from material_agent.batch import BatchConfig, Listener, LocalEngine, run_batch
from material_agent.batch.gather import gather
from material_agent.batch.plan import make_plan
from material_agent.batch.runner import TaskRunner
from material_agent.batch.store import open_store
from material_agent.errors import BadInput

SECONDS_TO_STOP = 5.0


@pytest.fixture
def five(tmp_path):
    """Five pictures in a folder."""
    for number in range(5):
        picture(tmp_path / "pictures" / f"p{number}.png", number)
    return tmp_path / "pictures"


def records(out):
    return sorted(path.parent.name for path in (out / "runs").glob("*/task.json")) if (out / "runs").is_dir() else []


def stopped_in_the_third(pictures, out, actor, how):
    """A batch of one task at a time that got a signal in its third, which takes a while: it renders."""
    process = started(pictures, out, actor, "--jobs", "1")
    until((out / "runs" / "p1-png").exists)
    workers = family(process.pid)  # the same for every task, and slow to find
    assert workers
    until((out / "runs" / "p2-png").exists)
    for worker in workers:
        with contextlib.suppress(psutil.NoSuchProcess):
            worker.suspend()  # or a quick one is through before the signal arrives
    process.send_signal(how)
    at = time.monotonic()
    for worker in workers:
        with contextlib.suppress(psutil.NoSuchProcess):
            worker.resume()
    code = process.wait(60)
    assert time.monotonic() - at < SECONDS_TO_STOP
    assert survivors(workers) == []
    assert records(out) == ["p0-png", "p1-png"]
    return code


def test_ctrl_c_ends_a_batch_within_a_moment_and_the_summary_says_what_is_left(five, actor, tmp_path):
    out = tmp_path / "out"
    assert stopped_in_the_third(five, out, actor, signal.SIGINT) == 130
    states = [entry["status"] for entry in json.loads((out / "summary.json").read_text())["references"]]
    assert states == ["not_accepted", "not_accepted", "pending", "pending", "pending"]


def test_a_batch_that_was_killed_does_what_is_left_and_what_is_damaged(five, actor, tmp_path):
    out = tmp_path / "out"
    assert stopped_in_the_third(five, out, actor, signal.SIGKILL) == -signal.SIGKILL
    shown = out / "runs" / "p1-png" / "reference.png"
    shown.write_bytes(shown.read_bytes()[:100])
    answer, said = started(five, out, actor, "--jobs", "1", "--json").communicate(timeout=240)
    done = [line.split()[1] for line in said.splitlines() if line[:1].isdigit() and "/5 " in line]
    assert done == ["p1.png", "p2.png", "p3.png", "p4.png"]
    counts = json.loads(answer)["counts"]
    assert (counts["kept"], counts["pending"], counts["failed"], counts["not_accepted"]) == (1, 0, 0, 5)
    assert len(records(out)) == 5
    assert not list(out.rglob("*.partial*"))


def spec_of(pictures, out, actor, **more):
    asked: BatchConfig = settings([str(pictures)], out, actor, **more)
    store = open_store(asked.out)
    return make_plan(asked, gather(asked.references), store, LocalEngine(1).portion, overwrite=False).tasks[0]


@pytest.mark.parametrize(("losses", "complete", "tries"), [(1, True, 2), (9, False, 2)])
def test_a_worker_that_is_lost_once_costs_a_try_and_twice_the_task(losses, complete, tries, tmp_path, idle):
    picture(tmp_path / "p.png", 1)
    runner, killed, over = TaskRunner(1), set(), threading.Event()

    def kill():
        while not over.wait(0.01):
            if runner.pid not in (None, *killed) and len(killed) < losses:
                killed.add(runner.pid)
                os.kill(runner.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    result = runner.run(spec_of(tmp_path / "p.png", tmp_path / "out", idle), lambda *_: None)
    over.set()
    killer.join()
    runner.close()
    assert (result.complete, result.tries) == (complete, tries)
    if not complete:
        assert (result.kind, len(killed)) == ("crash", 2)
        assert "signal 9" in result.reason
    assert not any(psutil.pid_exists(pid) for pid in killed)


def test_a_task_that_outlives_its_time_is_ended_with_all_that_it_started(tmp_path, actor):
    picture(tmp_path / "p.png", 1)
    spec = spec_of(tmp_path / "p.png", tmp_path / "out", actor)
    runner, seen = TaskRunner(1), []

    def look(task, state):
        if runner.pid is not None:
            seen.extend([*family(runner.pid), psutil.Process(runner.pid)])

    result = runner.run(replace(spec, time_limit_s=1.5), look)
    assert (result.status, result.kind) == ("failed", "time_limit")
    assert "1.5 s" in result.reason
    assert survivors(seen) == []


def test_a_second_batch_into_the_same_folder_is_refused_while_one_is_going_on(tmp_path, idle):
    picture(tmp_path / "p.png", 1)
    out = tmp_path / "out"
    with open_store(str(out)).locked(), pytest.raises(BadInput, match="a batch is going on"):
        run_batch(settings([str(tmp_path / "p.png")], out, idle))


def test_a_consumer_that_fails_leaves_no_worker(tmp_path, pictures, idle):
    class Breaks(RuntimeError):
        pass

    before = {one.pid for one in psutil.Process().children(recursive=True)}

    class Ears(Listener):
        def ended(self, result):
            raise Breaks

    with pytest.raises(Breaks):
        run_batch(settings([str(pictures / name) for name in BROKEN], tmp_path / "out", idle, jobs=2), listener=Ears())
    assert {one.pid for one in psutil.Process().children(recursive=True)} <= before
