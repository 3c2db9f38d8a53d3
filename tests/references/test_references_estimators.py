"""Light, rings and exchanged tones, against pictures made with known ones."""

import numpy as np
import pytest

from evaluators.functional.cell import tone_exchange
from evaluators.functional.color import luma, srgb_to_linear
from evaluators.functional.lattice import find_lattice
from evaluators.functional.light import find_light, flattened, light_gain
from evaluators.functional.rings import NO_RINGS, find_rings
from references import load_reference

Y, X = (np.mgrid[0:128, 0:128] + 0.5) / 128


def noise(seed):
    return np.random.default_rng(seed).normal(size=(128, 128))


def test_known_light_is_found_and_taken_out():
    """A plane of exp(ax + by) has the range |2a| + |2b| and its brightest corner where both grow."""
    albedo = 0.4 * np.exp(0.1 * noise(0))
    a, b = 0.35, -0.25
    linear = albedo * np.exp(a * (2 * X - 1) + b * (2 * Y - 1))
    encoded = np.repeat((np.clip(linear, 0, 1) ** (1 / 2.4) * 1.055 - 0.055)[..., None], 3, axis=2).astype(np.float32)
    light = find_light(encoded)
    assert light.uneven
    assert light.range_stops == pytest.approx((2 * a + 2 * abs(b)) / np.log(2), rel=0.05)
    assert light.brightest == (1.0, 0.0)
    gain = np.log(light_gain(light, (128, 128)))
    np.testing.assert_allclose(gain, a * (2 * X - 1) + b * (2 * Y - 1), atol=0.03)
    even = srgb_to_linear(flattened(encoded, light))[..., 1]
    ratio = np.log(even / albedo)
    assert float(ratio.std()) < 0.03


@pytest.mark.parametrize("seed", range(5))
def test_even_noise_has_even_light(seed):
    grey = np.clip(0.5 + 0.1 * noise(seed), 0, 1)[..., None].repeat(3, axis=2).astype(np.float32)
    assert not find_light(grey).uneven


def test_a_change_of_colour_is_not_light():
    red_to_green = np.stack([0.9 - 0.8 * X, 0.1 + 0.4 * X, np.full_like(X, 0.1)], axis=-1).astype(np.float32)
    assert find_light(red_to_green).range_stops > 0.4
    assert not find_light(red_to_green).uneven


@pytest.mark.parametrize("centre", [(0.5, 0.5), (0.2, 0.7), (1.1, 0.4)])
def test_rings_are_found_where_they_are(centre):
    radius = np.hypot(X - centre[0], Y - centre[1])
    found = find_rings((0.5 + 0.3 * np.sin(60 * radius) + 0.05 * noise(1)).astype(np.float32))
    assert found.concentricity > 0.85
    assert found.centre == pytest.approx(centre, abs=0.03)


@pytest.mark.parametrize("field", [noise(2), np.sin(40 * X), np.sin(40 * (X + 0.4 * Y)), np.zeros((128, 128))])
def test_bands_and_noise_are_no_rings(field):
    assert find_rings(field.astype(np.float32)).concentricity == pytest.approx(NO_RINGS, abs=0.2)


@pytest.mark.parametrize(
    ("name", "low", "high"), [("checkerboard", 0.97, 1.0), ("checker_diamond", 0.97, 1.0), ("brick_wall", -1, 0.4)]
)
def test_a_chequer_exchanges_its_tones(name, low, high):
    picture = luma(load_reference(name).image_srgb)
    lattice = find_lattice(picture)
    assert lattice is not None
    assert low <= tone_exchange(picture, lattice) <= high + 1e-6
