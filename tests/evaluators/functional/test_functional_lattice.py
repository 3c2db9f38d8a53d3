import numpy as np
import pytest
from scipy import ndimage, signal
from synthetic_textures import bricks, checkerboard, fractal, grating, rotated

from evaluators.functional.basis import _spanned, reduced
from evaluators.functional.cell import mean_cell
from evaluators.functional.lattice import autocorrelation, find_bands, find_lattice, harmonics


def angle_between(a, b):
    return abs((a - b + np.pi / 2) % np.pi - np.pi / 2)


def test_autocorrelation_is_the_windowed_correlation():
    rng = np.random.default_rng(1)
    luma = rng.random((40, 48)).astype(np.float32)
    detail = luma - ndimage.gaussian_filter(luma, 5, mode="reflect")
    detail -= detail.mean()
    raw = signal.correlate2d(detail, detail, mode="full")
    overlap = signal.correlate2d(np.ones_like(detail), np.ones_like(detail), mode="full")
    expected = (raw / overlap / np.mean(detail**2))[19:59, 23:71]
    np.testing.assert_allclose(autocorrelation(luma, 5), expected, atol=2e-4)


@pytest.mark.parametrize(
    ("width", "height", "offset", "angle_deg"),
    [
        (48, 16, 0.5, 0),
        (61.3, 21.7, 0.5, 0),
        (50, 25, 1 / 3, 0),
        (40, 20, 0.5, 12),
        (44, 22, 0.5, -30),
        (36, 18, 0.5, 90),
    ],
)
def test_bricks_are_found(width, height, offset, angle_deg):
    found = find_lattice(bricks(256, width, height, offset, angle_rad=np.radians(angle_deg)))
    assert found is not None
    assert found.regular
    assert found.periods == pytest.approx((width, height), rel=0.03)
    assert np.degrees(angle_between(found.angle_rad, np.radians(angle_deg))) < 0.5
    assert min(abs(found.offset - offset), abs(1 - found.offset - offset)) < 0.03
    assert found.counts == pytest.approx((256 / width, 256 / height), rel=0.03)


def test_a_stack_bond_has_no_offset_and_a_larger_picture_keeps_its_pixels():
    found = find_lattice(bricks(512, 64, 40, 0.0))
    assert found is not None
    assert found.periods == pytest.approx((64, 40), rel=0.02)
    assert min(found.offset, 1 - found.offset) < 0.02


def test_a_checkerboard_repeats_on_its_diagonals():
    found = find_lattice(checkerboard(256, 20))
    assert found is not None
    (ax, ay), (bx, by) = found.vectors
    # One cell holds one square of each tone.
    assert abs(ax * by - ay * bx) == pytest.approx(2 * 20 * 20, rel=0.03)


def test_a_fine_weave_is_found_at_full_size():
    x, y = rotated((512, 512), 0.0)
    weave = 0.5 + 0.2 * np.sin(2 * np.pi * x / 9) * np.sin(2 * np.pi * y / 9)
    found = find_lattice(weave.astype(np.float32))
    assert found is not None
    (ax, ay), (bx, by) = found.vectors
    assert abs(ax * by - ay * bx) == pytest.approx(9**2 / 2, rel=0.05)


@pytest.mark.parametrize("beta", [0.5, 1.4, 2.0, 2.6])
def test_noise_does_not_repeat(beta):
    assert [find_lattice(fractal(256, beta, seed)) for seed in range(4)] == [None] * 4


def test_grain_does_not_repeat_along_itself():
    rng = np.random.default_rng(3)
    grain = np.repeat(rng.normal(0.5, 0.1, (1, 256)), 256, axis=0) + rng.normal(0, 0.03, (256, 256))
    assert find_lattice(grain.astype(np.float32)) is None


@pytest.mark.parametrize("angle_deg", [0, 25, 90, 140])
def test_a_grating_has_bands_but_no_lattice(angle_deg):
    rng = np.random.default_rng(0)
    luma = grating(256, 21.5, np.radians(angle_deg)) + rng.normal(0, 0.1, (256, 256)).astype(np.float32)
    assert find_lattice(luma) is None
    bands = find_bands(luma)
    assert bands is not None
    assert bands.period_px == pytest.approx(21.5, rel=0.05)
    assert np.degrees(angle_between(bands.angle_rad, np.radians(angle_deg))) < 3


@pytest.mark.parametrize("value", [0.0, 0.5])
def test_flat_and_tiny_pictures_have_no_lattice(value):
    assert find_lattice(np.full((64, 64), value, np.float32)) is None
    assert find_lattice(np.full((8, 8), value, np.float32)) is None
    assert find_bands(np.full((64, 64), value, np.float32)) is None


def test_harmonics_rebuild_what_repeats():
    side = 240
    luma = bricks(side, 48, 24, spread=0.0)
    found = find_lattice(luma)
    waves = harmonics(luma, found, n=60)
    x, y = (np.arange(side) + 0.5) / side, (np.arange(side) + 0.5)[:, None] / side
    rebuilt = sum(w.amplitude * np.cos(2 * np.pi * (w.u * x + w.v * y) + w.phase_rad) for w in waves)
    assert np.corrcoef(rebuilt.ravel(), luma.ravel())[0, 1] > 0.93


def test_harmonics_without_a_lattice_name_the_wave():
    luma = 0.5 + 0.2 * np.cos(2 * np.pi * (np.arange(128) + 0.5) / 128 * 9 + 0.7)[None, :].repeat(128, axis=0)
    wave = harmonics(luma, None, n=1)[0]
    assert (wave.u, wave.v) == (9, 0)
    assert wave.amplitude == pytest.approx(0.2, rel=1e-3)
    assert wave.phase_rad == pytest.approx(0.7, abs=1e-3)


def test_mean_cell_knows_joints_from_squares():
    luma = bricks(256, 64, 32, 0.0, joint=4)
    cell = mean_cell(luma, find_lattice(luma))
    assert not cell.joints_dark
    assert cell.row_duty == pytest.approx(4 / 32, abs=0.05)
    assert cell.column_duty == pytest.approx(4 / 64, abs=0.05)
    squares = checkerboard(256, 32)
    assert cell.additive > 0.8
    tones = mean_cell(squares, find_lattice(squares))
    assert tones.column_duty == pytest.approx(0.5, abs=0.05)
    assert tones.row_share < 0.1


def test_the_lattices_that_pairs_of_shifts_span_are_each_met_once():
    rng = np.random.default_rng(4)
    grid = np.array([(i * 7 + j * 2, j * 9) for i in range(-2, 3) for j in range(3)], dtype=float)
    shifts = np.concatenate([grid, rng.integers(-40, 40, (5, 2)).astype(float)])
    shifts = shifts[np.hypot(*shifts.T) > 0]
    found = {tuple(canonical(basis)) for basis in _spanned(shifts)}
    wanted = set()
    for k, u in enumerate(shifts):
        for v in shifts[k + 1 :]:
            if abs(u[0] * v[1] - u[1] * v[0]) >= 0.1 * np.hypot(*u) * np.hypot(*v):
                wanted.add(tuple(canonical(reduced(np.array([u, v])))))
    assert found == wanted
    assert len(_spanned(shifts)) == len(found) < len(shifts) * (len(shifts) - 1) / 2


def canonical(basis):
    """Both vectors with their first non-zero component from below positive."""
    return [c for x, y in basis for c in ((-x + 0.0, -y + 0.0) if y < 0 or (y == 0 and x < 0) else (x + 0.0, y + 0.0))]
