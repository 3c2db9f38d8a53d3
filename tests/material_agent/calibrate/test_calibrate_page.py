"""The page on the evaluator has the figures of the committed weights, and those keep to their limits."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MADE_BY = json.loads((ROOT / "evaluators" / "weights" / "default.json").read_text(encoding="utf-8"))["made_by"]


def test_the_page_has_the_figures_of_the_weights():
    command = [sys.executable, str(ROOT / "scripts" / "evaluator_figures.py"), "--check"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout


def test_the_weights_say_how_they_were_made():
    assert MADE_BY["command"].startswith("material-agent calibrate")
    assert MADE_BY["date"] and MADE_BY["graphs"] and MADE_BY["photographs"]


@pytest.mark.parametrize("size", ["256"])
def test_the_decision_is_no_worse_than_published_on_families_held_out(size):
    figures = MADE_BY["figures"][size]
    found = figures["held_out"]
    assert found["wrong_count"] >= 300
    assert found["hard_count"] >= found["wrong_count"] / 2
    assert found["pass_given_wrong_upper95"] <= 0.04
    assert found["fail_given_right"] <= 0.16
    assert figures["order"]["agreement"] >= 0.95
