"""An environment that lacks something says what, in one line, with the command (case B1)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from renderer.missing import debian_packages, explain_import_error, missing_libraries
from renderer.probe import blender_module, library_check, probe

HERE = Path(__file__).parent
LOADER = "ImportError: libXrender.so.1: cannot open shared object file: No such file or directory"
LDD = """
	libXi.so.6 => not found
	libc.so.6 => /lib/libc.so.6 (0x1)
	libSM.so.6 => not found
	libGL.so.1 => not found
"""


def test_the_loaders_complaint_becomes_library_and_package() -> None:
    line = explain_import_error(LOADER)
    assert "libXrender.so.1" in line and "apt-get install libxrender1" in line
    assert "\n" not in line


def test_ldd_becomes_one_command() -> None:
    assert missing_libraries(LDD) == ["libXi.so.6", "libSM.so.6", "libGL.so.1"]
    check = library_check(LDD)
    assert not check.ok
    assert check.fix == "apt-get install -y libgl1 libsm6 libxi6"
    assert library_check("\tlibc.so.6 => /lib/libc.so.6 (0x1)\n").ok


def test_a_missing_module_and_an_unknown_fault_are_told_too() -> None:
    assert "pip install bpy" in explain_import_error("ModuleNotFoundError: No module named 'bpy'")
    assert "strange" in explain_import_error("OSError: something\nstrange")


def test_every_library_that_the_issue_names_has_a_package() -> None:
    for name in ("libX11", "libXrender", "libXfixes", "libXi", "libxkbcommon", "libSM", "libICE", "libGL"):
        assert f"{name}.so" in debian_packages()


CODE = """
import sys
sys.path[1:1] = [{root!r}, {here!r}]
from renderer import BlenderPool, BlenderUnavailable
from renderer_graphs import principled, request
try:
    BlenderPool(1).render(request(principled()))
except BlenderUnavailable as error:
    print(error)
    sys.exit(3)
"""


def test_b1_a_real_blender_with_a_broken_library(tmp_path) -> None:
    module = blender_module()
    assert module is not None
    needs = subprocess.run(["ldd", module], capture_output=True, text=True, check=True).stdout
    if "libXrender" not in needs:
        pytest.skip("this Blender does not load libXrender")
    (tmp_path / "libXrender.so.1").write_bytes(b"")
    run = subprocess.run(
        [sys.executable, "-c", CODE.format(root=str(HERE.parent.parent), here=str(HERE))],
        env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert run.returncode == 3, run.stderr
    assert "libXrender.so.1" in run.stdout and "libxrender1" in run.stdout
    assert len(run.stdout.splitlines()) == 1


# Nothing is deleted in here: what is mounted goes with the namespace.
HIDE = """
set -e
mount --bind "$1" "$2/real"
mount --bind "$2/links" "$1"
shift 2
exec "$@"
"""


def test_b1_a_machine_without_the_library(tmp_path) -> None:
    """The real loader finds no libXrender at all: in a mount namespace of the test's own its folder lacks the file."""
    module = blender_module()
    assert module is not None
    needs = subprocess.run(["ldd", module], capture_output=True, text=True, check=True).stdout
    found = next((line.split()[2] for line in needs.splitlines() if "libXrender" in line), None)
    own = ["unshare", "--map-root-user", "--mount"]
    if found is None or shutil.which("unshare") is None or subprocess.run([*own, "true"], check=False).returncode:
        pytest.skip("this Blender does not load libXrender, or this system gives no mount namespaces")
    folder = Path(found).resolve().parent
    for name in ("real", "links"):
        (tmp_path / name).mkdir()
    for file in folder.iterdir():
        if not file.name.startswith("libXrender.so"):
            (tmp_path / "links" / file.name).symlink_to(tmp_path / "real" / file.name)
    hidden = [*own, "bash", "-c", HIDE, "hide", str(folder), str(tmp_path), sys.executable]
    cli = ["-m", "material_agent.cli"]
    programs = {
        "from Python": ["-c", CODE.format(root=str(HERE.parent.parent), here=str(HERE))],
        "fit": [*cli, "fit", "skimage:brick", "-o", str(tmp_path / "run")],
        "doctor": [*cli, "doctor"],
    }
    for name, words in programs.items():
        run = subprocess.run([*hidden, *words], cwd=HERE.parent.parent, capture_output=True, text=True, timeout=60,
                             check=False)  # fmt: skip
        said = [line for line in (run.stdout + run.stderr).splitlines() if "libXrender.so.1" in line]
        assert run.returncode == 3, (name, run.stderr)
        assert any("libxrender1" in line for line in said) or name == "doctor", (name, said)
        assert "Traceback" not in run.stderr
        if name != "doctor":
            assert len(said) == 1
        else:
            assert "apt-get install -y libxrender1" in run.stdout


def test_probe_sees_this_machine(pool) -> None:
    checks = {check.name: check for check in probe()}
    assert checks["blender"].ok and pool.warm_up() in checks["blender"].text
    assert checks["system libraries"].ok
    assert "CPU" in checks["devices"].text
