"""The page of the built-in actor has the figures of the committed records."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_has_the_figures_of_the_records() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "fidelity_figures.py"), "--check"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
