"""The user's own Blender, started on a file."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from material_agent.errors import MaterialAgentError

VARIABLE = "MATERIAL_AGENT_BLENDER"


class BlenderAbsent(MaterialAgentError):
    """There is no Blender program to start (exit code 3 of the command line)."""


def open_in_blender(path: Path) -> str:
    """Start Blender on a .blend file and return at once; returns the program.

    The program is what `MATERIAL_AGENT_BLENDER` names, else `blender` on the PATH. Raises `BlenderAbsent` without one.
    """
    asked = os.environ.get(VARIABLE)
    program = shutil.which(asked or "blender")
    if program is None:
        what = f"{asked!r}, which {VARIABLE} names" if asked else "blender on the PATH"
        raise BlenderAbsent(f"expected {what}, got none; what would work: {VARIABLE}=/path/to/blender")
    subprocess.Popen(
        [program, str(path.resolve())],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    return program
