"""Any picture a user has, as a square sRGB reference, with a record of all that was changed on the way in."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, UnidentifiedImageError

from evaluators.functional.light import find_light, flattened
from references.bundled import bundled_path
from references.errors import ReferenceFault
from references.pillow_source import PillowSource
from references.preparation import Crop, Preparation
from references.source import LARGEST_PIXELS, WORKING_SIDE, Box, PictureSource
from references.square import propose_square

FloatArray = npt.NDArray[np.float32]

SMALLEST_SIDE = 16
"""Shortest side that holds enough to measure, in pixels."""

THUMBNAIL_SIDE = 256
"""Longest side of the whole picture that is kept beside the square, in pixels."""

LARGEST_BYTES = 512 * 1024 * 1024
_UNREADABLE = "cannot be decoded (damaged, not a picture, or a format that is not supported)"
_TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")

# First bytes of OpenEXR and Radiance files.
_DEEP = (b"\x76\x2f\x31\x01", b"#?RADIANCE", b"#?RGBE")


@dataclass(frozen=True)
class Reference:
    """A picture to be matched.

    `image_srgb`: float32 (N, N, 3), display-referred sRGB in [0, 1], row 0 at the top. `sha256` is of the file's
    bytes. `size`: width and height of the upright original. `notes`: what was changed on the way in, in order.
    `patch_size_m`: side of the square in metres, None unless the user gave a scale. `square`: where the square is in
    the upright original. `whole_srgb`: all of the original, small, (h, w, 3).
    """

    id: str
    image_srgb: FloatArray
    path: Path
    sha256: str
    size: tuple[int, int]
    notes: tuple[str, ...] = ()
    patch_size_m: float | None = None
    square: Crop | None = None
    whole_srgb: FloatArray | None = None


def load_reference(
    path_or_name: str | Path,
    *,
    crop: Crop | None = None,
    preparation: Preparation | None = None,
    longest_side: int = WORKING_SIDE,
    id: str | None = None,
) -> Reference:
    """Load a picture file, a bundled reference (see `bundled_names`) or a `skimage:` texture as a square.

    A name with a file behind it is a file. Orientation, colour profile, transparency, bit depth, animation, size and
    crop are each handled and recorded in `notes`. `preparation` is what the user decided (`crop` alone is short for
    it); without a crop the centre square is taken. `id` replaces the one made from the name.

    Raises `ReferenceFault`, one line, when there is no usable picture.
    """
    name = str(path_or_name)
    path = _locate(name)
    data = _read(path, name)
    chosen = preparation or Preparation(crop=crop)
    notes: list[str] = []
    with warnings.catch_warnings():
        # Pillow warns about odd metadata and, below its hard limit, about size; our own limit decides on size.
        warnings.simplefilter("ignore")
        try:
            source = _opened(data, path, name, notes)
            whole = source.region(Box(0, 0, *source.size), THUMBNAIL_SIDE, [])
            box = _square(source, whole, chosen, name, notes)
            square = source.region(box, longest_side, notes)
        except ReferenceFault:
            raise
        except Image.DecompressionBombError:
            raise ReferenceFault(
                name, f"expected at most {LARGEST_PIXELS // 1_000_000} megapixels; scale it down first"
            ) from None
        except UnidentifiedImageError:
            raise ReferenceFault(name, _UNREADABLE) from None
        except MemoryError:
            raise ReferenceFault(name, "is too large for this machine's memory") from None
        except Exception as error:  # noqa: BLE001 - decoders raise anything for a damaged file, and the input is hostile
            raise ReferenceFault(name, f"{_UNREADABLE}: {str(error)[:200]}") from None
    pixels = _finished(square, box.width, longest_side, notes)
    light = find_light(_sampled(pixels))
    if chosen.flatten:
        notes.append(f"light flattened (it changed by {light.range_stops:.2f} stops)")
        pixels = flattened(pixels, light)
    elif light.uneven:
        notes.append(f"hint: the light changes by {light.range_stops:.1f} stops over the picture; flatten takes it out")
    whole.thumbnail((THUMBNAIL_SIDE, THUMBNAIL_SIDE), Image.Resampling.BOX)
    # What light alone does to one material is told above.
    if chosen.crop is None and chosen.mask is None and not light.uneven:
        _hint_at_square(_pixels(whole), source.size, notes)
    return Reference(
        id=id or (name if path.name != Path(name).name else path.stem),
        image_srgb=_frozen(pixels),
        path=path,
        sha256=hashlib.sha256(data).hexdigest(),
        size=source.size,
        notes=tuple(notes),
        patch_size_m=chosen.scale.side_of(box.width) if chosen.scale else None,
        square=Crop(box.left, box.top, box.width, box.height),
        whole_srgb=_frozen(_pixels(whole)),
    )


def _locate(name: str) -> Path:
    if "\0" in name:
        raise ReferenceFault(repr(name), "a file name cannot hold a NUL character")
    path = Path(name).expanduser()
    try:
        if path.is_dir():
            raise ReferenceFault(name, "is a folder; expected one picture")
        if path.exists():
            return path
    except OSError as error:
        raise ReferenceFault(name, f"cannot be opened: {error.strerror or error}") from None
    return bundled_path(name)


def _read(path: Path, name: str) -> bytes:
    try:
        if not path.is_file():
            raise ReferenceFault(name, "is not a regular file")
        length = path.stat().st_size
        if length == 0:
            raise ReferenceFault(name, "is empty")
        if length > LARGEST_BYTES:
            raise ReferenceFault(name, f"expected at most {LARGEST_BYTES >> 20} MB, got {length >> 20} MB")
        return path.read_bytes()
    except OSError as error:
        raise ReferenceFault(name, f"cannot be read: {error.strerror or error}") from None


def _opened(data: bytes, path: Path, name: str, notes: list[str]) -> PictureSource:
    """Open by the first bytes, whatever the file is called."""
    if data.startswith(_DEEP):
        return _deep(path, name)
    try:
        return PillowSource(data, name, notes)
    except UnidentifiedImageError:
        if data.startswith(_TIFF):  # of kinds that Pillow does not know, such as colour in floating point
            return _deep(path, name)
        raise


def _deep(path: Path, name: str) -> PictureSource:
    try:
        from references.deep_source import DeepSource  # noqa: PLC0415 - a library that few pictures need
    except ImportError as error:
        raise ReferenceFault(name, f"needs OpenImageIO ({error}); pip install 'openimageio>=3.0'") from None
    return DeepSource(str(path), name)


def _square(source: PictureSource, whole: Image.Image, chosen: Preparation, name: str, notes: list[str]) -> Box:
    """Find the part to use: of the crop, the mask or the whole; the proposed square, or else the one in the centre."""
    width, height = source.size
    area = Box(0, 0, width, height)
    if isinstance(chosen.crop, Crop):
        area = _asked(chosen.crop, source.size, name)
        notes.append(f"cropped to {area.width}×{area.height} at ({area.left}, {area.top}) as asked")
    side = min(area.width, area.height)
    if chosen.mask is not None or chosen.crop == "auto":
        box = _proposed(area, source.size, whole, chosen.mask, name)
        reason = "the most homogeneous one inside the mask" if chosen.mask is not None else "the most homogeneous one"
        notes.append(
            f"cropped from {width}×{height} to the {box.width}×{box.width} square at ({box.left}, {box.top}), {reason}"
        )
    else:
        left, top = area.left + (area.width - side) // 2, area.top + (area.height - side) // 2
        box = Box(left, top, left + side, top + side)
        if area.width != area.height:
            notes.append(f"cropped from {area.width}×{area.height} to the {side}×{side} square in its centre")
    if box.width < SMALLEST_SIDE:
        raise ReferenceFault(
            name, f"expected at least {SMALLEST_SIDE}×{SMALLEST_SIDE} pixels, got {box.width}×{box.height}"
        )
    return box


def _asked(crop: Crop, size: tuple[int, int], name: str) -> Box:
    box = Box(crop.left, crop.top, crop.left + crop.width, crop.top + crop.height)
    inside = box.left >= 0 and box.top >= 0 and box.right <= size[0] and box.bottom <= size[1]
    if not (inside and crop.width > 0 and crop.height > 0):
        raise ReferenceFault(name, f"expected a crop inside {size[0]}×{size[1]} pixels, got {crop}")
    return box


def _proposed(area: Box, size: tuple[int, int], whole: Image.Image, mask: Path | None, name: str) -> Box:
    """Propose a square of an area, in pixels of the original, from the small whole."""
    across, down = whole.width / size[0], whole.height / size[1]
    shown = (round(area.left * across), round(area.top * down), round(area.right * across), round(area.bottom * down))
    allowed = None
    if mask is not None:
        allowed = np.asarray(_mask(mask, size).resize(whole.size, Image.Resampling.BOX).crop(shown)) >= 250
    found = propose_square(_pixels(whole.crop(shown)), allowed)
    if found is None:
        raise ReferenceFault(name, f"expected a mask with room for a square, got {mask} without one")
    box = found.box((area.width, area.height))
    return Box(box.left + area.left, box.top + area.top, box.right + area.left, box.bottom + area.top)


def _mask(path: Path, size: tuple[int, int]) -> Image.Image:
    """Read a mask as black and white: white where the material is. Raises `ReferenceFault` for one of another size."""
    name = str(path)
    try:
        source = PillowSource(_read(_locate_mask(path), name), name, [])
        grey = source.region(Box(0, 0, *source.size), THUMBNAIL_SIDE, []).convert("L")
    except ReferenceFault:
        raise
    except Exception as error:  # noqa: BLE001 - as above
        raise ReferenceFault(name, f"{_UNREADABLE}: {str(error)[:200]}") from None
    if source.size != size:
        (width, height), (found, high) = size, source.size
        raise ReferenceFault(name, f"expected a mask of the picture's {width}×{height} pixels, got {found}×{high}")
    return grey.point([0] * 128 + [255] * 128)


def _locate_mask(path: Path) -> Path:
    if not path.is_file():
        raise ReferenceFault(str(path), "expected a picture as mask; no such file")
    return path


def _finished(square: Image.Image, side_px: int, longest_side: int, notes: list[str]) -> FloatArray:
    if max(square.size) > longest_side:
        notes.append(f"scaled from {side_px}×{side_px} to {longest_side}×{longest_side} pixels")
        square = square.resize((longest_side, longest_side), Image.Resampling.LANCZOS)
    return _pixels(square)


def _hint_at_square(whole: FloatArray, size: tuple[int, int], notes: list[str]) -> None:
    found = propose_square(whole)
    if found is not None and found.mixed:
        box = found.box(size)
        notes.append(
            f"hint: the picture seems to hold more than one material; the most homogeneous square, {box.width} pixels "
            f"at ({box.left}, {box.top}), is what crop auto takes"
        )


def _sampled(pixels: FloatArray) -> FloatArray:
    """Every n-th pixel, as many as the slow changes of light need."""
    step = max(min(pixels.shape[:2]) // (2 * THUMBNAIL_SIDE), 1)
    return pixels[::step, ::step]


def _pixels(image: Image.Image) -> FloatArray:
    return np.asarray(np.asarray(image, dtype=np.float32) / np.float32(255))


def _frozen(pixels: FloatArray) -> FloatArray:
    pixels.setflags(write=False)
    return pixels
