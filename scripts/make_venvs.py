"""Build one bpy-only virtual environment per supported Blender that the current environment does not hold.

Each environment is `.venvs/NAME` and holds `bpy` alone: enough to dump a catalog (`scripts/dump_catalog.py`) and to
compare it with the committed file. Run by `make venvs`; an environment that already imports its Blender is left as is.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Wanted:
    """A Blender to install: its series, the pip requirement, and the only Python its wheels are built for."""

    name: str
    series: str
    requirement: str
    python: str


WANTED = (
    Wanted("bpy-4.5", "4.5", "bpy~=4.5.0", "3.11"),
    Wanted("bpy-5.0", "5.0", "bpy~=5.0.0", "3.11"),
    Wanted("bpy-newest", "", "bpy>=5.1", "3.13"),
)


def candidates(version: str) -> Iterator[Path]:
    """Interpreters that may be Python `version`: this one, those on PATH, and those of pyenv and uv."""
    yield Path(sys.executable)
    found = shutil.which(f"python{version}")
    if found:
        yield Path(found)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob(f"versions/{version}*/bin/python"), reverse=True)
    data = Path(os.environ.get("XDG_DATA_HOME", Path.home() / ".local" / "share"))
    yield from sorted(data.glob(f"uv/python/cpython-{version}*/bin/python3"), reverse=True)


def find_python(version: str) -> Path | None:
    """The first interpreter that says it is Python `version` and can make environments."""
    probe = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    for path in candidates(version):
        # pyenv's shims exit non-zero for a version that is not selected, so existing is not enough.
        answer = subprocess.run([path, "-c", probe], capture_output=True, text=True, check=False)
        if answer.returncode == 0 and answer.stdout.strip() == version:
            return path
    return None


def blender_of(python: Path | str) -> str:
    """Version of the Blender that an interpreter imports, such as "5.0.1"; empty without one."""
    code = "import bpy, sys; sys.stderr.write('\\n{}.{}.{}'.format(*bpy.app.version))"
    answer = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return answer.stderr.split()[-1] if answer.returncode == 0 else ""


def build(wanted: Wanted, folder: Path) -> str:
    """Make the environment and return one line that says what happened; raises CalledProcessError when pip fails."""
    target = folder / wanted.name
    python = target / "bin" / "python"
    if python.exists() and (found := blender_of(python)):
        return f"{wanted.name}: ready ({found})"
    own = blender_of(sys.executable)
    if wanted.series and own.startswith(f"{wanted.series}."):
        return f"{wanted.name}: ready ({own}, in the environment that runs this)"
    interpreter = find_python(wanted.python)
    if interpreter is None:
        return f"{wanted.name}: skipped, expected Python {wanted.python}, found none (install it and run again)"
    subprocess.run([interpreter, "-m", "venv", "--clear", target], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", wanted.requirement], check=True)
    found = blender_of(python)
    return f"{wanted.name}: built ({found})" if found else f"{wanted.name}: skipped, installed but import bpy fails"


def main() -> int:
    """Build what is wanted; 0 when every environment is ready, 3 when an interpreter or a package is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which ones (default: all of {', '.join(w.name for w in WANTED)})")
    parser.add_argument("--folder", type=Path, default=ROOT / ".venvs")
    options = parser.parse_args()
    known = {wanted.name: wanted for wanted in WANTED}
    unknown = sorted(set(options.names) - set(known))
    if unknown:
        parser.error(f"expected names of environments, got {', '.join(unknown)}; known: {', '.join(known)}")
    complete = True
    for name in options.names or known:
        try:
            line = build(known[name], options.folder)
        except subprocess.CalledProcessError as error:
            wanted = known[name].requirement
            line = f"{name}: skipped, expected {wanted} to install and import, got exit {error.returncode}"
        complete &= "skipped" not in line
        print(line, flush=True)
    return 0 if complete else 3


if __name__ == "__main__":
    raise SystemExit(main())
