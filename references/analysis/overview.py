"""An overview picture of an analysis: every measurement drawn on the reference, and the conclusions below, apart."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from evaluators.functional.orientation import Orientation
from references.analysis import panels
from references.analysis.model import Analysis
from references.analysis.panels import PANEL, PAPER
from references.load import Reference
from references.square import Proposal, propose_square

FloatArray = npt.NDArray[np.floating[Any]]

GAP, CAPTION, LINE, COLUMNS = 12, 20, 16, 4
INK, MEASURED_COLOR, INFERRED_COLOR = (30, 30, 30), (20, 90, 150), (150, 70, 20)
_BAR = 120
_FAMILIES_SHOWN = 6

# Pillow's own font has no glyphs for these.
_PLAIN = str.maketrans({"×": "x", "β": "beta", "²": "2", "–": "-", "“": '"', "”": '"', "…": "..."})


def overview(image_srgb: FloatArray, analysis: Analysis, reference: Reference | None = None) -> Image.Image:
    """Draw an analysis of an sRGB picture (N, N, 3) in [0, 1]: eight panels, then what was measured and inferred.

    With the `reference` the first panel shows all of its file, with the used and the proposed square.
    """
    base = panels.picture(image_srgb)
    shown = (
        _first(base, reference),
        (_lattice_caption(analysis), panels.lattice_lines(base, image_srgb, analysis)),
        (_direction_caption(analysis), panels.directions(base)),
        (_region_caption(analysis), panels.region_borders(base, analysis)),
        (_palette_caption(analysis), panels.colors(analysis)),
        ("power spectrum, log; rings: waves of the lattice", panels.power(image_srgb, analysis)),
        (
            f"power by frequency, slope {analysis.slope.beta:.2f}, r² {analysis.slope.r2:.2f}",
            panels.scales(image_srgb, analysis),
        ),
        (_light_caption(analysis), panels.light(base, analysis)),
    )
    columns = (_measured_lines(analysis, reference), _inferred_lines(analysis))
    rows = -(-len(shown) // COLUMNS)
    width = COLUMNS * (PANEL + GAP) + GAP
    top = rows * (PANEL + CAPTION + GAP) + GAP
    count = max(len(columns[0]), len(columns[1]) + _FAMILIES_SHOWN)
    sheet = Image.new("RGB", (width, top + LINE * (count + 2) + GAP), PAPER)
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(12)
    for k, (caption, panel) in enumerate(shown):
        left, upper = GAP + (k % COLUMNS) * (PANEL + GAP), GAP + (k // COLUMNS) * (PANEL + CAPTION + GAP)
        draw.text((left, upper), caption.translate(_PLAIN), fill=INK, font=font)
        sheet.paste(panel, (left, upper + CAPTION))
    _write(draw, (GAP, top), "MEASURED", MEASURED_COLOR, columns[0], font)
    middle = width // 3 + GAP
    draw.text((middle, top), "INFERRED", fill=INFERRED_COLOR, font=font)
    for k, item in enumerate(analysis.families[:_FAMILIES_SHOWN]):
        y = top + LINE * (k + 1) + 4
        draw.rectangle([middle, y + 2, middle + _BAR * item.probability, y + 12], fill=INFERRED_COLOR)
        draw.text(
            (middle + _BAR + 8, y), f"{item.probability:.2f}  {item.family} ({item.structure})", fill=INK, font=font
        )
    _write(draw, (middle, top + LINE * _FAMILIES_SHOWN), "", INFERRED_COLOR, columns[1], font)
    return sheet


def _write(
    draw: ImageDraw.ImageDraw, place: tuple[int, int], title: str, color: panels.Color, lines: list[str], font: Any
) -> None:
    draw.text(place, title, fill=color, font=font)
    for k, line in enumerate(lines, 1):
        draw.text((place[0], place[1] + LINE * k + 4), line.translate(_PLAIN), fill=INK, font=font)


def _first(base: Image.Image, reference: Reference | None) -> tuple[str, Image.Image]:
    if reference is None or reference.whole_srgb is None or reference.square is None:
        return "reference", base
    (width, height), square = reference.size, reference.square
    used = (square.left / width, square.top / height, square.width / width, square.height / height)
    proposal: Proposal | None = propose_square(reference.whole_srgb)
    caption = f"file {width}×{height}; used: yellow" + ("; proposed: green" if proposal and proposal.mixed else "")
    return caption, panels.whole(reference.whole_srgb, used, proposal)


def _lattice_caption(analysis: Analysis) -> str:
    lattice, bands = analysis.lattice, analysis.measured.bands
    if lattice is not None:
        along, across = lattice.counts
        return f"lattice {along:.1f} × {across:.1f}, offset {lattice.offset:.2f}, strength {lattice.strength:.2f}"
    rings = analysis.measured.rings
    if rings.concentricity > panels.RINGED:
        x, y = rings.centre
        return f"rings round ({x:.2f}, {y:.2f}), concentricity {rings.concentricity:.2f}"
    return f"{bands.count:.1f} bands, strength {bands.strength:.2f}" if bands is not None else "no repetition"


def _direction_caption(analysis: Analysis) -> str:
    found = analysis.orientation
    trusted = "" if found.coherence > 0.3 else " (no direction)"
    return f"direction {_degrees(found)}°, coherence {found.coherence:.2f}{trusted}"


def _degrees(found: Orientation) -> int:
    return round(float(np.degrees(found.angle_rad))) % 180


def _region_caption(analysis: Analysis) -> str:
    split = analysis.regions.split
    tone = "dark" if split.is_dark else "light"
    return f"{tone} region {100 * split.share:.0f} %, confidence {split.confidence:.2f}"


def _palette_caption(analysis: Analysis) -> str:
    return f"palette; main colour axis, {100 * analysis.color_axis.explained:.0f} % of the variance"


def _light_caption(analysis: Analysis) -> str:
    found = analysis.measured.light
    return f"light changes by {found.range_stops:.2f} stops: " + ("uneven" if found.uneven else "even, or material")


def _measured_lines(analysis: Analysis, reference: Reference | None) -> list[str]:
    measured, split = analysis.measured, analysis.regions.split
    regions = (("smaller", analysis.regions.minority_blobs), ("larger", analysis.regions.majority_blobs))
    lines = [
        f"{measured.size_px}×{measured.size_px} pixels, {measured.patch_size_m:g} m a side",
        f"luma {measured.luma.mean:.2f}, contrast {measured.luma.contrast:.3f}, skewness {measured.luma.skewness:.1f}",
        f"dominant size 1/{measured.dominant.cycles:.0f} of a side, {measured.dominant.prominence:.1f} × the median",
        *(f"{name}: {found.coherence:.2f} along {_degrees(found)}°" for name, found in measured.anisotropy.items()),
        f"region widths {split.minority_width:.3f} and {split.majority_width:.3f} of a side",
        *(f"{name} region: {b.number} parts, round {b.roundness:.2f}, solid {b.solidity:.2f}" for name, b in regions),
        f"lines: light {measured.lines.light:.2f}, dark {measured.lines.dark:.2f}",
        f"concentricity {measured.rings.concentricity:.2f}",
    ]
    if reference is not None:
        lines += [part for note in reference.notes for part in textwrap.wrap(note, 70)]
    return lines


def _inferred_lines(analysis: Analysis) -> list[str]:
    first = analysis.families[0]
    told = [f"{first.family}: {'; '.join(first.evidence) or 'nothing speaks for it'}"]
    told += [f"{c.channel} ({c.kind}) {c.value:.2f}, confidence {c.confidence:.2f}: {c.reason}" for c in analysis.cues]
    return [part for line in told for part in textwrap.wrap(line, 140, subsequent_indent="    ")]
