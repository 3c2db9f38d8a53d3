"""Pictures of more than 8 bits a channel that Pillow does not keep: OpenEXR, Radiance HDR, floating-point TIFF.

Read through OpenImageIO. Their values are scene-linear with Rec. 709 primaries. They become display-referred by the
exposure below and the sRGB curve, which is what the renderer's Standard view does, so that colours and contrasts stay
those of the material; there is no curve that bends them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import OpenImageIO as oiio
from PIL import Image
from scipy import ndimage

from references.errors import ReferenceFault
from references.quiet import without_lines
from references.source import BACKGROUND, LARGEST_PIXELS, Box, block_mean, block_size
from renderer.images import linear_to_srgb, quantize, srgb_to_linear

FloatArray = npt.NDArray[np.float32]

BRIGHT_QUANTILE = 0.999
"""The exposure looks at this quantile of the brightest channel, so that a few highlights do not decide."""

BRIGHTEST, DARKEST = 1.0, 0.02
"""Above the first that quantile is brought down to 1, below the second up to 1; between them nothing is done."""

FEWEST_FINITE = 0.5
_COMPLAINT = b"(EXR_ERR"
_STRIP = 64
_MOST_CHANNELS = 64
_COLOR, _GREY = (("R", "G", "B"), ("r", "g", "b"), ("red", "green", "blue")), ("Y", "y", "L", "luminance")


class _Layout(NamedTuple):
    """Where red, green, blue (all three the same for grey) and alpha are among the channels."""

    color: tuple[int, int, int]
    alpha: int | None


class DeepSource:
    """An open floating-point picture; rows are read when a part is asked for."""

    def __init__(self, path: str, name: str) -> None:
        self._path, self._name = path, name
        # Whatever the header claims, no buffer above this is made.
        oiio.attribute("limits:imagesize_MB", 2048)
        oiio.attribute("limits:channels", _MOST_CHANNELS)
        with without_lines(_COMPLAINT):
            file = self._open()
        spec = file.spec()
        self._size = (spec.width, spec.height)
        if spec.width * spec.height > LARGEST_PIXELS or spec.depth > 1:
            raise ReferenceFault(
                name,
                f"expected a flat picture of at most {LARGEST_PIXELS // 1_000_000} megapixels, "
                f"got {spec.width}×{spec.height}×{spec.depth} pixels",
            )
        if spec.deep:
            raise ReferenceFault(name, "expected one value for each pixel, got deep data (several samples in depth)")
        self._layout = _layout(tuple(spec.channelnames))
        # Whole numbers in a file are display-referred, as everywhere.
        self._linear = spec.format.basetype in (oiio.HALF, oiio.FLOAT, oiio.DOUBLE)
        file.close()

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self._size

    def region(self, box: Box, side: int, notes: list[str]) -> Image.Image:
        """Cut out a part, make all values finite, expose and encode it as sRGB."""
        factor = block_size(max(box.width, box.height), side)
        if factor > 1:
            notes.append(f"averaged in blocks of {factor}×{factor} pixels")
        with without_lines(_COMPLAINT):
            linear, broken = self._averaged(box, factor)
        if broken:
            notes.append(f"warning: {broken} pixels that are not finite were filled from their neighbours")
        linear = _filled(linear, self._name)
        if self._layout.alpha is not None:
            linear = _on_grey(linear, notes)
        shown = linear_to_srgb(_exposed(linear[..., :3], notes)) if self._linear else linear[..., :3]
        return Image.fromarray(quantize(shown))

    def _open(self) -> Any:
        file = oiio.ImageInput.open(self._path)
        if file is None:
            raise ReferenceFault(self._name, f"cannot be decoded: {str(oiio.geterror())[:160]}")
        return file

    def _averaged(self, box: Box, factor: int) -> tuple[FloatArray, int]:
        """Read the part in strips of rows and average its blocks: RGB or RGBA, and how many pixels are not finite."""
        strips, broken = [], 0
        for rows in self._rows(box, factor):
            bad = ~np.isfinite(rows).all(axis=-1)
            broken += int(bad.sum())
            strips.append(block_mean(rows, bad, factor))
        return np.concatenate(strips), broken

    def _rows(self, box: Box, factor: int) -> Iterator[FloatArray]:
        file = self._open()
        spec = file.spec()
        wanted = [*self._layout.color, *(() if self._layout.alpha is None else (self._layout.alpha,))]
        low, high = min(wanted), max(wanted) + 1
        step = -(-max(_STRIP, spec.tile_height) // factor) * factor
        try:
            for top in range(box.top, box.bottom, step):
                bottom = min(top + step, box.bottom)
                values = self._read(file, spec, top, bottom, (low, high))
                rows = np.asarray(values, np.float32).reshape(bottom - top, spec.width, high - low)
                yield rows[:, box.left : box.right, [index - low for index in wanted]]
        finally:
            file.close()

    def _read(self, file: Any, spec: Any, top: int, bottom: int, channels: tuple[int, int]) -> Any:
        first, last = top + spec.y, bottom + spec.y
        if spec.tile_width:
            # Whole rows of tiles, of which the rows asked for are cut out.
            size = spec.tile_height
            begin = (first - spec.y) // size * size + spec.y
            end = min(-(-(last - spec.y) // size) * size + spec.y, spec.y + spec.height)
            values = file.read_tiles(
                spec.x, spec.x + spec.width, begin, end, spec.z, spec.z + 1, channels[0], channels[1], oiio.FLOAT
            )
        else:
            begin, end = first, last
            values = file.read_scanlines(begin, end, 0, channels[0], channels[1], oiio.FLOAT)
        if values is None:
            raise ReferenceFault(self._name, f"cannot be decoded (damaged): {str(file.geterror())[:160]}")
        rows = np.asarray(values, np.float32).reshape(end - begin, spec.width, -1)
        return rows[first - begin : last - begin]


def _layout(names: tuple[str, ...]) -> _Layout:
    """Find colour and alpha by name, in a layer if need be; else the first three channels, or the first as grey."""
    layers: dict[str, dict[str, int]] = {}
    for index, name in enumerate(names):
        layer, _, channel = name.rpartition(".")
        layers.setdefault(layer, {})[channel] = index
    for channels in (layers.get("", {}), *layers.values()):
        alpha = next((channels[a] for a in ("A", "a", "alpha") if a in channels), None)
        for triple in _COLOR:
            if all(name in channels for name in triple):
                red, green, blue = (channels[name] for name in triple)
                return _Layout((red, green, blue), alpha)
        for grey in _GREY:
            if grey in channels:
                return _Layout((channels[grey],) * 3, alpha)
    return _Layout((0, 1, 2) if len(names) > 2 else (0, 0, 0), None)


def _filled(linear: FloatArray, name: str) -> FloatArray:
    """Give pixels that are not finite the value of the nearest one that is, and negative ones 0."""
    bad = ~np.isfinite(linear).all(axis=-1)
    if bad.mean() > 1 - FEWEST_FINITE:
        raise ReferenceFault(name, f"expected finite values, got {100 * bad.mean():.0f} % of the pixels without one")
    if bad.any():
        nearest = ndimage.distance_transform_edt(bad, return_distances=False, return_indices=True)
        linear = linear[tuple(nearest)]
    return np.maximum(linear, np.float32(0))


def _on_grey(linear: FloatArray, notes: list[str]) -> FloatArray:
    """Put premultiplied colour on grey."""
    alpha = np.clip(linear[..., 3:], 0, 1)
    if float(alpha.min()) >= 1:
        return linear[..., :3]
    notes.append(f"transparent parts were flattened onto grey ({BACKGROUND}, {BACKGROUND}, {BACKGROUND})")
    ground = srgb_to_linear(np.full(3, BACKGROUND / 255, np.float32))
    return np.asarray(linear[..., :3] + (1 - alpha) * ground, np.float32)


def _exposed(linear: FloatArray, notes: list[str]) -> FloatArray:
    bright = float(np.quantile(linear.max(axis=-1), BRIGHT_QUANTILE))
    if bright > BRIGHTEST or 0 < bright < DARKEST:
        gain = 1.0 / bright
        notes.append(f"scene-linear values, exposed by {np.log2(gain):+.2f} stops and encoded as sRGB")
        return np.asarray(linear * np.float32(gain), np.float32)
    notes.append("scene-linear values encoded as sRGB")
    return linear
