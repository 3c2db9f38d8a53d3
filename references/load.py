"""Any picture a user has, as a square sRGB reference, with a record of all that was changed on the way in."""

from __future__ import annotations

import hashlib
import io
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageCms, ImageOps, UnidentifiedImageError

from references.bundled import bundled_path
from references.errors import ReferenceFault
from references.preparation import Crop, Preparation

FloatArray = npt.NDArray[np.float32]

WORKING_SIDE = 1024
"""Longest side kept, in pixels."""

SMALLEST_SIDE = 16
"""Shortest side that holds enough to measure, in pixels."""

LARGEST_PIXELS = 100_000_000
"""Pictures above this are refused: at 4 bytes a pixel they would need more than 400 MB to decode."""

LARGEST_BYTES = 512 * 1024 * 1024
BACKGROUND = 128
"""sRGB grey that transparent pixels are flattened onto: it takes the side of neither dark nor light."""

_UNREADABLE = "cannot be decoded (damaged, not a picture, or a format that is not supported)"
_WIDE_GREY = {"I;16", "I;16B", "I;16L", "I;16N"}


@dataclass(frozen=True)
class Reference:
    """A picture to be matched.

    `image_srgb`: float32 (N, N, 3), display-referred sRGB in [0, 1], row 0 at the top. `sha256` is of the file's
    bytes. `size`: width and height of the upright original. `notes`: what was changed on the way in, in order.
    `patch_size_m`: side of the square in metres, None unless the user gave a scale.
    """

    id: str
    image_srgb: FloatArray
    path: Path
    sha256: str
    size: tuple[int, int]
    notes: tuple[str, ...] = ()
    patch_size_m: float | None = None


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
    square, size, notes = _decode(data, name, chosen.crop)
    side_px = square.width
    if min(square.size) < SMALLEST_SIDE:
        raise ReferenceFault(
            name, f"expected at least {SMALLEST_SIDE}×{SMALLEST_SIDE} pixels, got {square.width}×{square.height}"
        )
    if max(square.size) > longest_side:
        notes.append(f"scaled from {square.width}×{square.height} to {longest_side}×{longest_side} pixels")
        square = square.resize((longest_side, longest_side), Image.Resampling.LANCZOS)
    pixels = np.asarray(square, dtype=np.float32) / np.float32(255)
    pixels.setflags(write=False)
    identity = id or (name if path.name != Path(name).name else path.stem)
    patch_size_m = chosen.scale.side_of(side_px) if chosen.scale else None
    return Reference(identity, pixels, path, hashlib.sha256(data).hexdigest(), size, tuple(notes), patch_size_m)


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


def _decode(data: bytes, name: str, crop: Crop | None) -> tuple[Image.Image, tuple[int, int], list[str]]:
    """Make the upright, square, 8-bit RGB picture, the size of the upright original and the notes."""
    notes: list[str] = []
    with warnings.catch_warnings():
        # Pillow warns about odd metadata and, below its hard limit, about size; our own limit decides on size.
        warnings.simplefilter("ignore")
        try:
            with Image.open(io.BytesIO(data)) as image:
                _check_size(image, name)
                frames = getattr(image, "n_frames", 1)
                if frames > 1:
                    notes.append(f"first of {frames} frames")
                    image.seek(0)
                image.load()
                upright = _oriented(image, notes)
                # Cropped before anything is converted: conversions of what is thrown away would cost memory.
                square = _cropped(upright, crop, name, notes)
                for step in (_bounded, _eight_bit, _converted_by_profile, _flattened, _as_rgb):
                    square = step(square, notes)
                return square, upright.size, notes
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
            raise ReferenceFault(name, f"{_UNREADABLE}: {error}") from None


def _check_size(image: Image.Image, name: str) -> None:
    if image.width * image.height > LARGEST_PIXELS:
        raise ReferenceFault(
            name,
            f"expected at most {LARGEST_PIXELS // 1_000_000} megapixels, got {image.width}×{image.height} pixels; "
            "scale it down first",
        )


def _oriented(image: Image.Image, notes: list[str]) -> Image.Image:
    """Turn the picture as its EXIF orientation says."""
    try:
        orientation = image.getexif().get(0x0112, 1)
    except (OSError, ValueError, SyntaxError, TypeError):
        notes.append("warning: the EXIF data is damaged and was ignored")
        return image
    if orientation not in range(2, 9):
        return image
    profile, transparency = image.info.get("icc_profile"), image.info.get("transparency")
    turned = ImageOps.exif_transpose(image)
    if profile:
        turned.info["icc_profile"] = profile
    if transparency is not None:
        turned.info["transparency"] = transparency
    notes.append(f"turned upright (EXIF orientation {orientation})")
    return turned


def _bounded(image: Image.Image, notes: list[str]) -> Image.Image:
    """Average whole blocks of a very large picture, in the modes that have it; the exact size comes last."""
    factor = max(image.size) // (2 * WORKING_SIDE)
    if factor < 2 or image.mode not in ("L", "LA", "RGB", "RGBA", "CMYK", "YCbCr"):
        return image
    notes.append(f"averaged in blocks of {factor}×{factor} pixels")
    return image.reduce(factor)


def _eight_bit(image: Image.Image, notes: list[str]) -> Image.Image:
    """Bring deep grey pictures to 8 bits over their whole range; Pillow's own conversion clips."""
    if image.mode not in _WIDE_GREY | {"I", "F"}:
        return image
    values = np.asarray(image).astype(np.float64)
    if not np.isfinite(values).all():
        notes.append(f"warning: {int((~np.isfinite(values)).sum())} non-finite values were set to 0")
        values = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
    top = 65535.0 if image.mode != "F" else 1.0
    if values.min() < 0 or values.max() > top:
        low, high = float(values.min()), float(values.max())
        notes.append(f"values from {low:g} to {high:g} were scaled to the full range")
        values, top = values - low, max(high - low, 1e-12)
    else:
        notes.append("16-bit grey to 8 bits" if top > 1 else "floating-point grey to 8 bits")
    grey = Image.fromarray(np.round(values * (255.0 / top)).astype(np.uint8))
    grey.info = {k: v for k, v in image.info.items() if k == "icc_profile"}
    return grey


def _converted_by_profile(image: Image.Image, notes: list[str]) -> Image.Image:
    """Convert by the embedded ICC profile to sRGB; a profile that cannot be used is a warning."""
    data: Any = image.info.get("icc_profile")
    if not data:
        return image
    alpha = image.getchannel("A") if image.mode in ("RGBA", "LA") else None
    base = image
    if image.mode == "P":
        if "transparency" in image.info:
            alpha = image.convert("RGBA").getchannel("A")
        base = image.convert("RGB")
    elif alpha is not None:
        base = image.convert(image.mode[:-1])
    try:
        profile = ImageCms.ImageCmsProfile(io.BytesIO(data))
        name = ImageCms.getProfileDescription(profile).strip() or "unnamed profile"
        converted = ImageCms.profileToProfile(base, profile, ImageCms.createProfile("sRGB"), outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError, UnicodeDecodeError):
        notes.append(f"warning: the embedded colour profile cannot be used for {base.mode} and was ignored")
        return image
    if converted is None:
        return image
    if "srgb" not in name.lower():
        notes.append(f"converted from the colour profile “{name}” to sRGB")
    if alpha is not None:
        converted.putalpha(alpha)
    converted.info.pop("icc_profile", None)
    return converted


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


def _cropped(image: Image.Image, crop: Crop | None, name: str, notes: list[str]) -> Image.Image:
    if crop is not None:
        inside = crop.left >= 0 and crop.top >= 0 and crop.width > 0 and crop.height > 0
        if not inside or crop.left + crop.width > image.width or crop.top + crop.height > image.height:
            raise ReferenceFault(name, f"expected a crop inside {image.width}×{image.height} pixels, got {crop}")
        image = image.crop((crop.left, crop.top, crop.left + crop.width, crop.top + crop.height))
        notes.append(f"cropped to {crop.width}×{crop.height} at ({crop.left}, {crop.top}) as asked")
    if image.width == image.height:
        return image
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    notes.append(f"cropped from {image.width}×{image.height} to the {side}×{side} square in its centre")
    return image.crop((left, top, left + side, top + side))
