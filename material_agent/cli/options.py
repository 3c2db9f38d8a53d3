"""Options and arguments that several commands share."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer


def _positive(value: float) -> float:
    """`value`; raises a usage error for 0, negative figures, infinity and NaN."""
    if not (value > 0 and math.isfinite(value)):
        raise typer.BadParameter(f"expected a finite number above 0, got {value:g}")
    return value


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, and nothing else there.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Where to write.", show_default=False)]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Blender processes; the result does not depend on it.")]
PatchSize = Annotated[
    float, typer.Option("--patch-size", callback=_positive, help="Side of the pictured patch in metres.")
]
TimeLimit = Annotated[float, typer.Option(callback=_positive, help="Seconds after which the render is stopped.")]
Samples = Annotated[int, typer.Option(min=1, max=65536, help="Cycles samples for each pixel.")]
