"""`batch` from the outside: exit codes, what goes to stdout and what to stderr."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from material_agent.batch import Board, TaskProgress, TaskResult
from material_agent.cli.app import run
from material_agent.cli.batch_progress import pace, table
from material_agent.cli.exits import Exit

TURN = {"reason": "", "actions": [{"op": "finish", "outcome": "unfinished", "reason": "nothing to do"}]}


@pytest.fixture
def folder(tmp_path):
    """A good picture, a bad one and a file that is no picture; a script that ends at once."""
    (tmp_path / "in").mkdir()
    ramp = np.linspace(0, 255, 48).astype(np.uint8)
    Image.fromarray(np.broadcast_to(ramp[:, None], (48, 48))).save(tmp_path / "in" / "good [red].png")
    (tmp_path / "in" / "bad.png").touch()
    (tmp_path / "in" / "notes.txt").touch()
    (tmp_path / "idle.json").write_text(json.dumps({"attempts": [[TURN]]}))
    return tmp_path


def words(folder: Path, *more: str) -> list[str]:
    script = f"scripted:{folder / 'idle.json'}"
    return ["batch", str(folder / "in"), "-o", str(folder / "out"), "--actor", script, "--attempts", "1", *more]


def test_one_object_on_stdout_and_plain_lines_on_stderr(folder, capfd):
    assert run(words(folder, "--json")) == Exit.NOT_ACCEPTED
    said = capfd.readouterr()
    data = json.loads(said.out)
    assert data["schema"]["name"] == "material-agent/batch"
    assert data["counts"] == {
        "references": 2, "accepted": 0, "not_accepted": 1, "failed": 1, "pending": 0, "kept": 0
    }  # fmt: skip
    assert "1 files are no pictures and were left out: notes.txt" in said.err
    assert "bad.png failed: " in said.err
    assert "2/2 " in said.err
    assert run(words(folder, "--quiet")) == Exit.NOT_ACCEPTED
    again = capfd.readouterr()
    assert again.err == ""
    assert "bad.png: " in again.out
    assert str(folder / "out") + "/index.html" in again.out
    assert run(words(folder, "--quiet", "--seed", "3")) == Exit.BAD_INPUT
    assert "seed=3 instead of 0" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("more", "code", "text"),
    [
        (["--address", "auto"], Exit.BAD_INPUT, "--engine ray"),
        (["--actor", "nobody"], Exit.BAD_INPUT, "expected an actor"),
        (["--jobs", "0"], Exit.BAD_INPUT, "--jobs"),
        (["--engine", "slurm"], Exit.BAD_INPUT, "slurm"),
    ],
)
def test_what_cannot_begin_says_so_and_leaves_nothing(folder, more, code, text, capfd):
    assert run(words(folder, *more)) == code
    assert text in capfd.readouterr().err
    assert not (folder / "out").exists()


def test_ray_that_is_not_installed_names_the_command(folder, monkeypatch, capfd):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert run(words(folder, "--engine", "ray")) == Exit.ENVIRONMENT
    assert "pip install 'material-agent[ray]'" in capfd.readouterr().err


def test_the_table_of_a_terminal_has_counts_pace_tasks_and_failures():
    now = [0.0]
    board = Board(10, 2, lambda: now[0])
    board.progress("oak [red]", TaskProgress(2, 3, "searching", 0.75))
    result = {"name": "x", "folder": "runs/x", "id": "x"}
    now[0] = 1800.0
    board.ended(TaskResult(**result, status="accepted"))
    board.ended(TaskResult(**{**result, "name": "bad.png"}, status="failed", reason="is empty"))
    assert (board.left, board.per_hour, board.left_s) == (6, 4.0, 5400.0)
    assert pace(board) == "4 an hour, 1:30:00 left, 1 failed"
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    console.print(table(board))
    text = console.export_text()
    for part in ("4 of 10, 1 accepted, 2 kept", "oak [red]", "attempt 2, step 3", "0.750", "failed: bad.png: is empty"):
        assert part in text
