import hashlib
import subprocess
import sys
from pathlib import Path

from references.bundled import bundled

ROOT = Path(__file__).parents[2]


def test_pictures_are_those_of_the_manifest():
    assert len({entry.family for entry in bundled()}) >= 6
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
