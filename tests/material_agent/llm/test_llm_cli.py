"""A model from the command line: interrupted in the middle of an answer, and without what it needs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import psutil
from model_server import KEY, Answer, in_turn, serving

from material_agent.cli.app import run
from material_agent.cli.exits import Exit
from material_agent.events import read_events

PATIENCE_S = 60


def test_ctrl_c_while_the_model_thinks_ends_promptly_and_leaves_nothing_behind(brick_file, tmp_path):
    out = tmp_path / "run"
    with serving(in_turn(Answer("late", delay_s=300.0))) as server:
        command = [sys.executable, "-m", "material_agent.cli", "fit", str(brick_file), "-o", str(out)]
        command += ["--actor", "openai:slow", "--base-url", server.url, "--jobs", "1", "--quiet"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ)
        try:
            for _ in range(PATIENCE_S * 10):
                if server.asked or process.poll() is not None:
                    break
                time.sleep(0.1)
            assert server.asked, process.communicate()[1]
            assert KEY not in " ".join(psutil.Process(process.pid).cmdline())
            children = psutil.Process(process.pid).children(recursive=True)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert process.returncode == Exit.INTERRUPTED, err
    assert "Traceback" not in err
    _, alive = psutil.wait_procs(children, timeout=10)
    assert not alive
    assert read_events(out / "events.jsonl").events[-1].outcome == "interrupted"


def test_a_missing_key_is_said_before_anything_starts(tmp_path, capfd):
    assert run(["fit", "brick_wall", "--actor", "openai:gpt-5", "-o", str(tmp_path / "run")]) == Exit.BAD_INPUT
    assert "OPENAI_API_KEY" in capfd.readouterr().err
    assert not (tmp_path / "run").exists()


def test_both_tapes_at_once_are_refused(tmp_path, capfd):
    words = ["fit", "brick_wall", "--actor", "openai:x", "--record", "a", "--replay", "b", "-o", str(tmp_path / "run")]
    assert run(words) == Exit.BAD_INPUT
    assert "one of record and replay" in capfd.readouterr().err


def test_the_core_runs_without_the_extras():
    code = (
        "import sys\n"
        "absent = ('pydantic_ai', 'openai', 'genai_prices', 'keyring', 'mcp', 'uvicorn', 'anyio')\n"
        "sys.modules.update(dict.fromkeys(absent))\n"  # importing one of them fails now
        "from material_agent.api import cast_for, fit_material\n"
        "import material_agent.cli.app\n"
        "print(cast_for('builtin').reflector.name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "builtin"
