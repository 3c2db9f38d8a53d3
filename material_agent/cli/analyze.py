"""`material-agent analyze`."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from material_agent.cli.options import CropArea, Flatten, Json, MaskFile, PatchSize, PictureScale
from material_agent.cli.output import Reply
from material_agent.errors import BadInput

if TYPE_CHECKING:
    from references import Analysis, Reference


def analyze(
    reference: Annotated[str, typer.Argument(help="A picture, or the name of a bundled reference.")],
    patch_size: PatchSize = 1.0,
    crop: CropArea = None,
    scale: PictureScale = None,
    mask: MaskFile = None,
    flatten: Flatten = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Draw an overview into this picture.", show_default=False)
    ] = None,
    region_mask: Annotated[
        Path | None,
        typer.Option(help="Write the smaller of the two regions as a black and white PNG.", show_default=False),
    ] = None,
    json: Json = False,
) -> Reply:
    """Measure a reference and name what it may show and the structures that may have made it, most probable first."""
    from references import Preparation, load_reference
    from references import analyze as analyse

    chosen = Preparation.parse(crop=crop, scale=scale, mask=mask, flatten=flatten)
    picture = load_reference(reference, preparation=chosen)
    with ThreadPoolExecutor(1) as beside:
        proposed = beside.submit(_proposal, picture)
        analysis = analyse(picture, patch_size_m=picture.patch_size_m or patch_size)
        proposal = proposed.result()
    if output is not None:
        draw_overview(picture, analysis, output)
    if region_mask is not None:
        write_mask(analysis, region_mask)
    data = {
        "overview": output,
        "region_mask": region_mask,
        "reference": {
            "id": picture.id,
            "sha256": picture.sha256,
            "size": picture.size,
            "square": picture.square,
            "notes": picture.notes,
        },
        "proposal": proposal,
        "analysis": analysis.to_json(),
    }
    lines = [f"{picture.id}: {picture.size[0]}×{picture.size[1]} pixels", *(f"note: {note}" for note in picture.notes)]
    return Reply(
        "analyze", data, "\n".join([*lines, *_text(analysis), *(str(path) for path in (output, region_mask) if path)])
    )


def _proposal(picture: Reference) -> dict[str, object] | None:
    """The most homogeneous square of the whole picture, and whether it is worth taking."""
    from references import propose_square

    found = None if picture.whole_srgb is None else propose_square(picture.whole_srgb)
    if found is None:
        return None
    box = found.box(picture.size)
    square = {"left": box.left, "top": box.top, "width": box.width, "height": box.height}
    return {
        "square": square,
        "unevenness": found.unevenness,
        "whole_unevenness": found.whole_unevenness,
        "holds_more_than_material": found.mixed,
    }


def _text(analysis: Analysis) -> list[str]:
    """What was measured, then what is inferred."""
    measured = analysis.measured
    lines = [f"measured on {measured.size_px}×{measured.size_px} pixels, {measured.patch_size_m:g} m a side"]
    if analysis.lattice is not None:
        along, across = analysis.lattice.counts
        lines.append(
            f"  repeats: {along:.1f} × {across:.1f} cells, offset {analysis.lattice.offset:.2f}, "
            f"strength {analysis.lattice.strength:.2f}"
        )
    elif measured.rings.concentricity > 0.8:
        x, y = measured.rings.centre
        lines.append(
            f"  rings round ({x:.2f}, {y:.2f}) of the picture, concentricity {measured.rings.concentricity:.2f}"
        )
    elif measured.bands is not None:
        lines.append(f"  bands: {measured.bands.count:.1f}, strength {measured.bands.strength:.2f}")
    else:
        lines.append("  no repetition")
    found, light = analysis.orientation, measured.light
    lines.append(f"  direction {round(math.degrees(found.angle_rad)) % 180}°, coherence {found.coherence:.2f}")
    lines.append("  energy " + ", ".join(f"{name} {share:.0%}" for name, share in analysis.energies.items()))
    lines.append(f"  light changes by {light.range_stops:.2f} stops" + (": uneven" if light.uneven else ""))
    lines.append("inferred")
    for item in analysis.families[:5]:
        lines.append(f"  {item.probability:.2f}  {item.family} ({item.structure}): {'; '.join(item.evidence)}")
    for cue in analysis.cues:
        lines.append(f"  {cue.channel} {cue.value:.2f} ({cue.confidence:.0%} sure): {cue.reason}")
    return lines


def draw_overview(picture: Reference, analysis: Analysis, path: Path) -> None:
    """Write the overview as a picture of the kind that the name says. Raises `BadInput` for an unknown kind."""
    from references.analysis.overview import overview

    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        overview(picture.image_srgb, analysis, picture).save(path)
    except ValueError as error:
        raise BadInput(f"expected a picture's name such as overview.png, got {path}") from error


def write_mask(analysis: Analysis, path: Path) -> None:
    """Write the smaller region, white, at the size that was measured. Raises `BadInput` for a name that is no PNG."""
    from renderer.images import quantize, write_png

    if path.suffix.lower() != ".png":
        raise BadInput(f"expected a name that ends in .png for the mask, got {path}")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_png(path, quantize(analysis.regions.split.minority.astype("float32")))
