"""Broken, odd and hostile files: each gives a right result or one clear line; memory is bounded and nothing hangs."""

import json
import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from picture_files import (
    DISPLAY_P3,
    big_endian_tiff16,
    cmyk_profile,
    encoded,
    float_file,
    gradient,
    matrix_profile,
    png,
    png_header_only,
)
from PIL import Image

RED, SECONDS, MEGABYTES = (200, 30, 30), 60, 1000
# Loads each file under an alarm; one JSON line a file: size, middle colour, notes, or the fault.
CHILD = """
import json, re, signal, sys
from references import ReferenceFault, load_reference
for name in sys.argv[2:]:
    signal.alarm(int(sys.argv[1]))
    try:
        found = load_reference(name)
        middle = found.image_srgb[found.image_srgb.shape[0] // 2, found.image_srgb.shape[1] // 2]
        answer = {"size": found.size, "middle": [round(float(c) * 255) for c in middle], "notes": found.notes}
    except ReferenceFault as fault:
        answer = {"fault": str(fault)}
    signal.alarm(0)
    # Not ru_maxrss, which a child inherits from its parent.
    answer["megabytes"] = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
    print(json.dumps(answer), flush=True)
"""


def red(mode="RGB", size=(64, 64), color=RED):
    return Image.new(mode, size, color)


def flat(value, channels=3):
    return np.full((64, 64, channels), value, np.float32)


def with_bad(value, bad):
    pixels = flat(value)
    pixels[20:23, 20:23], pixels[32, 32, 1], pixels[40, 40] = bad, np.nan, -np.inf
    return pixels


def deep(ending, pixels, kind="half", cut=None, **options):
    """A maker of a floating-point file."""
    return lambda folder: float_file(folder / f"made.{ending}", pixels, kind, **options)[:cut]


def frames(form):
    images = [red(), Image.new("RGB", (64, 64), (30, 200, 30)), Image.new("RGB", (64, 64), (30, 30, 200))]
    images[1].paste(RED, (0, 0, 32, 64))
    options = {"lossless": True} if form == "WEBP" else {}
    return encoded(images[0], form, save_all=True, append_images=images[1:], **options)


def turned():
    exif = Image.Exif()
    exif[0x0112] = 6
    image = Image.new("RGB", (64, 32), (0, 0, 255))
    image.paste(RED, (0, 0, 64, 20))
    return encoded(image, "JPEG", exif=exif, quality=100, subsampling=0)


def patched_exr(folder, width, height):
    """A small EXR whose header claims another size."""
    data = float_file(folder / "patch.exr", flat(0.5))
    place = data.index(b"dataWindow\0box2i\0") + len(b"dataWindow\0box2i\0") + 4
    return data[:place] + struct.pack("<4i", 0, 0, width - 1, height - 1) + data[place + 16 :]


def cyclic_tiff():
    """A TIFF whose second directory is its first."""
    whole = bytearray(big_endian_tiff16(np.full((64, 64), 40000, np.uint16)))
    (start,) = struct.unpack_from(">I", whole, 4)
    (count,) = struct.unpack_from(">H", whole, start)
    struct.pack_into(">I", whole, start + 2 + 12 * count, start)
    return bytes(whole)


PALETTE = red("L", color=1).convert("P")
MIDDLE, NOISE = flat(0.2140), np.random.default_rng(0).random((64, 64, 3)).astype(np.float32)
LARGE_DEEP = encoded(Image.new("I;16", (7000, 7000), 51400), "PNG", compress_level=1)
JPEG, PNG = encoded(gradient(300, 300), "JPEG"), encoded(gradient(300, 300), "PNG")
GREY_16 = [np.full(64, 51400, ">u2").tobytes()] * 64
RGB_16 = [np.tile(np.array([c * 257 for c in RED], ">u2"), 64).tobytes()] * 64
TEXT_BOMB = b"Comment\0\0" + zlib.compress(bytes(80_000_000), 9)
INK = cmyk_profile(
    lambda c, m, y, k: (100 - 25 * (c + m + y) if not k else 5, 60 * (m - c) * (1 - k), 50 * (y - c) * (1 - k))
)
# Name → (bytes, or a maker that is given the folder; middle colour with its tolerance, or words of the fault; a note).
FILES = {
    "plain.png": (encoded(red(), "PNG"), (RED, 0), None),
    "deep_grey.png": (png(64, 64, 16, 0, GREY_16), ((200, 200, 200), 0), "16-bit"),
    "deep_colour.png": (png(64, 64, 16, 2, RGB_16), (RED, 1), None),
    "palette.png": (encoded(red().convert("P", palette=Image.Palette.ADAPTIVE), "PNG"), (RED, 0), None),
    "palette_clear.png": (encoded(PALETTE, "PNG", transparency=1), ((128, 128, 128), 0), "flattened"),
    "grey_clear.png": (encoded(red("L", color=77), "PNG", transparency=77), ((128, 128, 128), 0), "flattened"),
    "grey_alpha.png": (encoded(red("LA", color=(0, 128)), "PNG"), ((64, 64, 64), 1), "flattened"),
    "alpha.png": (encoded(red("RGBA", color=(*RED, 0)), "PNG"), ((128, 128, 128), 0), "flattened"),
    "bits.png": (encoded(red("1", color=1), "PNG"), ((255, 255, 255), 0), None),
    "text_bomb.png": (png(64, 64, 8, 0, [bytes([9] * 64)] * 64, [(b"zTXt", TEXT_BOMB)]), "cannot be decoded", None),
    "turned.jpg": (turned(), (RED, 3), "turned upright"),
    "ink.jpg": (encoded(red("CMYK", color=(0, 255, 255, 0)), "JPEG", quality=100), ((255, 0, 0), 4), "CMYK to RGB"),
    "ink_profile.jpg": (
        encoded(red("CMYK", color=(0, 255, 255, 0)), "JPEG", quality=100, icc_profile=INK), "ink", "test ink"),
    "wide.jpg": (encoded(red(color=(178, 62, 58)), "JPEG", quality=100, icc_profile=matrix_profile(DISPLAY_P3)),
                 ((193, 53, 52), 8), "wide gamut"),
    "bad_profile.jpg": (encoded(red(), "JPEG", quality=100, icc_profile=b"\0" * 300), (RED, 3), "was ignored"),
    "ink_profile_on_rgb.png": (encoded(red(), "PNG", icc_profile=INK), (RED, 0), "was ignored"),
    "big_endian.tif": (big_endian_tiff16(np.full((64, 64), 51400, np.uint16)), ((200, 200, 200), 0), "16-bit"),
    "pages.tif": (frames("TIFF"), (RED, 0), "first of 3"),
    "cyclic.tif": (cyclic_tiff(), ((156, 156, 156), 1), None),
    "float.tif": (deep("tif", MIDDLE, "float"), ((127, 127, 127), 2), "scene-linear"),
    "moving.webp": (frames("WEBP"), (RED, 1), "first of 3"),
    "moving.gif": (frames("GIF"), (RED, 2), "first of 3"),
    "plain.bmp": (encoded(red(), "BMP"), (RED, 0), None),
    "exr.png": (deep("exr", MIDDLE), ((127, 127, 127), 2), "scene-linear"),
    "half.exr": (deep("exr", MIDDLE), ((127, 127, 127), 2), "scene-linear"),
    "bright.exr": (deep("exr", flat(12.0)), ((255, 255, 255), 0), "-3.58 stops"),
    "holes.exr": (
        deep("exr", with_bad(0.2140, np.inf), tile=16), ((127, 127, 127), 2), "not finite"),
    "grey.exr": (deep("exr", flat(0.2140, 1), channels="Y"), ((127, 127, 127), 2), None),
    "nothing.exr": (deep("exr", flat(np.nan)), "expected finite values", None),
    "cut.exr": (deep("exr", NOISE, cut=9000), "damaged", None),
    "vast.exr": (lambda folder: patched_exr(folder, 30000, 30000), "cannot be decoded", None),
    "wide.exr": (lambda folder: patched_exr(folder, 12000, 12000), "megapixels", None),
    "lying.exr": (lambda folder: patched_exr(folder, 9000, 9000), "cannot be decoded", None),
    "light.hdr": (deep("hdr", MIDDLE, "float"), ((127, 127, 127), 2), "scene-linear"),
    "cut.hdr": (deep("hdr", NOISE, "float", cut=4000), "damaged", None),
    "cut.jpg": (JPEG[: len(JPEG) * 6 // 10], "cannot be decoded", None),
    "cut.png": (PNG[:3000], "cannot be decoded", None),
    "bomb.png": (png_header_only(20000, 20000), "megapixels", None),
    "heic.png": (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(500), "cannot be decoded", None),
    "empty.png": (b"", "is empty", None),
    "text.png": (b"this is no picture\n" * 20, "cannot be decoded", None),
    "script.eps": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 64 64\n{} loop\n", "cannot be decoded", None),
    "zeros.jpg": (bytes(4000), "cannot be decoded", None),
    "tiny.png": (encoded(gradient(3, 3), "PNG"), "at least 16", None),
    "thin.png": (encoded(gradient(4000, 2), "PNG"), "at least 16", None),
    "long.png": (encoded(red(size=(9000, 20)), "PNG"), (RED, 0), "20×20"),
    "large_bits.png": (encoded(red("1", (9999, 9999), 1), "PNG"), ((255, 255, 255), 0), "averaged"),
    "large_deep.png": (LARGE_DEEP, ((200, 200, 200), 0), "16-bit"),
    "large_float.tif": (encoded(Image.new("F", (6000, 6000), 0.5), "TIFF"), ((128, 128, 128), 1), "floating-point"),
    "large_alpha.png": (
        encoded(red("RGBA", (9999, 9999), (*RED, 0)), "PNG", compress_level=1), ((128, 128, 128), 0), "flattened"),
    "large.jpg": (encoded(red(size=(9000, 9000)), "JPEG"), (RED, 3), "averaged"),
}  # fmt: skip


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What a fresh process says of each file."""
    folder = tmp_path_factory.mktemp("hostile")
    for name, (content, _, _) in FILES.items():
        data = content(folder) if callable(content) else content
        (folder / name).write_bytes(data)
    names = [*FILES, "pipe.png", "loop.png"]
    os.mkfifo(folder / "pipe.png")
    (folder / "loop.png").symlink_to(folder / "loop.png")
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(SECONDS), *names],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(zip(names, map(json.loads, done.stdout.splitlines()), strict=True))


def ink_red():
    """sRGB of magenta and yellow at full by the corner of the profile: Lab (D50) by the CIE formulae and the matrix."""
    lightness, a, b = 50, 60, 50
    y = (lightness + 16) / 116
    f = np.array([y + a / 500, y, y - b / 200])
    xyz = np.where(f > 6 / 29, f**3, 3 * (6 / 29) ** 2 * (f - 4 / 29)) * [0.9642, 1, 0.8249]
    to_rgb = np.linalg.inv([[0.43607, 0.38515, 0.14308], [0.22249, 0.71687, 0.06062], [0.01393, 0.0971, 0.71419]])
    linear = np.clip(to_rgb @ xyz, 0, 1)
    return 255 * np.where(linear > 0.0031308, 1.055 * linear ** (1 / 2.4) - 0.055, 12.92 * linear)


def test_there_are_forty_of_them():
    assert len(FILES) >= 40


@pytest.mark.parametrize("name", FILES)
def test_a_right_result_or_one_clear_line(answers, name):
    answer, (_, expected, note) = answers[name], FILES[name]
    if isinstance(expected, str) and expected != "ink":
        assert expected in answer["fault"], answer
        assert name in answer["fault"]
        assert "\n" not in answer["fault"]
        assert len(answer["fault"]) < 400
        return
    # The table holds 8-bit Lab, and littleCMS scales the black point of an old profile's perceptual table.
    color, tolerance = (ink_red(), 8) if expected == "ink" else expected
    np.testing.assert_allclose(answer["middle"], color, atol=tolerance)
    assert note is None or any(note in said for said in answer["notes"]), answer["notes"]


@pytest.mark.parametrize(("name", "reason"), [("pipe.png", "regular file"), ("loop.png", "")])
def test_what_is_no_file_does_not_hang(answers, name, reason):
    assert reason in answers[name]["fault"]


def test_memory_is_bounded(answers):
    assert max(answer["megabytes"] for answer in answers.values()) < MEGABYTES
