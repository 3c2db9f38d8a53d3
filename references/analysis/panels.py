"""The pictures that an overview is made of: each measurement drawn on the reference that it was taken from."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw
from scipy import fft, ndimage

from evaluators.functional.cell import phases
from evaluators.functional.color import linear_to_srgb, luma
from evaluators.functional.lattice import Lattice
from evaluators.functional.light import light_gain
from evaluators.functional.spectrum import radial_power
from references.analysis.model import Analysis
from references.square import Proposal
from renderer.images import quantize

FloatArray = npt.NDArray[np.floating[Any]]
Color = tuple[int, int, int]

PANEL = 320
PAPER: Color = (250, 250, 248)
ROW_COLOR: Color = (255, 210, 0)
STEP_COLOR: Color = (0, 200, 90)
BORDER_COLOR: Color = (255, 40, 120)
_FAINT_INK: Color = (150, 150, 150)
_INK: Color = (30, 30, 30)
RINGED = 0.8
"""Concentricity from which rings are drawn, one for each period of the dominant size."""

_BINS = 48
_STROKES = 16


def picture(image_srgb: FloatArray) -> Image.Image:
    """The reference itself, at the size of a panel."""
    return Image.fromarray(quantize(image_srgb)).resize((PANEL, PANEL), Image.Resampling.LANCZOS)


def whole(image_srgb: FloatArray, used: tuple[float, float, float, float], proposal: Proposal | None) -> Image.Image:
    """All of the file, with the square that is used (yellow) and, where it differs, the proposed one (green).

    `used`: left, top, width and height in shares of the picture.
    """
    height, width = image_srgb.shape[:2]
    factor = PANEL / max(width, height)
    size = (max(round(width * factor), 1), max(round(height * factor), 1))
    panel = Image.new("RGB", (PANEL, PANEL), PAPER)
    panel.paste(Image.fromarray(quantize(image_srgb)).resize(size, Image.Resampling.LANCZOS), (0, 0))
    draw = ImageDraw.Draw(panel)
    if proposal is not None and proposal.mixed:
        _frame(draw, (proposal.left, proposal.top, proposal.width, proposal.height), size, STEP_COLOR)
    _frame(draw, used, size, ROW_COLOR)
    return panel


def _frame(draw: ImageDraw.ImageDraw, part: tuple[float, ...], size: tuple[int, int], color: Color) -> None:
    left, top = part[0] * size[0], part[1] * size[1]
    right, bottom = left + part[2] * size[0] - 1, top + part[3] * size[1] - 1
    draw.rectangle([left, top, right, bottom], outline=(0, 0, 0), width=4)
    draw.rectangle([left + 1, top + 1, right - 1, bottom - 1], outline=color, width=2)


def lattice_lines(base: Image.Image, image_srgb: FloatArray, analysis: Analysis) -> Image.Image:
    """The rows (yellow) and the cells in them (green), laid where the cells meet; rings or bands without a lattice."""
    panel = base.copy()
    draw = ImageDraw.Draw(panel)
    lattice, bands, rings = analysis.lattice, analysis.measured.bands, analysis.measured.rings
    centre = np.array([PANEL / 2, PANEL / 2])
    if lattice is None:
        if rings.concentricity > RINGED:
            x, y = (float(part) * PANEL for part in rings.centre)
            for radius in (
                np.arange(1, 4 * analysis.measured.dominant.cycles) * PANEL / analysis.measured.dominant.cycles
            ):
                draw.ellipse([x - radius, y - radius, x + radius, y + radius], outline=ROW_COLOR)
        elif bands is not None:
            along = np.array([np.cos(bands.angle_rad), -np.sin(bands.angle_rad)]) * 2 * PANEL
            step = np.array([np.sin(bands.angle_rad), np.cos(bands.angle_rad)]) * PANEL / bands.count
            for k in range(-round(bands.count) - 1, round(bands.count) + 2):
                draw.line([*(centre + k * step - along), *(centre + k * step + along)], fill=ROW_COLOR, width=1)
        return panel
    factor = PANEL / analysis.measured.size_px
    row, step = (np.array(v) * factor for v in lattice.vectors)
    straight = step - row * float(step @ row) / float(row @ row)
    start, shift = _joint(image_srgb, analysis, lattice)
    reach = int(2 * PANEL / min(float(np.hypot(*row)), float(np.hypot(*straight)))) + 2
    for j in range(-reach, reach + 1):
        line = straight * (j + start)
        first = line + row * ((j * lattice.offset + shift) % 1.0)
        draw.line([*(line - row * reach), *(line + row * reach)], fill=ROW_COLOR, width=1)
        for i in range(-reach, reach + 1):
            draw.line([*(first + row * i), *(first + row * i + straight)], fill=STEP_COLOR, width=1)
    return panel


def _joint(image_srgb: FloatArray, analysis: Analysis, lattice: Lattice) -> tuple[float, float]:
    """Where rows begin, and where the cells of row 0 do, in periods from the corner: where the joints' tone is.

    A row begins where the profile across the rows is furthest from its mean, on the side of the joints.
    """
    field = luma(_measured_size(image_srgb, analysis.measured.size_px))
    _, across = phases(field.shape, lattice)
    row, step = (np.array(v) for v in lattice.vectors)
    x, y = np.arange(field.shape[1])[None] + 0.5, np.arange(field.shape[0])[:, None] + 0.5
    number = (x * -row[1] + y * row[0]) / float(row[0] * step[1] - row[1] * step[0])
    dark = analysis.measured.cell is None or analysis.measured.cell.joints_dark
    start = _extreme(across, field, dark)
    along = (x * row[0] + y * row[1]) / float(row @ row) - np.floor(number - start) * lattice.offset
    return start, _extreme(along % 1.0, field, dark)


def _extreme(phase: FloatArray, field: FloatArray, dark: bool) -> float:
    index = (phase * _BINS).astype(int).ravel() % _BINS
    profile = np.bincount(index, field.ravel(), minlength=_BINS) / np.maximum(np.bincount(index, minlength=_BINS), 1)
    return (float(profile.argmin() if dark else profile.argmax()) + 0.5) / _BINS


def _measured_size(image_srgb: FloatArray, side: int) -> FloatArray:
    if image_srgb.shape[0] == side:
        return image_srgb
    planes = [Image.fromarray(np.ascontiguousarray(image_srgb[..., c], np.float32)) for c in range(3)]
    return np.stack([np.asarray(p.resize((side, side), Image.Resampling.BOX)) for p in planes], axis=-1)


def directions(base: Image.Image) -> Image.Image:
    """Strokes along the lines of each place, longer and brighter where they agree."""
    grey = base.convert("L")
    panel = Image.blend(base, Image.new("RGB", base.size, PAPER), 0.35)
    draw = ImageDraw.Draw(panel)
    field = np.asarray(grey, np.float32) / 255
    dx, dy = (ndimage.gaussian_filter(field, 1.5, order=order) for order in ((0, 1), (1, 0)))
    sigma = PANEL / _STROKES / 2
    xx, yy, xy = (ndimage.gaussian_filter(part, sigma) for part in (dx * dx, dy * dy, dx * dy))
    angle = 0.5 * np.arctan2(2 * xy, xx - yy) + np.pi / 2
    coherence = np.hypot(xx - yy, 2 * xy) / np.maximum(xx + yy, 1e-12)
    places = (np.arange(_STROKES) + 0.5) * PANEL / _STROKES
    for y in places:
        for x in places:
            at = int(y), int(x)
            length = 0.5 * PANEL / _STROKES * float(coherence[at])
            step = np.array([np.cos(angle[at]), np.sin(angle[at])]) * length
            line = [x - step[0], y - step[1], x + step[0], y + step[1]]
            draw.line(line, fill=(0, 0, 0), width=4)
            draw.line(line, fill=ROW_COLOR if coherence[at] > 0.3 else (200, 200, 190), width=2)
    return panel


def region_borders(base: Image.Image, analysis: Analysis) -> Image.Image:
    """The smaller region in its mean colour, the larger one faded, and the border between them."""
    regions = analysis.regions
    mask = np.asarray(Image.fromarray(regions.split.minority).convert("L").resize(base.size)) > 127
    shown = np.asarray(base, np.float32)
    inside, outside = (np.array(c, np.float32) * 255 for c in (regions.minority_color, regions.majority_color))
    tinted = np.where(mask[..., None], 0.5 * shown + 0.5 * inside, 0.45 * shown + 0.55 * (0.5 * outside + 127))
    border = mask ^ ndimage.binary_erosion(mask, border_value=1)
    tinted[border] = BORDER_COLOR
    return Image.fromarray(np.clip(tinted, 0, 255).astype(np.uint8))


def power(image_srgb: FloatArray, analysis: Analysis) -> Image.Image:
    """The power spectrum in two dimensions (left and bottom halves cut to the middle third), log scale.

    With a lattice, rings mark where its waves must lie.
    """
    field = luma(_measured_size(image_srgb, analysis.measured.size_px))
    height, width = field.shape
    window = np.outer(np.hanning(height), np.hanning(width))
    spectrum = np.log(np.abs(fft.fftshift(fft.fft2((field - field.mean()) * window))) ** 2 + 1e-6)
    third = max(min(height, width) // 6, 8)
    cut = spectrum[height // 2 - third : height // 2 + third, width // 2 - third : width // 2 + third]
    low, high = np.quantile(cut, [0.2, 0.9995])
    grey = quantize(np.clip((cut - low) / max(float(high - low), 1e-6), 0, 1))
    panel = Image.fromarray(grey).resize((PANEL, PANEL), Image.Resampling.BICUBIC).convert("RGB")
    if analysis.lattice is not None:
        draw = ImageDraw.Draw(panel)
        waves = np.linalg.inv(np.array(analysis.lattice.vectors)) * height
        for i, j in np.ndindex(7, 7):
            place = (waves @ np.array([i - 3, j - 3]) / third * 0.5 + 0.5) * PANEL
            if (i, j) != (3, 3) and np.all((place > 4) & (place < PANEL - 4)):
                draw.ellipse([place[0] - 4, place[1] - 4, place[0] + 4, place[1] + 4], outline=ROW_COLOR)
    return panel


def scales(image_srgb: FloatArray, analysis: Analysis) -> Image.Image:
    """Power over frequency, both logarithmic, with the fitted slope; below it the shares of macro, meso and micro."""
    panel = Image.new("RGB", (PANEL, PANEL), PAPER)
    draw = ImageDraw.Draw(panel)
    frequency, values = radial_power(luma(_measured_size(image_srgb, analysis.measured.size_px)))
    x, y = np.log2(np.maximum(frequency, 1e-9)), np.log2(np.maximum(values, 1e-12))
    floor = max(float(y.min()), float(y.max()) - 24)
    height, left = PANEL - 70, 8
    across = (PANEL - 2 * left) / max(float(np.ptp(x)), 1e-6)
    down = height / max(float(y.max()) - floor, 1e-6)

    def place(u: float, v: float) -> tuple[float, float]:
        return left + (u - float(x[0])) * across, height - (max(v, floor) - floor) * down + 4

    for edge in (8, 32):
        if frequency[0] < edge < frequency[-1]:
            at = place(float(np.log2(edge)), floor)[0]
            draw.line([at, 4, at, height + 4], fill=(220, 220, 215), width=1)
    middle = (x > np.log2(3)) & (x < x[-1] - 0.5)
    if middle.any():
        offset = float(np.mean(y[middle] + analysis.slope.beta * x[middle]))
        ends = [place(float(u), offset - analysis.slope.beta * float(u)) for u in (x[middle][0], x[middle][-1])]
        draw.line([*ends[0], *ends[1]], fill=BORDER_COLOR, width=2)
    draw.line([place(float(u), float(v)) for u, v in zip(x, y, strict=True)], fill=_INK, width=2)
    start = float(left)
    for name, share in analysis.energies.items():
        end = start + share * (PANEL - 2 * left)
        draw.rectangle([start, PANEL - 46, end, PANEL - 24], fill=_SHADES[name])
        start = end
    for k, (name, share) in enumerate(analysis.energies.items()):
        draw.rectangle([left + 104 * k, PANEL - 16, left + 104 * k + 10, PANEL - 6], fill=_SHADES[name])
        draw.text((left + 104 * k + 14, PANEL - 18), f"{name} {share:.0%}", fill=_INK)
    return panel


_SHADES: dict[str, Color] = {"macro": (60, 80, 130), "meso": (110, 150, 170), "micro": (200, 190, 150)}


def colors(analysis: Analysis) -> Image.Image:
    """The palette by share, with figures, and the colours along the main axis from its dark to its light end."""
    panel = Image.new("RGB", (PANEL, PANEL), PAPER)
    draw = ImageDraw.Draw(panel)
    top = 0.0
    for color, share in zip(*analysis.palette, strict=True):
        bottom = top + max(float(share) * (PANEL * 0.62), 1.0)
        draw.rectangle([0, top, PANEL - 1, bottom], fill=_byte(color))
        if bottom - top > 13:
            ink = (255, 255, 255) if float(np.mean(color)) < 0.5 else _INK
            draw.text((6, (top + bottom) / 2 - 6), f"{float(share):.0%}", fill=ink)
        top = bottom
    shown = linear_to_srgb(analysis.color_axis.quantile_colors_linear)
    for x in range(PANEL):
        color = shown[round(x / (PANEL - 1) * (len(shown) - 1))]
        draw.line([x, round(PANEL * 0.68), x, PANEL], fill=_byte(color))
    return panel


def light(base: Image.Image, analysis: Analysis) -> Image.Image:
    """The gain of the light as shades, with a line at each quarter of a stop, over the faded reference."""
    stops = np.log2(light_gain(analysis.measured.light, (PANEL, PANEL)))
    grey = np.clip(0.5 + stops / 4, 0, 1)[..., None] * 255
    shown = 0.3 * np.asarray(base.convert("L"), np.float32)[..., None].repeat(3, 2) + 0.7 * grey
    steps = np.floor(stops * 4)
    edges = (np.diff(steps, axis=0, prepend=steps[:1]) != 0) | (np.diff(steps, axis=1, prepend=steps[:, :1]) != 0)
    shown[edges] = ROW_COLOR
    return Image.fromarray(np.clip(shown, 0, 255).astype(np.uint8))


def _byte(color: FloatArray) -> Color:
    red, green, blue = (round(float(c) * 255) for c in color)
    return red, green, blue
