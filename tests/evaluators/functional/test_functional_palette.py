import numpy as np
import pytest
from skimage.color import rgb2lab
from skimage.filters import threshold_otsu
from synthetic_textures import bricks, fractal, gray_to_rgb

from evaluators.functional.color import linear_to_srgb, srgb_to_linear
from evaluators.functional.palette import axis_position, color_axis, palette, quantile_ramp
from evaluators.functional.regions import otsu, region_width, two_regions
from evaluators.functional.shapes import blobs, lines

RUST, TEAL = np.array([0.6, 0.2, 0.1]), np.array([0.2, 0.6, 0.6])


def two_colors(share=0.3, side=96):
    image = np.empty((side, side, 3), np.float32)
    cut = int(side * share)
    image[:, :cut], image[:, cut:] = RUST, TEAL
    return np.clip(image + np.random.default_rng(0).normal(0, 0.01, image.shape), 0, 1).astype(np.float32)


def test_palette_finds_the_colours_and_their_shares():
    colors, shares = palette(two_colors(0.3), 2)
    np.testing.assert_allclose(colors, [TEAL, RUST], atol=0.02)
    np.testing.assert_allclose(shares, [0.7, 0.3], atol=0.02)
    assert palette(two_colors(), 6).shares.sum() == pytest.approx(1)


def test_palette_of_one_colour():
    colors, shares = palette(np.full((20, 20, 3), 0.25, np.float32))
    np.testing.assert_allclose(colors, [[0.25] * 3], atol=1e-4)
    assert shares.tolist() == [1.0]


def test_axis_is_the_principal_axis_in_lab():
    image = two_colors()
    axis = color_axis(image)
    lab = rgb2lab(image).reshape(-1, 3)
    _, _, vectors = np.linalg.svd(lab - lab.mean(axis=0), full_matrices=False)
    assert abs(vectors[0] @ axis.axis_lab) > 0.999
    assert axis.axis_lab[0] >= 0
    assert axis.explained > 0.98
    expected = (lab - lab.mean(axis=0)) @ axis.axis_lab
    np.testing.assert_allclose(axis_position(image, axis).ravel(), expected, atol=0.1)


def test_quantile_colours_run_from_dark_to_light():
    luma = fractal(128, 1.5)
    colors = color_axis(gray_to_rgb(luma)).quantile_colors_linear
    assert colors.shape == (257, 3)
    assert (np.diff(colors[:, 0]) >= -1e-6).all()
    np.testing.assert_allclose(linear_to_srgb(colors[128]), np.median(luma), atol=0.01)


@pytest.mark.parametrize("reverse", [False, True])
def test_ramp_transports_the_colours(reverse):
    """The ramp applied to any field gives the reference's colours in the reference's shares."""
    reference = two_colors(0.4)
    field = np.random.default_rng(5).beta(2, 4, (96, 96))
    stops = quantile_ramp(field, color_axis(reference), 12, reverse=reverse)
    position, color = np.array([s.position for s in stops]), np.array([s.color for s in stops])
    assert (np.diff(position) > 0).all()
    assert len(stops) <= 12
    shown = np.stack([np.interp(field, position, color[:, c]) for c in range(3)], axis=-1)
    wanted = np.sort(srgb_to_linear(reference)[..., 0].ravel())
    assert np.abs(np.sort(shown[..., 0].ravel()) - wanted).mean() < 0.01
    lightest = field > np.quantile(field, 0.9)
    assert (shown[lightest, 0].mean() > shown[~lightest, 0].mean()) is np.bool_(reverse)


def test_ramp_of_a_constant_field_and_of_a_bad_count():
    axis = color_axis(two_colors())
    assert len(quantile_ramp(np.full((8, 8), 0.3), axis)) == 1
    with pytest.raises(ValueError, match="2 to 32"):
        quantile_ramp(np.zeros((8, 8)), axis, 40)


def test_otsu_of_a_field_that_is_all_but_constant():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        base = np.float32(rng.uniform(20, 99))
        field = base + np.float32(10 ** rng.uniform(-7, -3)) * rng.standard_normal(4096).astype(np.float32)
        threshold, separation = otsu(field)
        assert field.min() <= threshold <= field.max()
        assert 0 <= separation <= 1


def test_otsu_agrees_with_skimage():
    field = np.concatenate([np.random.default_rng(0).normal(m, 0.05, 3000) for m in (0.3, 0.7)])
    threshold, separation = otsu(field)
    # Any threshold in the gap is as good: compare the classes.
    assert ((field > threshold) == (field > threshold_otsu(field))).mean() > 0.999
    assert separation > 0.9
    assert otsu(np.full(100, 0.5))[1] == 0


def test_mortar_is_the_minority():
    luma = bricks(256, 64, 32, joint=5, spread=0.03)
    split = two_regions(luma)
    truth = luma > 0.65
    assert split.confidence > 0.9
    assert not split.is_dark
    assert (split.minority == truth).mean() > 0.97
    assert split.share == pytest.approx(truth.mean(), abs=0.03)
    assert split.minority_width == pytest.approx(5 / 256, rel=0.35)


def test_noise_has_no_two_regions():
    assert two_regions(fractal(256, 1.5)).confidence < 0.2
    assert two_regions(np.full((32, 32), 0.5)).confidence == 0


@pytest.mark.parametrize("width", [3, 6, 11])
def test_region_width_of_a_stripe(width):
    mask = np.zeros((64, 64), bool)
    mask[:, 20 : 20 + width] = True
    assert region_width(mask) == pytest.approx(width, abs=1)


def test_blobs_of_discs_and_of_rectangles():
    y, x = np.indices((200, 200))
    discs = sum((x - cx) ** 2 + (y - cy) ** 2 < 15**2 for cx in (40, 100, 160) for cy in (40, 100, 160)).astype(bool)
    found = blobs(discs)
    assert found.number == 9
    assert found.diameter == pytest.approx(30 / 200, rel=0.05)
    assert found.roundness > 0.85
    boxes = (x % 50 > 4) & (y % 25 > 4)
    assert blobs(boxes).rectangularity > 0.95
    assert found.rectangularity < 0.85
    assert blobs(boxes).elongation == pytest.approx(45 / 20, rel=0.1)
    assert blobs(np.zeros((10, 10), bool)).number == 0


@pytest.mark.parametrize("light", [True, False])
def test_sparse_lines_have_a_sign(light):
    rng = np.random.default_rng(0)
    y, x = np.indices((256, 256))
    strokes = np.zeros((256, 256), bool)
    for _ in range(5):
        angle, shift = rng.uniform(0, np.pi), rng.uniform(-90, 90)
        strokes |= np.abs((x - 128) * np.sin(angle) - (y - 128) * np.cos(angle) - shift) < 1.5
    luma = 0.5 + (0.3 if light else -0.3) * strokes + rng.normal(0, 0.01, strokes.shape)
    found = lines(luma.astype(np.float32))
    assert (found.light > found.dark) is light
    assert (found.skewness > 0.5) is light
    assert found.kurtosis > 1
    assert abs(lines(fractal(256, 1.2)).skewness) < 0.2
