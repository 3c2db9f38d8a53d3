"""Pictures of channels as people and other programs want them: display transform, encodings, PNG and EXR files."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from renderer.protocol import CHANNELS, Channel, FloatArray, RenderResult

Floats = npt.NDArray[np.floating[Any]]
Bits = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]


def linear_to_srgb(linear: Floats) -> Floats:
    """Scene-linear Rec. 709 to sRGB-encoded values, any shape; what Blender's Standard view transform does.

    Values are clipped to [0, 1] first, as Standard does. The dtype stays. Source: IEC 61966-2-1.
    """
    clipped = np.asarray(np.clip(linear, 0.0, 1.0))
    encoded = _powered(clipped, 1 / 2.4)
    encoded *= 1.055
    encoded -= 0.055
    dark = clipped <= 0.0031308
    encoded[dark] = 12.92 * clipped[dark]
    return encoded


def srgb_to_linear(encoded: Floats) -> Floats:
    """sRGB-encoded values in [0, 1] to scene-linear Rec. 709, any shape; the dtype stays. Source: IEC 61966-2-1."""
    clipped = np.asarray(np.clip(encoded, 0.0, 1.0))
    linear = _powered((clipped + 0.055) / 1.055, 2.4)
    dark = clipped <= 0.04045
    linear[dark] = clipped[dark] / 12.92
    return linear


def _powered(base: Floats, exponent: float) -> Floats:
    """`base` ≥ 0 to a power, within a few units of the last place; NumPy has fast instructions for exp and log only."""
    with np.errstate(divide="ignore"):
        power = np.asarray(np.log(base))
    power *= exponent
    return np.asarray(np.exp(power, out=power))


@dataclass(frozen=True)
class Encoded:
    """A channel in [0, 1] for an integer file. `low` and `high`: the values in channel units that 0 and 1 stand for."""

    pixels: FloatArray
    low: float = 0.0
    high: float = 1.0


def encode(channel: Channel, array: FloatArray) -> Encoded:
    """A channel (H, W, C) as values in [0, 1] that integer files can hold.

    Beauty and base color become sRGB by the Standard transform; roughness and metallic stay raw; normals become
    0.5 + 0.5·n; height is stretched over its own range, which is returned in metres (a flat height becomes 0.5).
    """
    if channel in ("beauty", "base_color"):
        return Encoded(linear_to_srgb(array))
    if channel == "normal":
        return Encoded(0.5 + 0.5 * array, -1.0, 1.0)
    if channel == "height":
        low, high = float(array.min()), float(array.max())
        if high <= low:
            return Encoded(np.full_like(array, 0.5), low, high)
        return Encoded((array - low) / np.float32(high - low), low, high)
    return Encoded(np.clip(array, 0.0, 1.0))


def quantize(pixels: Floats, bits: int = 8) -> Bits:
    """[0, 1] to integers of 8 or 16 bits, rounded to nearest."""
    if bits not in (8, 16):
        raise ValueError(f"expected 8 or 16 bits, got {bits}")
    top = 2**bits - 1
    scaled: npt.NDArray[np.float64] = np.clip(pixels, 0.0, 1.0).astype(np.float64) * top + 0.5
    if bits == 8:
        return scaled.astype(np.uint8)
    return scaled.astype(np.uint16)


def write_png(path: Path, pixels: Bits) -> None:
    """Write (H, W), (H, W, 1) or (H, W, 3) integers of 8 or 16 bits. Raises OSError when `path` cannot be written.

    Written here because Pillow has no 16-bit RGB.
    """
    shape = pixels.shape if pixels.ndim == 3 else (*pixels.shape, 1)
    if len(shape) != 3 or shape[2] not in (1, 3) or 0 in shape:
        raise ValueError(f"expected pixels of shape (H, W), (H, W, 1) or (H, W, 3), got {pixels.shape}")
    height, width, samples = shape
    depth = 8 * pixels.dtype.itemsize
    rows = pixels.astype(f">u{depth // 8}").reshape(height, -1).view(np.uint8).reshape(height, -1)
    # Filter type 2 (up) compresses smooth pictures well and is one subtraction of rows.
    lines = np.empty((height, rows.shape[1] + 1), np.uint8)
    lines[:, 0] = 2
    lines[0, 1:], lines[1:, 1:] = rows[0], rows[1:] - rows[:-1]
    header = struct.pack(">IIBBBBB", width, height, depth, 2 if samples == 3 else 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 4)), (b"IEND", b""))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


_EXR_NAMES = {1: ("Y",), 3: ("R", "G", "B")}
_EXR_FLOAT = 2


def write_exr(path: Path, array: FloatArray) -> None:
    """Write (H, W, 1) or (H, W, 3) float32 values, exact, as a single-part OpenEXR file with ZIPS compression.

    Raises OSError when `path` cannot be written. Source of the layout: openexr.com, "OpenEXR File Layout".
    """
    names = _EXR_NAMES.get(array.shape[2]) if array.ndim == 3 else None
    if names is None:
        raise ValueError(f"expected an array of shape (H, W, 1) or (H, W, 3), got {array.shape}")
    height, width, _ = array.shape
    order = sorted(range(len(names)), key=lambda index: names[index])
    channels = b"".join(names[i].encode() + b"\0" + struct.pack("<iB3xii", _EXR_FLOAT, 0, 1, 1) for i in order) + b"\0"
    box = struct.pack("<4i", 0, 0, width - 1, height - 1)
    attributes = (
        (b"channels", b"chlist", channels),
        (b"compression", b"compression", b"\x02"),
        (b"dataWindow", b"box2i", box),
        (b"displayWindow", b"box2i", box),
        (b"lineOrder", b"lineOrder", b"\0"),
        (b"pixelAspectRatio", b"float", struct.pack("<f", 1.0)),
        (b"screenWindowCenter", b"v2f", struct.pack("<2f", 0.0, 0.0)),
        (b"screenWindowWidth", b"float", struct.pack("<f", 1.0)),
    )
    head = struct.pack("<ii", 20000630, 2)
    head += (
        b"".join(name + b"\0" + kind + b"\0" + struct.pack("<i", len(v)) + v for name, kind, v in attributes) + b"\0"
    )
    planar = np.ascontiguousarray(array.astype("<f4")[..., order].transpose(0, 2, 1)).reshape(height, -1)
    lines = [_exr_line(row, planar[row].tobytes()) for row in range(height)]
    starts = np.cumsum([0, *map(len, lines[:-1])], dtype=np.uint64) + np.uint64(len(head) + 8 * height)
    path.write_bytes(head + starts.astype("<u8").tobytes() + b"".join(lines))


def _exr_line(row: int, raw: bytes) -> bytes:
    """One scan line: bytes split into even and odd halves, differences taken, then deflated if that is smaller."""
    data = np.frombuffer(raw, np.uint8)
    split = np.concatenate((data[0::2], data[1::2])).astype(np.int16)
    delta = split.copy()
    delta[1:] = split[1:] - split[:-1] + 128
    packed = zlib.compress((delta & 255).astype(np.uint8).tobytes(), 6)
    body = packed if len(packed) < len(raw) else raw
    return struct.pack("<ii", row, len(body)) + body


def write_maps(folder: Path, result: RenderResult, *, bits: int = 8, exr: bool = False) -> dict[str, dict[str, object]]:
    """Write each channel of a result as `<channel>.png` (and `.exr` with the raw floats) into `folder`.

    Returns for each channel its file names and the range in channel units that the PNG spans, for a manifest.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written: dict[str, dict[str, object]] = {}
    for channel in CHANNELS:
        array = result.channels.get(channel)
        if array is None:
            continue
        encoded = encode(channel, array)
        write_png(folder / f"{channel}.png", quantize(encoded.pixels, bits))
        written[channel] = {"png": f"{channel}.png", "low": encoded.low, "high": encoded.high, "bits": bits}
        if exr:
            write_exr(folder / f"{channel}.exr", array)
            written[channel]["exr"] = f"{channel}.exr"
    return written
