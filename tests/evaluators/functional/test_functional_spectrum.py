import numpy as np
import pytest
from synthetic_textures import fractal, grating

from evaluators.functional.orientation import anisotropy, orientation
from evaluators.functional.spectrum import (
    contrast,
    polar_log_power,
    radial_peak,
    scale_energies,
    spectral_slope,
)


@pytest.mark.parametrize("beta", [0.0, 0.8, 1.4, 2.0, 2.6])
@pytest.mark.parametrize("side", [128, 256])
def test_slope_of_fractal_noise(beta, side):
    slope = spectral_slope(fractal(side, beta, seed=side, contrast=0.05))
    assert slope.beta == pytest.approx(beta, abs=0.15)
    assert slope.gain_per_octave == pytest.approx(min(2 ** ((2 - slope.beta) / 2), 1))


def test_polar_power_against_a_loop_over_frequencies():
    side, luma = 64, fractal(64, 1.5)
    window = np.sin(np.pi * (np.arange(side) + 0.5) / side) ** 2
    window = np.outer(window, window)
    mean = (luma * window).sum() / window.sum()
    power = np.abs(np.fft.fft2((luma - mean) * window)) ** 2 * (256 * 256 / side**2)
    bins = {}
    for j, v in enumerate(np.fft.fftfreq(side) * side):
        for i, u in enumerate(np.fft.fftfreq(side) * side):
            radius = np.hypot(u, v)
            if 1 <= radius < side / 2:
                ring = int(np.log(radius) / np.log(side / 2) * 16)
                sector = int(np.floor(np.arctan2(-v, u) % np.pi / np.pi * 8 + 0.5)) % 8
                bins.setdefault((ring, sector), []).append(power[j, i])
    measured = polar_log_power(luma)
    assert measured.shape == (16, 8)
    for (ring, sector), values in bins.items():
        # Frequencies on a sector's border may fall either way.
        if ring > 10:
            assert measured[ring, sector] == pytest.approx(np.log(np.mean(values) + 1e-3), abs=0.15)
    assert np.isfinite(measured).all()


def test_polar_power_takes_batches_and_ignores_shifts():
    luma = fractal(128, 1.0)
    batch = polar_log_power(np.stack([luma, luma.T, np.roll(luma, 40, axis=1)]))
    np.testing.assert_allclose(batch[0], polar_log_power(luma), atol=1e-4)
    # The inner rings hold a handful of waves, which the window weighs by where it lies.
    assert np.abs(batch[2] - batch[0])[10:].mean() < 0.3
    assert np.abs(polar_log_power(fractal(128, 2.5)) - batch[0]).mean() > 1.0


def test_energies_are_shares_by_scale():
    for period, name in ((64, "macro"), (16, "meso"), (4, "micro")):
        energies = scale_energies(grating(256, period, 0.3))
        assert sum(energies.values()) == pytest.approx(1, abs=1e-6)
        assert max(energies, key=energies.__getitem__) == name
        assert energies[name] > 0.9
    assert scale_energies(np.full((64, 64), 0.4, np.float32)) == {"macro": 0, "meso": 0, "micro": 0}


def test_dominant_scale_of_spots():
    y, x = np.indices((256, 256))
    rng = np.random.default_rng(0)
    luma = np.zeros((256, 256), np.float32)
    for _ in range(150):
        cy, cx = rng.uniform(0, 256, 2)
        luma = np.maximum(luma, np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / (2 * 5.0**2)).astype(np.float32))
    # A Gaussian spot of width σ has most energy per octave at f = 1/(√2·π·σ)·… ; between 1/(8σ) and 1/(3σ) px⁻¹.
    assert 256 / (8 * 5) < radial_peak(luma).cycles < 256 / (3 * 5)


def test_contrast_is_the_standard_deviation():
    assert contrast(np.array([[0.0, 1.0], [0.0, 1.0]])) == pytest.approx(0.5)


@pytest.mark.parametrize("angle_deg", range(0, 180, 15))
def test_orientation_of_a_rotated_grating(angle_deg):
    rng = np.random.default_rng(angle_deg)
    luma = grating(200, 11.3, np.radians(angle_deg)) + rng.normal(0, 0.03, (200, 200)).astype(np.float32)
    found = orientation(luma)
    difference = np.degrees((found.angle_rad - np.radians(angle_deg) + np.pi / 2) % np.pi - np.pi / 2)
    assert abs(difference) < 1
    assert found.coherence > 0.8


def test_noise_has_no_direction():
    assert all(o.coherence < 0.3 for o in anisotropy(fractal(256, 1.2)).values())
    assert orientation(np.zeros((64, 64), np.float32)).coherence == 0


def test_scales_can_disagree():
    fine, coarse = grating(256, 5, 0.0), grating(256, 90, np.pi / 2)
    found = anisotropy(0.5 * fine + 0.5 * coarse)
    assert abs(np.sin(found["micro"].angle_rad)) < 0.1
    assert abs(np.cos(found["macro"].angle_rad)) < 0.1
