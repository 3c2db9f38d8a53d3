import numpy as np
import pytest
from skimage import data, transform
from synthetic_textures import fractal, grating

from evaluators.functional.scaling import BINS, HIGHEST, LOWEST, octave_energies, rescaling
from evaluators.functional.spectrum import hann


def photograph(name):
    return getattr(data, name)().astype(np.float32) / 255


def test_energy_per_octave_against_a_loop_over_frequencies():
    side, luma = 128, fractal(128, 1.5)
    window = hann(side, side).astype(np.float64)
    detail = (luma - (luma * window).sum() / window.sum()) * window
    power = np.abs(np.fft.fft2(detail)) ** 2 / side**4
    radius = np.hypot(*np.meshgrid(*[np.fft.fftfreq(side) * side] * 2))
    profile = octave_energies(luma)
    middle = LOWEST * (HIGHEST / LOWEST) ** ((np.arange(BINS) + 0.5) / BINS)
    # Above the few lowest frequencies, which are filled from their neighbours; a ring is as wide as the smoothing.
    for bin_ in range(20, BINS - 4):
        ring = (radius > middle[bin_ - 2]) & (radius < middle[bin_ + 2])
        energy = np.mean(radius[ring] ** 2 * power[ring])
        assert profile[bin_] == pytest.approx(np.log(energy + 1e-7), abs=0.35)


@pytest.mark.parametrize("factor", [1.3, 1.5, 2.0])
@pytest.mark.parametrize("side", [64, 128, 256])
def test_the_ratio_of_two_gratings_is_found(factor, side):
    reference, finer = (octave_energies(grating(side, period, 0.2)) for period in (side / 9, side / (9 * factor)))
    found = rescaling(finer, reference, side)
    assert found.factor == pytest.approx(factor, rel=0.06)
    assert found.explained > 0.5
    assert rescaling(reference, finer, side).factor == pytest.approx(1 / factor, rel=0.06)


@pytest.mark.parametrize("name", ["gravel", "grass"])
def test_an_enlarged_part_of_a_photograph_is_coarser_and_another_part_is_not(name):
    picture = photograph(name)
    reference = octave_energies(picture[:256, :256])
    other = rescaling(octave_energies(picture[-256:, :256]), reference, 256)
    assert abs(np.log(other.factor)) * other.explained < 0.1
    enlarged = transform.resize(picture[-160:, :160], (256, 256), order=1, anti_aliasing=False)
    found = rescaling(octave_energies(enlarged), reference, 256)
    assert found.factor == pytest.approx(160 / 256, rel=0.2)
    assert found.explained > 0.3


def test_equal_profiles_are_of_one_scale():
    profile = octave_energies(photograph("gravel")[:128, :128])
    assert rescaling(profile, profile, 128) == (1.0, 0.0)
    flat = octave_energies(np.full((64, 64), 0.5, np.float32))
    assert np.isfinite(flat).all()
    assert rescaling(flat, flat, 64) == (1.0, 0.0)
