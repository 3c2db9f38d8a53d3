"""`fit` from the outside: what it writes, refuses, repeats, and how it ends when it is interrupted."""

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from material_agent.cli.app import run
from material_agent.cli.exits import Exit
from material_agent.errors import BadInput
from material_agent.events import read_events
from material_agent.reports.reproduce import command_line

SCRIPT = Path(__file__).resolve().parents[3] / "examples" / "script.json"
PATIENCE_S = 120


def words(folder, *more):
    return ["fit", "checkerboard", "--actor", f"scripted:{SCRIPT}", "--attempts", "1", "-o", str(folder), *more]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run of the scripted actor: the folder, and what the process said."""
    folder = tmp_path_factory.mktemp("fit") / "run"
    shared = ("--memory", "all", "--shared-memory", str(folder.parent / "shared.sqlite"))
    command = words(folder, "--json", "--seed", "3", "--max-renders", "4", *shared)
    said = subprocess.run(
        [sys.executable, "-m", "material_agent.cli", *command], capture_output=True, text=True, check=False
    )
    assert said.returncode == Exit.NOT_ACCEPTED, said.stderr
    return folder, said


@pytest.fixture(scope="module")
def folder(finished):
    return finished[0]


def test_everything_promised_is_in_the_folder(folder):
    result = json.loads((folder / "result.json").read_text())
    assert result["outcome"] == "unfinished"
    assert {"graph", "blend", "script", "comparison", "reference", "events", "result", "report", "maps"} <= set(
        result["files"]
    )
    assert all((folder / path).exists() for path in result["files"].values())


def test_the_json_object_and_the_progress_keep_apart(finished):
    err = finished[1].stderr
    data = json.loads(finished[1].stdout)
    assert data["schema"] == {"name": "material-agent/fit", "version": 1}
    assert data["result"]["limits"]["renders"] == 4
    assert data["result"]["best"]["nodes"] == 5
    assert "attempt 1 of 1" in err
    assert "step 1: A checker of two stones" in err
    assert "time left" in err


def test_a_used_folder_is_refused_and_replaced_only_on_demand(folder, tmp_path, capfd):
    before = (folder / "result.json").read_bytes()
    assert run(words(folder, "--quiet")) == Exit.BAD_INPUT
    assert "run in it" in capfd.readouterr().err
    assert (folder / "result.json").read_bytes() == before


def test_the_report_can_be_rebuilt_from_what_is_there(folder, capfd):
    before = (folder / "report.html").read_bytes()
    (folder / "report.html").unlink()
    assert run(["report", str(folder)]) == Exit.SUCCESS
    assert capfd.readouterr().out.strip() == str(folder / "report.html")
    assert (folder / "report.html").read_bytes() == before


def test_the_command_in_the_report_asks_for_the_same_run(folder, monkeypatch):
    config = read_events(folder / "events.jsonl").events[0].config
    config |= {"start": "studio.blend:Oak: old", "locks": ["color", "grain.Scale"], "only": ["roughness"]}
    asked = []

    def remember(config, **_):
        asked.append(config)
        raise BadInput("far enough")

    monkeypatch.setattr("material_agent.api.fit_material", remember)
    assert run([*shlex.split(command_line(config))[1:], "--quiet"]) == Exit.BAD_INPUT
    assert asked[0].model_dump(mode="json") == config


def test_inspect_tells_how_the_run_ended(folder, capfd):
    assert run(["inspect", str(folder), "--json"]) == Exit.SUCCESS
    data = json.loads(capfd.readouterr().out)
    assert data["kind"] == "run"
    assert data["run"]["outcome"] == "unfinished"
    assert "checks" in {node["id"] for node in data["summary"]["nodes"]}


def test_ctrl_c_ends_promptly_keeps_the_run_and_leaves_nothing_behind(tmp_path):
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "material_agent.cli", "fit", "brick_wall", "--quality", "draft", "-o", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stderr:
            if line.startswith("attempt 1"):
                break
        children = psutil.Process(process.pid).children(recursive=True)
        assert children
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
    assert process.returncode == Exit.INTERRUPTED, err
    assert "Traceback" not in err
    assert "--resume" in out
    _, alive = psutil.wait_procs(children, timeout=10)
    assert not alive
    events = read_events(folder / "events.jsonl").events
    assert events[-1].kind == "run_ended"
    assert events[-1].outcome == "interrupted"
