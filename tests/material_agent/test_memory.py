"""Memory: what is offered, what is withdrawn, and two processes that write at once."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from agent_reflections import reflection

from material_agent.errors import BadInput
from material_agent.memory import Memory, Origin, OutcomeRecord

ROOT = Path(__file__).resolve().parents[2]


def remember(memory, name, run="run", attempt=1, **origin):
    memory.add(replace(reflection(), id=name), Origin(run, attempt, "ref", **origin))


def ids(found):
    return [item.reflection.id for item in found]


def outcome(name, run, *, hurt, attempt=2):
    return OutcomeRecord(name, run, attempt, True, True, 0.5, 0.4 if hurt else 0.6, hurt)


@pytest.fixture
def memory(tmp_path):
    return Memory(tmp_path / "deep" / "memory.sqlite")


def test_windows_take_the_last_one_three_or_all(memory):
    for number in range(5):
        remember(memory, f"r{number}", attempt=number + 1)
    assert ids(memory.recall("1", "run")) == ["r4"]
    assert ids(memory.recall("3", "run")) == ["r2", "r3", "r4"]
    assert ids(memory.recall("all", "run")) == ["r0", "r1", "r2", "r3", "r4"]


def test_retrieval_goes_by_the_likeness_of_the_reference_and_the_failure(memory):
    remember(memory, "grass", features=(0.1, 0.9, 0.2), label="planning")
    remember(memory, "brick", features=(0.9, 0.1, 0.8), label="loop")
    remember(memory, "tiles", features=(0.8, 0.2, 0.9), label="argument")
    remember(memory, "strange", features=())
    assert ids(memory.recall("retrieved", "run", (0.9, 0.1, 0.82)))[-1] == "brick"
    assert ids(memory.recall("retrieved", "run", (0.85, 0.15, 0.85), "argument"))[-1] == "tiles"
    assert "strange" not in ids(memory.recall("retrieved", "run", (0.9, 0.1, 0.8)))


def test_of_other_runs_only_what_came_of_a_similar_reference_is_retrieved(memory):
    for run in ("run", "other"):
        remember(memory, f"{run}, near", run=run, features=(0.5, 0.5, 0.5))
        remember(memory, f"{run}, far", run=run, features=(0.9, 0.1, 0.9))
    assert set(ids(memory.recall("retrieved", "run", (0.55, 0.45, 0.5)))) == {"run, near", "run, far", "other, near"}
    assert len(memory.recall("all", "run")) == 4


def test_a_memory_can_be_carried_into_another_and_twice_changes_nothing(memory, tmp_path):
    for number in range(4):
        remember(memory, f"r{number}", run="here" if number % 2 else "there", attempt=number)
    memory.record(outcome("r1", "here", hurt=True))
    other = Memory(tmp_path / "other.sqlite")
    for _ in range(2):
        other.put(json.loads(json.dumps(memory.rows())))
        assert [item.origin for item in other.recall("all", "new")] == [
            item.origin for item in memory.recall("all", "new")
        ]
        assert ids(other.recall("all", "here")) == ids(memory.recall("all", "here")) == ["r0", "r2", "r3"]
    assert [row[0] for row in memory.rows(run="here")["reflections"]] == ["r1", "r3"]
    assert [row[0] for row in memory.rows(newest=2)["reflections"]] == ["r2", "r3"]


def test_what_hurt_is_not_offered_again_in_its_run_and_the_window_closes_up(memory):
    for number in range(4):
        remember(memory, f"r{number}")
    memory.record(outcome("r3", "run", hurt=True))
    memory.record(outcome("r2", "run", hurt=False))
    assert ids(memory.recall("3", "run")) == ["r0", "r1", "r2"]


def test_shared_memory_retires_what_hurt_a_second_time(memory):
    remember(memory, "r", run="first")
    memory.record(outcome("r", "first", hurt=True))
    assert ids(memory.recall("all", "second")) == ["r"]
    memory.record(outcome("r", "second", hurt=True))
    assert memory.retired("r")
    assert ids(memory.recall("all", "third")) == []


def test_repeating_an_attempt_changes_nothing_twice(memory):
    remember(memory, "r1", attempt=1)
    remember(memory, "r2", attempt=2)
    memory.record(outcome("r1", "run", hurt=True, attempt=2))
    memory.record(outcome("r1", "run", hurt=True, attempt=2))
    assert not memory.retired("r1")
    memory.forget_from("run", 2)
    assert ids(memory.recall("all", "run")) == ["r1"]


def test_a_reflection_comes_back_as_it_was(memory):
    whole = replace(reflection(), id="r")
    memory.add(whole, Origin("run", 3, "ref", (0.5, 0.25), "loop", 0.125))
    found = Memory(memory.path).recall("all", "other")[0]
    assert found.reflection == whole
    assert found.origin == Origin("run", 3, "ref", (0.5, 0.25), "loop", 0.125)


def test_a_file_that_is_no_memory_is_bad_input(tmp_path):
    (tmp_path / "notes.sqlite").write_text("not a database, but long enough to be looked at " * 40)
    with pytest.raises(BadInput, match="memory database"):
        Memory(tmp_path / "notes.sqlite")


WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
sys.path[:0] = [{tests!r}, {root!r}]
from agent_reflections import reflection
from material_agent.memory import Memory, Origin
memory = Memory(Path({path!r}))
for number in range(25):
    memory.add(replace(reflection(), id=f"{name}{{number}}"), Origin({name!r}, number, "ref"))
"""


def test_two_runs_write_at_once_and_nothing_is_lost(tmp_path):
    path = tmp_path / "shared.sqlite"
    tests = str(Path(__file__).parent)
    scripts = [WRITER.format(tests=tests, root=str(ROOT), path=str(path), name=name) for name in ("a", "b")]
    running = [subprocess.Popen([sys.executable, "-c", script]) for script in scripts]
    assert [process.wait(60) for process in running] == [0, 0]
    assert len(Memory(path).recall("all", "c")) == 50
