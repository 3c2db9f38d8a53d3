"""What this environment has for rendering, and how to get what it lacks; `doctor` prints it."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from renderer.missing import explain_import_error, missing_libraries, package_for

TIMEOUT_S = 60.0
_REPORT = """
import json, os, sys
os.dup2(2, 1)
import bpy
types = {}
preferences = bpy.context.preferences.addons["cycles"].preferences
for kind, *_ in preferences.get_device_types(bpy.context):
    if kind != "NONE":
        types[kind] = [device.name for device in preferences.get_devices_for_type(kind) if device.type == kind]
with open(sys.argv[1], "w") as out:
    json.dump({"version": bpy.app.version_string, "devices": types}, out)
    out.flush()
os._exit(0)
"""


@dataclass(frozen=True)
class Check:
    """One thing looked at: `fix` is the exact command that repairs it, empty when `ok` or when none is known."""

    name: str
    ok: bool
    text: str
    fix: str = ""


def library_check(ldd_output: str) -> Check:
    """The system libraries that `ldd` did not find, with their Debian packages."""
    missing = missing_libraries(ldd_output)
    if not missing:
        return Check("system libraries", True, "all found")
    packages = sorted({package for name in missing if (package := package_for(name)) is not None})
    fix = f"apt-get install -y {' '.join(packages)}" if packages else ""
    return Check("system libraries", False, f"missing: {', '.join(missing)}", fix)


def blender_module() -> Path | None:
    """The shared object of the bpy package, found without importing it."""
    spec = importlib.util.find_spec("bpy")
    if spec is None or not spec.submodule_search_locations:
        return None
    return next(Path(next(iter(spec.submodule_search_locations))).glob("__init__*.so"), None)


def probe() -> list[Check]:
    """Look at the Blender package, its system libraries, its version and its devices. Takes about a second."""
    if importlib.util.find_spec("bpy") is None:
        return [Check("blender", False, "the Python package bpy is not installed", "pip install bpy")]
    return [*_libraries(), *_blender()]


def _libraries() -> list[Check]:
    module, ldd = blender_module(), shutil.which("ldd")
    if module is None or ldd is None:
        return []
    run = subprocess.run([ldd, str(module)], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    return [library_check(run.stdout)]


def _blender() -> list[Check]:
    """Version and devices, asked in a process of its own: a broken bpy can abort the one that imports it."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        try:
            run = subprocess.run(
                [sys.executable, "-P", "-c", _REPORT, str(report)],
                capture_output=True, text=True, timeout=TIMEOUT_S, check=False, cwd=folder, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return [Check("blender", False, f"did not start within {TIMEOUT_S:g} s")]
        if not report.exists():
            last = (run.stderr.strip().splitlines() or [f"ended with exit code {run.returncode}"])[-1]
            return [Check("blender", False, explain_import_error(last))]
        data = json.loads(report.read_text(encoding="utf-8"))
    present = [f"{kind}: {', '.join(names)}" for kind, names in data["devices"].items() if names]
    return [
        Check("blender", True, f"bpy {data['version']}"),
        Check("devices", True, "; ".join(["CPU", *present]) if present else "CPU only"),
    ]
