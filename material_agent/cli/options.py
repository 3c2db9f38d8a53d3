"""Options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, and nothing else there.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Where to write.", show_default=False)]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Blender processes; the result does not depend on it.")]
PatchSize = Annotated[float, typer.Option("--patch-size", help="Side of the pictured patch in metres.")]
