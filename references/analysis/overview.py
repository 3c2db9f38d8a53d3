"""An overview picture of an analysis, drawn on the reference: lattice, direction, regions, spectrum, colours."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from evaluators.functional.color import linear_to_srgb
from references.analysis.features import grain_direction
from references.analysis.model import Analysis
from renderer.images import quantize

FloatArray = npt.NDArray[np.floating[Any]]

PANEL, GAP, CAPTION = 320, 12, 20
BACKGROUND, INK, ROW_COLOR, STEP_COLOR = (250, 250, 248), (30, 30, 30), (255, 210, 0), (0, 200, 90)

# Pillow's own font has no glyphs for these.
_PLAIN = str.maketrans({"×": "x", "β": "beta", "²": "2", "–": "-"})


def overview(image_srgb: FloatArray, analysis: Analysis) -> Image.Image:
    """Draw an analysis of an sRGB picture (N, N, 3) in [0, 1] as an RGB picture of six panels and the hypotheses."""
    base = _to_image(image_srgb)
    panels = (
        ("reference", base),
        (_lattice_caption(analysis), _lattice_panel(base, analysis)),
        (_direction_caption(analysis), _direction_panel(base, analysis)),
        (_region_caption(analysis), _region_panel(analysis)),
        (f"log power by direction and scale; β {analysis.slope.beta:.2f}", _spectrum_panel(analysis)),
        ("palette; colours along the main axis", _color_panel(analysis)),
    )
    lines = [part for line in _sentences(analysis) for part in textwrap.wrap(line, 150, subsequent_indent="    ")]
    height = 2 * (PANEL + CAPTION + GAP) + GAP + 16 * len(lines) + GAP
    sheet = Image.new("RGB", (3 * (PANEL + GAP) + GAP, height), BACKGROUND)
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(12)
    for k, (caption, panel) in enumerate(panels):
        left, top = GAP + (k % 3) * (PANEL + GAP), GAP + (k // 3) * (PANEL + CAPTION + GAP)
        draw.text((left, top), caption.translate(_PLAIN), fill=INK, font=font)
        sheet.paste(panel, (left, top + CAPTION))
    for k, line in enumerate(lines):
        draw.text((GAP, 2 * (PANEL + CAPTION + GAP) + GAP + 16 * k), line.translate(_PLAIN), fill=INK, font=font)
    return sheet


def _to_image(image_srgb: FloatArray) -> Image.Image:
    return Image.fromarray(quantize(image_srgb)).resize((PANEL, PANEL), Image.Resampling.LANCZOS)


def _lattice_caption(analysis: Analysis) -> str:
    lattice, bands = analysis.lattice, analysis.measured.bands
    if lattice is not None:
        along, across = lattice.counts
        return f"lattice {along:.1f} × {across:.1f}, offset {lattice.offset:.2f}, strength {lattice.strength:.2f}"
    return f"{bands.count:.1f} bands, strength {bands.strength:.2f}" if bands is not None else "no repetition"


def _lattice_panel(base: Image.Image, analysis: Analysis) -> Image.Image:
    panel = base.copy()
    lattice = analysis.lattice
    if lattice is None:
        return panel
    draw = ImageDraw.Draw(panel)
    factor = PANEL / analysis.measured.size_px
    row, step = (np.array(v) * factor for v in lattice.vectors)
    centre = np.array([PANEL / 2, PANEL / 2])
    reach = int(2 * PANEL / min(np.hypot(*row), np.hypot(*step))) + 1
    for j in range(-reach, reach + 1):
        start = centre + j * step
        draw.line([*(start - row * reach), *(start + row * reach)], fill=ROW_COLOR, width=1)
        for i in range(-reach, reach + 1):
            corner = start + i * row
            draw.line([*corner, *(corner + step)], fill=STEP_COLOR, width=1)
    return panel


def _direction_caption(analysis: Analysis) -> str:
    best = grain_direction(analysis.measured)
    return f"direction {np.degrees(best.angle_rad):.0f}°, coherence {best.coherence:.2f}"


def _direction_panel(base: Image.Image, analysis: Analysis) -> Image.Image:
    panel = base.copy()
    best = grain_direction(analysis.measured)
    along = np.array([np.cos(best.angle_rad), -np.sin(best.angle_rad)]) * PANEL * 0.45 * best.coherence
    centre = np.array([PANEL / 2, PANEL / 2])
    draw = ImageDraw.Draw(panel)
    draw.line([*(centre - along), *(centre + along)], fill=(0, 0, 0), width=6)
    draw.line([*(centre - along), *(centre + along)], fill=ROW_COLOR, width=3)
    return panel


def _region_caption(analysis: Analysis) -> str:
    split = analysis.regions.split
    tone = "dark" if split.is_dark else "light"
    return f"{tone} region {100 * split.share:.0f} %, confidence {split.confidence:.2f}"


def _region_panel(analysis: Analysis) -> Image.Image:
    regions = analysis.regions
    colors = np.where(regions.split.minority[..., None], regions.minority_color, regions.majority_color)
    return _to_image(colors)


def _spectrum_panel(analysis: Analysis) -> Image.Image:
    power = analysis.measured.polar_log_power
    low, high = float(power.min()), float(power.max())
    grey = quantize((power - low) / max(high - low, 1e-6))
    # Low frequencies at the bottom, wave-vector angle from 0° on the left.
    return Image.fromarray(grey[::-1]).resize((PANEL, PANEL), Image.Resampling.NEAREST).convert("RGB")


def _color_panel(analysis: Analysis) -> Image.Image:
    panel = Image.new("RGB", (PANEL, PANEL), BACKGROUND)
    draw = ImageDraw.Draw(panel)
    left = 0.0
    for color, share in zip(*analysis.palette, strict=True):
        right = left + float(share) * PANEL
        draw.rectangle([left, 0, right, PANEL // 2], fill=_byte(color))
        left = right
    shown = linear_to_srgb(analysis.color_axis.quantile_colors_linear)
    for x in range(PANEL):
        color = shown[round(x / (PANEL - 1) * (len(shown) - 1))]
        draw.line([x, PANEL // 2 + GAP, x, PANEL], fill=_byte(color))
    return panel


def _byte(color: FloatArray) -> tuple[int, int, int]:
    red, green, blue = (round(float(c) * 255) for c in color)
    return red, green, blue


def _sentences(analysis: Analysis) -> list[str]:
    energies = ", ".join(f"{name} {100 * share:.0f} %" for name, share in analysis.energies.items())
    ranked = [
        f"{h.structure} {100 * h.probability:.0f} %: {'; '.join(h.evidence) or 'nothing speaks for it'}"
        for h in analysis.hypotheses[:4]
    ]
    cues = [f"{c.channel} ({c.kind}) {c.value:.2f}, confidence {c.confidence:.2f}: {c.reason}" for c in analysis.cues]
    return [f"Measured: energy {energies}; contrast {analysis.measured.luma.contrast:.3f}", "Inferred:", *ranked, *cues]
