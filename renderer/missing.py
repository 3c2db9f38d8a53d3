"""From Blender's import error to the one line that says what to install."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import resources

_LIBRARY = re.compile(
    r"(lib[\w.+-]+\.so[\w.]*)\s*:?\s*"
    r"(?:cannot open shared object file|file too short|invalid ELF header|=> not found|not found)"
)


@cache
def debian_packages() -> dict[str, str]:
    """Debian package by shared library name without its version, such as `libXi.so`."""
    text = resources.files("renderer").joinpath("data/debian_packages.json").read_text(encoding="utf-8")
    table: dict[str, str] = json.loads(text)
    return table


def package_for(library: str) -> str | None:
    """The Debian package that ships `library` (`libXi.so.6`), if we know it."""
    return debian_packages().get(library.partition(".so")[0] + ".so")


def missing_libraries(text: str) -> list[str]:
    """Library names in a loader's complaint or in the output of `ldd`, in order, once each."""
    return list(dict.fromkeys(_LIBRARY.findall(text)))


def explain_import_error(text: str) -> str:
    """One line with the library, the package and the command."""
    line = " ".join(text.split())
    libraries = missing_libraries(line)
    if libraries:
        library = libraries[0]
        package = package_for(library)
        fix = f"Debian package {package} (apt-get install {package})" if package else "your system's package manager"
        return f"Blender cannot be loaded: the system library {library} is missing or broken; it is in {fix}"
    if "No module named 'bpy'" in line:
        return "Blender is not installed: the Python package bpy is missing (pip install bpy)"
    return f"Blender cannot be loaded: {line}"
