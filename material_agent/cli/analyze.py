"""`material-agent analyze`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from material_agent.cli.options import Json, PatchSize
from material_agent.cli.output import Reply
from material_agent.errors import BadInput

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from references import Analysis


def analyze(
    reference: Annotated[str, typer.Argument(help="A picture, or the name of a bundled reference.")],
    patch_size: PatchSize = 1.0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Draw an overview into this picture.", show_default=False)
    ] = None,
    json: Json = False,
) -> Reply:
    """Measure a reference and name the structures that may have made it, most probable first."""
    from references import analyze as analyse
    from references import load_reference

    picture = load_reference(reference)
    analysis = analyse(picture, patch_size_m=patch_size)
    lines = [f"{picture.id}: {picture.size[0]}×{picture.size[1]} pixels", *(f"note: {note}" for note in picture.notes)]
    for hypothesis in analysis.inferred.hypotheses:
        lines.append(f"  {hypothesis.probability:.2f}  {hypothesis.structure}: {'; '.join(hypothesis.evidence)}")
    for cue in analysis.inferred.cues:
        lines.append(f"  {cue.channel} {cue.value:.2f} ({cue.confidence:.0%} sure): {cue.reason}")
    if output is not None:
        draw_overview(picture.image_srgb, analysis, output)
        lines.append(str(output))
    data = {
        "overview": output,
        "reference": {"id": picture.id, "sha256": picture.sha256, "size": picture.size, "notes": picture.notes},
        "analysis": analysis.to_json(),
    }
    return Reply("analyze", data, "\n".join(lines))


def draw_overview(image_srgb: npt.NDArray[np.float32], analysis: Analysis, path: Path) -> None:
    """Write the overview as a picture of the kind that the name says. Raises `BadInput` for an unknown kind."""
    from references.analysis.overview import overview

    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        overview(image_srgb, analysis).save(path)
    except ValueError as error:
        raise BadInput(f"expected a picture's name such as overview.png, got {path}") from error
