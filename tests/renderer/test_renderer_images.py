"""Encodings and files, read back by other programs."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from PIL import Image
from renderer_graphs import emission, principled, request, textured

from renderer import CHANNELS, encode, linear_to_srgb, quantize, srgb_to_linear, write_exr, write_maps, write_png


def test_srgb_follows_its_definition_and_inverts() -> None:
    codes = np.arange(256) / 255
    np.testing.assert_allclose(linear_to_srgb(srgb_to_linear(codes)), codes, atol=1e-12)
    assert linear_to_srgb(np.array([0.214041140482232])) == pytest.approx([0.5], abs=1e-9)
    assert list(quantize(linear_to_srgb(np.array([-1.0, 0.0, 0.18, 7.0], np.float32)))) == [0, 0, 118, 255]


@pytest.mark.parametrize(("shape", "dtype"), [((5, 7, 3), np.uint8), ((5, 7, 1), np.uint8), ((5, 7), np.uint16)])
def test_png_read_by_pillow(tmp_path, shape, dtype) -> None:
    pixels = np.random.default_rng(0).integers(0, np.iinfo(dtype).max, shape, endpoint=True).astype(dtype)
    write_png(tmp_path / "a.png", pixels)
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "a.png")).reshape(shape), pixels)


READ = """
import os, sys
import bpy, numpy as np
image = bpy.data.images.load(sys.argv[1])
image.colorspace_settings.name = "Non-Color"
pixels = np.empty(len(image.pixels), np.float32)
image.pixels.foreach_get(pixels)
np.save(sys.argv[2], pixels.reshape(image.size[1], image.size[0], 4)[::-1])
os._exit(0)
"""


@pytest.mark.parametrize("kind", ["noise", "flat", "grey", "png16"])
def test_files_read_by_blender(tmp_path, kind) -> None:
    rng = np.random.default_rng(1)
    made = {
        "noise": rng.normal(size=(9, 13, 3)),
        "flat": np.full((6, 4, 3), 0.25),
        "grey": rng.normal(size=(8, 3, 1)),
        "png16": rng.uniform(size=(5, 4, 3)),
    }
    values = made[kind].astype(np.float32)
    path = tmp_path / ("a.png" if kind == "png16" else "a.exr")
    if kind == "png16":
        write_png(path, quantize(values, 16))
    else:
        write_exr(path, values)
    command = [sys.executable, "-c", READ, str(path), str(tmp_path / "a.npy")]
    run = subprocess.run(command, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr
    read = np.load(tmp_path / "a.npy")[..., : values.shape[2]]
    np.testing.assert_allclose(read, values, atol=1 / 65535 if kind == "png16" else 0)


def test_f6_maps_of_a_uniform_material_are_uniform_files(pool, tmp_path) -> None:
    result = pool.render(request(principled({"Base Color": (0.5, 0.25, 0.1, 1.0), "Roughness": 0.6, "Metallic": 0.0})))
    written = write_maps(tmp_path, result, exr=True)
    assert set(written) == set(CHANNELS)
    expected = {
        "base_color": (188, 137, 89),
        "roughness": (153,),
        "metallic": (0,),
        "normal": (128, 128, 255),
        "height": (128,),
    }
    for name, code in expected.items():
        pixels = np.asarray(Image.open(tmp_path / f"{name}.png")).reshape(-1, len(code))
        assert {tuple(pixel) for pixel in pixels.tolist()} == {code}, name


def test_height_is_stretched_and_says_its_range(pool, tmp_path) -> None:
    height = pool.render(request(textured(), size=32)).channels["height"]
    encoded = encode("height", height)
    assert (encoded.pixels.min(), encoded.pixels.max()) == (0.0, 1.0)
    restored = encoded.low + encoded.pixels * (encoded.high - encoded.low)
    np.testing.assert_allclose(restored, height, atol=1e-8)


def test_emission_of_an_srgb_color_comes_back_as_that_color(pool) -> None:
    code = np.array([200, 30, 30])
    linear = srgb_to_linear(code / 255)
    beauty = pool.render(request(emission((*map(float, linear), 1.0)))).channels["beauty"]
    assert np.abs(quantize(encode("beauty", beauty).pixels).astype(int) - code).max() <= 1


@pytest.mark.parametrize("shape", [(0, 4, 3), (4, 4, 2), (4,)])
def test_shapes_that_no_file_can_hold_are_refused(tmp_path, shape) -> None:
    with pytest.raises(ValueError, match="expected"):
        write_png(tmp_path / "a.png", np.zeros(shape, np.uint8))
