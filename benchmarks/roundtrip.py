"""Materials of every kind through import and export, in each Blender that is installed.

    python benchmarks/roundtrip.py [--quick]

`tests/renderer/material_zoo.py` writes one material for each node type and two dozen special ones with Blender itself;
each is read as a graph, written again, and both are rendered. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

# When run, Python puts this folder first, where renderer.py would hide the package of its name.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _report import finish, table

ROOT = Path(__file__).resolve().parent.parent
SIDE = ROOT / "tests" / "renderer" / "roundtrip_side.py"
TOLERANCE = 1e-4
LISTED = ("left out", "does not use nodes")


def measure(python: str) -> dict[str, dict[str, object]]:
    """What came of each material in the Blender that `python` imports."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [python, str(SIDE), str(answer), folder, str(ROOT)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if not answer.is_file():
            raise SystemExit(f"{python}: {run.stderr[-2000:]}")
        told: dict[str, dict[str, object]] = json.loads(answer.read_text(encoding="utf-8"))
        return told


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the installed Blender only")
    quick = parser.parse_args().quick
    pythons = {"installed": sys.executable}
    pythons |= {} if quick else {p.parts[-3]: str(p) for p in sorted(ROOT.glob(".venvs/*/bin/python"))}
    rows, share, fewest = [], 1.0, 10**6
    for name, python in pythons.items():
        told = measure(python)
        equal = [n for n, one in told.items() if float(str(one["difference"])) <= TOLERANCE]
        silent = [n for n in told if n not in equal and not any(w in str(told[n]["messages"]) for w in LISTED)]
        rows.append((name, len(told), len(equal), len(told) - len(equal) - len(silent), len(silent)))
        share, fewest = min(share, 1 - len(silent) / len(told)), min(fewest, len(told))
    table(("Blender", "materials", "equal", "named", "silent"), rows)
    figures = {"equal_or_named": share, "materials": fewest}
    return finish("roundtrip", figures, {"equal_or_named": 1.0, "materials": 40}, packages=("bpy",))


if __name__ == "__main__":
    sys.exit(main())
