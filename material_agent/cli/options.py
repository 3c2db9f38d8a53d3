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
CropArea = Annotated[
    str | None,
    typer.Option(
        "--crop",
        metavar="AREA",
        help="Part to use, LEFT,TOP,WIDTH,HEIGHT in pixels, or auto: the most homogeneous square.",
        show_default=False,
    ),
]
PictureScale = Annotated[
    str | None,
    typer.Option(
        "--scale",
        metavar="SIZE",
        help="Size of the used square, such as 30cm, or resolution, such as 500px/m; goes before --patch-size.",
        show_default=False,
    ),
]
MaskFile = Annotated[
    Path | None,
    typer.Option("--mask", help="A picture of the same size, light where the material is.", show_default=False),
]
Flatten = Annotated[bool, typer.Option("--flatten", help="Take uneven light out of the picture.")]
