import hashlib
import math
import subprocess
import sys
from pathlib import Path

import pytest

from references.analysis import STRUCTURES
from references.bundled import bundled
from references.synthetic import direction_error_deg, lattice_error

ROOT = Path(__file__).parents[2]


def test_pictures_are_those_of_the_manifest():
    assert len(bundled()) >= 32
    assert len({entry.family for entry in bundled()}) >= 10
    assert {entry.structure for entry in bundled()} == set(STRUCTURES)
    for entry in bundled():
        assert hashlib.sha256(entry.image.read_bytes()).hexdigest() == entry.image_sha256
        assert hashlib.sha256(entry.twin.read_bytes()).hexdigest() == entry.twin_sha256
        assert entry.image_sha256 != entry.twin_sha256


def test_graphs_are_those_of_the_recipes():
    command = [sys.executable, str(ROOT / "scripts" / "make_references.py"), "--check"]
    done = subprocess.run(
        command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_lattices_agree_in_any_basis_and_only_then():
    square = [[0.1, 0.0], [0.0, 0.1]]
    assert lattice_error([[0.1, 0.1], [0.0, -0.1]], square) == pytest.approx(0, abs=1e-9)
    assert lattice_error([[0.102, 0.0], [0.0, 0.1]], square) == pytest.approx(0.02)
    assert lattice_error([[0.2, 0.0], [0.0, 0.1]], square) == math.inf
    assert lattice_error([[0.05, 0.05], [0.05, -0.05]], square) == math.inf
    assert direction_error_deg(math.radians(178), 1) == pytest.approx(3)


def test_what_the_manifest_says_of_a_turned_reference():
    """A Mapping that turns the coordinates by 0.35 rad turns the picture the other way."""
    slanted = next(entry for entry in bundled() if entry.id == "brick_slanted")
    assert slanted.direction_deg == pytest.approx(180 - math.degrees(0.35), abs=0.01)
    assert slanted.lattice is not None
    (dx, dy), _ = slanted.lattice
    assert math.hypot(dx, dy) == pytest.approx(0.2, abs=1e-4)
    assert math.atan2(dy, dx) == pytest.approx(0.35, abs=1e-3)
