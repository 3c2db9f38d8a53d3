"""`material-agent analyze`."""

from __future__ import annotations

from typing import Annotated

import typer

from material_agent.cli.options import Json, PatchSize
from material_agent.cli.output import Reply


def analyze(
    reference: Annotated[str, typer.Argument(help="A picture, or the name of a bundled reference.")],
    patch_size: PatchSize = 1.0,
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
    data = {
        "reference": {"id": picture.id, "sha256": picture.sha256, "size": picture.size, "notes": picture.notes},
        "analysis": analysis.to_json(),
    }
    return Reply("analyze", data, "\n".join(lines))
