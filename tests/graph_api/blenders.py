"""The Blenders that tests may ask: the installed module, and those of `make venvs`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SIDE = Path(__file__).with_name("blender_side.py")


@cache
def interpreters() -> dict[str, str]:
    """Blender version ("5.0") to a Python that imports it."""
    found: dict[str, str] = {}
    for python in (sys.executable, *(str(p) for p in sorted(ROOT.glob(".venvs/*/bin/python")))):
        probe = "import bpy, sys; sys.stderr.write('{}.{}'.format(*bpy.app.version))"
        answer = subprocess.run([python, "-c", probe], capture_output=True, text=True, check=False, timeout=120)
        if answer.returncode == 0:
            found.setdefault(answer.stderr.strip().splitlines()[-1], python)
    return found


def run(python: str, *arguments: str) -> str:
    """Run a script in a process of its own; DeprecationWarnings are errors. Returns what it printed."""
    environment = {**os.environ, "PYTHONWARNINGS": "error::DeprecationWarning"}
    done = subprocess.run(
        [python, *arguments], capture_output=True, text=True, check=False, timeout=300, env=environment
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout + done.stderr


def ask(python: str, jobs: list[dict[str, Any]], folder: Path) -> tuple[list[Any], str]:
    """The answers of `blender_side.py`, and what Blender printed."""
    listed, out = folder / "jobs.json", folder / "out.json"
    listed.write_text(json.dumps(jobs), encoding="utf-8")
    said = run(python, str(SIDE), str(out), str(listed))
    return json.loads(out.read_text(encoding="utf-8")), said
