"""Where the compiler under the preview comes from: the Python package Dr.Jit and an LLVM shared library.

The library is looked for in this order: `DRJIT_LIBLLVM_PATH`, the wheel `karellen-llvm-core` (it installs
`lib/libLLVM.so` into the environment), the system. Nothing is loaded before `require` is called.
"""

from __future__ import annotations

import ctypes.util
import importlib.util
import os
import sys
import sysconfig
from functools import cache
from pathlib import Path

from renderer.preview.errors import PreviewUnavailable

ENVIRONMENT = "DRJIT_LIBLLVM_PATH"
INSTALL = "pip install 'material-agent[preview]'"
_NAMES = ("libLLVM.so", "libLLVM.dylib", "LLVM-C.dll")
_SYSTEM_FOLDERS = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
)
# Dr.Jit needs at least this; releases before it lack the vector intrinsics it emits.
_OLDEST_LLVM = 8


def find_llvm() -> str | None:
    """Path of the LLVM library to use, or None."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        return named
    return _from_wheel() or _from_system()


def _from_wheel() -> str | None:
    prefixes = {Path(sys.prefix), Path(sysconfig.get_path("data"))}
    candidates = [prefix / "lib" / name for prefix in sorted(prefixes) for name in _NAMES]
    return next((str(path) for path in candidates if path.is_file()), None)


def _from_system() -> str | None:
    found = [path for folder in _SYSTEM_FOLDERS for path in Path(folder).glob("libLLVM*.so*") if path.is_file()]
    versions = [(version, path) for path in found if (version := _major(path.name)) >= _OLDEST_LLVM]
    if versions:
        return str(max(versions)[1])
    return ctypes.util.find_library("LLVM")


def _major(name: str) -> int:
    digits = "".join(c if c.isdigit() else " " for c in name).split()
    return int(digits[0]) if digits else 0


def missing() -> str | None:
    """What keeps the preview from working here, with the command that installs it; None when nothing does."""
    if importlib.util.find_spec("drjit") is None:
        return f"the preview needs the Python package drjit: {INSTALL}"
    if find_llvm() is None and not _has_cuda():
        return f"the preview needs an LLVM shared library: {INSTALL} (or the system package libllvm15)"
    return None


def _has_cuda() -> bool:
    return ctypes.util.find_library("cuda") is not None


@cache
def require() -> None:
    """Make Dr.Jit importable with a working back end; raises `PreviewUnavailable`. Costs nothing the second time."""
    reason = missing()
    if reason is not None:
        raise PreviewUnavailable(reason)
    path = find_llvm()
    if path is not None:
        # Dr.Jit reads the variable once, while it is imported.
        os.environ.setdefault(ENVIRONMENT, path)
    try:
        import drjit.auto  # noqa: PLC0415

        drjit.auto.Float(0.0)
    except (ImportError, RuntimeError) as error:
        text = " ".join(str(error).split())
        raise PreviewUnavailable(f"Dr.Jit does not start ({text}); {INSTALL}, or set {ENVIRONMENT}") from error
