"""Build the Blender extension into a zip with Blender's own tool, and let its validator judge the zip.

The extension holds a wheel with `graph_api` and `renderer`, which need nothing but Blender's Python. The wheel and the
zip do not depend on the clock. Prints the path of the zip.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("graph_api", "renderer")
EPOCH = (1980, 1, 1, 0, 0, 0)
# The preview needs Dr.Jit, which Blender does not have.
LEFT_OUT = ("renderer/preview",)


def blender_tool() -> Path:
    """Blender's command for extensions, a script of plain Python inside the bpy package."""
    spec = importlib.util.find_spec("bpy")
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    tool = "*/scripts/addons_core/bl_pkg/cli/blender_ext.py"
    found = [path for folder in folders for path in Path(folder).glob(tool)]
    if not found:
        raise SystemExit("expected the bpy package with Blender's extension tool, got none; pip install bpy")
    return found[0]


def files() -> dict[str, bytes]:
    """What the wheel holds, by path."""
    held = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.is_file() and "__pycache__" not in name and not name.startswith(LEFT_OUT):
                held[name] = path.read_bytes()
    return held


def write_wheel(folder: Path, name: str) -> None:
    """A pure-Python wheel; the format is that of PEP 427."""
    distribution, version = name.split("-")[:2]
    info = f"{distribution}-{version}.dist-info"
    held = files()
    held[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {distribution.replace('_', '-')}\nVersion: {version}\n"
        "Summary: The parts of material-agent that run inside Blender\n"
    ).encode()
    held[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: material-agent\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = [f"{path},sha256={_digest(data)},{len(data)}" for path, data in held.items()]
    held[f"{info}/RECORD"] = ("\n".join([*record, f"{info}/RECORD,,"]) + "\n").encode()
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in held.items():
            wheel.writestr(zipfile.ZipInfo(path, EPOCH), data, zipfile.ZIP_DEFLATED)


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def build(out: Path) -> Path:
    """Build and validate; returns the zip. Raises SystemExit with what Blender's tool says."""
    manifest = tomllib.loads((ROOT / "extension" / "blender_manifest.toml").read_text(encoding="utf-8"))
    target = out / f"{manifest['id']}-{manifest['version']}.zip"
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        staged = Path(temporary) / manifest["id"]
        shutil.copytree(ROOT / "extension", staged, ignore=shutil.ignore_patterns("__pycache__"))
        for wheel in manifest["wheels"]:
            write_wheel(staged / "wheels", Path(wheel).name)
        _run("build", "--source-dir", str(staged), "--output-filepath", str(target.resolve()))
    _run("validate", str(target.resolve()))
    return target


def _run(*arguments: str) -> None:
    command = [sys.executable, str(blender_tool()), *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    sys.stderr.write(run.stdout)
    if run.returncode:
        raise SystemExit(f"Blender's extension tool refused to {arguments[0]}: {run.stdout}{run.stderr}")


def main() -> None:
    """Build into `--out`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder of the zip")
    sys.stdout.write(f"{build(parser.parse_args().out)}\n")


if __name__ == "__main__":
    main()
