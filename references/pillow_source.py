"""Pictures that Pillow decodes."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from references.errors import ReferenceFault
from references.icc import converted_by_profile
from references.source import BACKGROUND, LARGEST_PIXELS, Box, block_mean, block_size

FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "GIF", "BMP", "DIB", "AVIF", "JPEG2000", "PPM", "TGA")
"""What is tried: not the kinds that start other programs (EPS) or hold no pixels of their own."""

_REDUCIBLE = frozenset({"L", "LA", "RGB", "RGBA", "CMYK", "YCbCr", "LAB"})
_WIDE = frozenset({"I;16", "I;16B", "I;16L", "I;16N", "I", "F"})
_SIDEWAYS = frozenset({5, 6, 7, 8})
_ORIENTATION_TAG = 0x0112
_STRIP = 64
# Where the rectangle of an upright picture of width w and height h lies in the file, by EXIF orientation: each corner
# coordinate as (index into left, top, right, bottom; whether it counts from the far side).
_STORED: dict[int, tuple[tuple[int, bool], ...]] = {
    1: ((0, False), (1, False), (2, False), (3, False)),
    2: ((2, True), (1, False), (0, True), (3, False)),
    3: ((2, True), (3, True), (0, True), (1, True)),
    4: ((0, False), (3, True), (2, False), (1, True)),
    5: ((1, False), (0, False), (3, False), (2, False)),
    6: ((1, False), (2, True), (3, False), (0, True)),
    7: ((3, True), (2, True), (1, True), (0, True)),
    8: ((3, True), (0, False), (1, True), (2, False)),
}
_TURN: dict[int, Image.Transpose] = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


class PillowSource:
    """A decoded picture in the file's own mode and orientation."""

    def __init__(self, data: bytes, name: str, notes: list[str]) -> None:
        Image.init()
        _quiet_logs()
        image = Image.open(io.BytesIO(data), formats=[form for form in FORMATS if form in Image.OPEN])
        if image.width * image.height > LARGEST_PIXELS:
            raise ReferenceFault(
                name,
                f"expected at most {LARGEST_PIXELS // 1_000_000} megapixels, got {image.width}×{image.height} pixels; "
                "scale it down first",
            )
        frames = getattr(image, "n_frames", 1)
        if frames > 1:
            notes.append(f"first of {frames} frames")
            image.seek(0)
        image.load()
        self._image: Image.Image = image
        self._orientation = _orientation(image, notes)
        if self._orientation != 1:
            notes.append(f"turned upright (EXIF orientation {self._orientation})")

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the upright picture."""
        width, height = self._image.size
        return (height, width) if self._orientation in _SIDEWAYS else (width, height)

    def region(self, box: Box, side: int, notes: list[str]) -> Image.Image:
        """Cut out a part: averaged, turned, brought to 8 bits, to sRGB, put on grey."""
        part = self._part(self._stored(box), block_size(max(box.width, box.height), side), notes)
        if self._orientation != 1:
            info = part.info
            part = part.transpose(_TURN[self._orientation])
            part.info = info
        for step in (_eight_bit, converted_by_profile, _flattened, _as_rgb):
            part = step(part, notes)
        return part

    def _stored(self, box: Box) -> tuple[int, int, int, int]:
        width, height = self.size
        far = (width, height, width, height)
        left, top, right, bottom = (far[i] - box[i] if back else box[i] for i, back in _STORED[self._orientation])
        return left, top, right, bottom

    def _part(self, box: tuple[int, int, int, int], factor: int, notes: list[str]) -> Image.Image:
        image = self._image
        info: dict[str | tuple[int, int], Any] = {
            key: value for key, value in image.info.items() if key in ("icc_profile", "transparency")
        }
        in_strips = "transparency" in info or image.mode in ("1", "P", "PA")
        if factor > 1 and (in_strips or image.mode in _REDUCIBLE):
            notes.append(f"averaged in blocks of {factor}×{factor} pixels")
            part = _reduced_in_strips(image, box, factor) if in_strips else image.reduce(factor, box)
            info.pop("transparency", None)
        elif factor > 1 and image.mode in _WIDE:
            notes.append(f"averaged in blocks of {factor}×{factor} pixels")
            part = _wide_reduced(image, box, factor)
        else:
            part = image.copy() if box == (0, 0, *image.size) else image.crop(box)
        part.info = info
        return part


def _reduced_in_strips(image: Image.Image, box: tuple[int, int, int, int], factor: int) -> Image.Image:
    """Average a picture of palette colours or bits, some rows at a time, as all at once would be large."""
    left, top, right, bottom = box
    mode = "RGBA" if "transparency" in image.info or image.mode == "PA" else {"1": "L"}.get(image.mode, "RGB")
    width, height = -(-(right - left) // factor), -(-(bottom - top) // factor)
    out = Image.new(mode, (width, height))
    for row in range(0, height, _STRIP):
        end = min(top + (row + _STRIP) * factor, bottom)
        strip = image.crop((left, top + row * factor, right, end))
        strip.info = image.info
        out.paste(strip.convert(mode).reduce(factor), (0, row))
    return out


@cache
def _quiet_logs() -> None:
    """Keep what Pillow logs of damaged files off the stderr of programs without logging; others still hear it."""
    logging.getLogger("PIL").addHandler(logging.NullHandler())


def _wide_reduced(image: Image.Image, box: tuple[int, int, int, int], factor: int) -> Image.Image:
    """Average a picture of deep grey in the same mode, some rows at a time; blocks without a finite value stay so."""
    left, top, right, bottom = box
    strips = []
    for row in range(top, bottom, _STRIP * factor):
        rows = np.asarray(image.crop((left, row, right, min(row + _STRIP * factor, bottom)))).astype(np.float32)
        strips.append(block_mean(rows[..., None], ~np.isfinite(rows), factor)[..., 0])
    kind = {"F": np.float32, "I": np.int32}.get(image.mode, np.uint16)
    values = np.concatenate(strips)
    return Image.fromarray(values if kind is np.float32 else np.round(values).astype(kind))


def _orientation(image: Image.Image, notes: list[str]) -> int:
    try:
        value = image.getexif().get(_ORIENTATION_TAG, 1)
    except (OSError, ValueError, SyntaxError, TypeError):
        notes.append("warning: the EXIF data is damaged and was ignored")
        return 1
    return value if value in _STORED else 1


def _eight_bit(image: Image.Image, notes: list[str]) -> Image.Image:
    """Bring deep grey pictures to 8 bits over their whole range; Pillow's own conversion clips."""
    if image.mode not in _WIDE:
        return image
    values = np.asarray(image)
    top = 65535.0 if image.mode != "F" else 1.0
    bad, low, high = 0, np.inf, -np.inf
    for strip in _strips(values):
        finite = strip[np.isfinite(strip)]
        bad += strip.size - finite.size
        if finite.size:
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
    if bad:
        notes.append(f"warning: {bad} values that are not finite were set to the darkest")
    if low < 0 or high > top:
        notes.append(f"values from {low:g} to {high:g} were scaled to the full range")
        offset, span = low, max(high - low, 1e-12)
    else:
        notes.append("16-bit grey to 8 bits" if top > 1 else "floating-point grey to 8 bits")
        offset, span = 0.0, top
    grey = np.empty(values.shape, np.uint8)
    for row, strip in zip(range(0, len(values), _STRIP), _strips(values), strict=True):
        scaled = (np.nan_to_num(strip, nan=offset, posinf=offset, neginf=offset) - offset) * (255.0 / span)
        grey[row : row + _STRIP] = np.clip(np.round(scaled), 0, 255)
    made = Image.fromarray(grey)
    made.info = {key: value for key, value in image.info.items() if key == "icc_profile"}
    return made


def _strips(values: npt.NDArray[np.generic]) -> Iterator[npt.NDArray[np.float64]]:
    """Some rows at a time: a large picture as a whole in double precision would need eight bytes a pixel."""
    return (values[row : row + _STRIP].astype(np.float64) for row in range(0, len(values), _STRIP))


def _flattened(image: Image.Image, notes: list[str]) -> Image.Image:
    """Put transparent pixels onto middle grey."""
    if image.mode not in ("RGBA", "LA", "PA", "RGBa", "La") and "transparency" not in image.info:
        return image
    colored = image.convert("RGBA")
    lowest, _ = colored.getchannel("A").getextrema()
    if lowest == 255:
        return colored.convert("RGB")
    ground = Image.new("RGBA", colored.size, (BACKGROUND, BACKGROUND, BACKGROUND, 255))
    notes.append(f"transparent parts were flattened onto grey ({BACKGROUND}, {BACKGROUND}, {BACKGROUND})")
    return Image.alpha_composite(ground, colored).convert("RGB")


def _as_rgb(image: Image.Image, notes: list[str]) -> Image.Image:
    if image.mode == "RGB":
        return image
    if image.mode not in ("L", "P", "1"):
        notes.append(f"converted from {image.mode} to RGB")
    return image.convert("RGB")
