"""Odd, broken and hostile picture files, made on the spot."""

import io
import struct
import zlib

import numpy as np
from PIL import Image, ImageCms


def encoded(image, form, **options):
    """The bytes of an image in a format."""
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def gradient(width, height):
    """A smooth RGB picture."""
    x, y = np.linspace(0, 255, width)[None], np.linspace(0, 255, height)[:, None]
    planes = np.broadcast_arrays(x, y, (x + y) / 2)
    return Image.fromarray(np.stack(planes, axis=-1).astype(np.uint8))


def png_header_only(width, height):
    """A 1-bit PNG that claims a size and holds next to nothing."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    body = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def big_endian_tiff16(values):
    """An uncompressed big-endian 16-bit grey TIFF of values (H, W)."""
    height, width = values.shape
    data = values.astype(">u2").tobytes()
    tags = [
        (256, 3, 1, width << 16),
        (257, 3, 1, height << 16),
        (258, 3, 1, 16 << 16),
        (259, 3, 1, 1 << 16),
        (262, 3, 1, 1 << 16),
        (273, 4, 1, 8),
        (277, 3, 1, 1 << 16),
        (278, 3, 1, height << 16),
        (279, 4, 1, len(data)),
    ]
    directory = struct.pack(">H", len(tags)) + b"".join(struct.pack(">HHII", *tag) for tag in tags) + b"\0\0\0\0"
    return b"MM\0*" + struct.pack(">I", 8 + len(data)) + data + directory


def matrix_profile(primaries, gamma=2.2):
    """A minimal ICC v2 matrix profile: `primaries` are rows of XYZ (D50) for red, green and blue."""

    def fixed(value):
        return struct.pack(">i", round(value * 65536))

    white = fixed(0.9642) + fixed(1.0) + fixed(0.8249)
    text = b"test wide gamut\0"
    bodies = {
        b"desc": b"desc" + bytes(4) + struct.pack(">I", len(text)) + text + bytes(78),
        b"cprt": b"text" + bytes(4) + b"none\0",
        b"wtpt": b"XYZ " + bytes(4) + white,
    }
    for name, row in zip((b"rXYZ", b"gXYZ", b"bXYZ"), primaries, strict=True):
        bodies[name] = b"XYZ " + bytes(4) + b"".join(fixed(v) for v in row)
    for name in (b"rTRC", b"gTRC", b"bTRC"):
        bodies[name] = b"curv" + bytes(4) + struct.pack(">IH", 1, round(gamma * 256))
    return _profile(bodies, b"mntrRGB XYZ ", white)


# XYZ of the Display P3 primaries, adapted to D50 (as in Apple's profile).
DISPLAY_P3 = ((0.51512, 0.2412, -0.00105), (0.29198, 0.69225, 0.04189), (0.1571, 0.06657, 0.78407))


def srgb_profile():
    """The bytes of an sRGB profile."""
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def cmyk_profile(corners):
    """A minimal ICC v2 printer profile, two steps an ink: `corners` gives Lab for (C, M, Y, K) of 0 or 1.

    Between the corners the inks mix linearly in Lab; no real ink does, but every reader must interpolate the same.
    """

    def fixed(value):
        return struct.pack(">i", round(value * 65536))

    text = b"test ink\0"
    white = fixed(0.9642) + fixed(1.0) + fixed(0.8249)
    table = b""
    for index in range(16):
        lightness, a, b = corners(*(index >> shift & 1 for shift in (3, 2, 1, 0)))
        table += bytes([round(lightness * 255 / 100), round(a) + 128, round(b) + 128])
    ramp = bytes(range(256))
    unit = b"".join(fixed(float(i == j)) for i in range(3) for j in range(3))
    bodies = {
        b"desc": b"desc" + bytes(4) + struct.pack(">I", len(text)) + text + bytes(78),
        b"cprt": b"text" + bytes(4) + b"none\0",
        b"wtpt": b"XYZ " + bytes(4) + white,
        b"A2B0": b"mft1" + bytes(4) + bytes([4, 3, 2, 0]) + unit + 4 * ramp + table + 3 * ramp,
    }
    return _profile(bodies, b"prtrCMYKLab ", white)


def _profile(bodies, kind, white):
    offset, table, data = 128 + 4 + 12 * len(bodies), b"", b""
    for name, body in bodies.items():
        padded = body + bytes(-len(body) % 4)
        table += name + struct.pack(">II", offset + len(data), len(body))
        data += padded
    head = bytearray(128)
    struct.pack_into(">I", head, 0, offset + len(data))
    head[8:12] = b"\x02\x10\0\0"
    head[12:24] = kind
    head[36:40] = b"acsp"
    head[68:80] = white
    return bytes(head) + struct.pack(">I", len(bodies)) + table + data


def png(width, height, bit_depth, color_type, rows, extra=()):
    """A PNG of raw rows (bytes, without filter bytes), with extra chunks (kind, data) before the pixels."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, bit_depth, color_type, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + row for row in rows), 1)
    middle = b"".join(chunk(kind, data) for kind, data in extra)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + middle + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def float_file(path, pixels, kind="half", channels=("R", "G", "B"), tile=0):
    """Write pixels (H, W, C) with OpenImageIO to a file of the kind that its ending says; returns its bytes."""
    import OpenImageIO as oiio

    height, width, count = pixels.shape
    spec = oiio.ImageSpec(width, height, count, kind)
    spec.channelnames = tuple(channels)
    if tile:
        spec.tile_width = spec.tile_height = tile
    out = oiio.ImageOutput.create(str(path))
    assert out.open(str(path), spec), oiio.geterror()
    assert out.write_image(np.ascontiguousarray(pixels, np.float32)), out.geterror()
    out.close()
    return path.read_bytes()
