"""Aligned distances against the packages they stand for, and the judges of the benchmarks."""

import numpy as np
import pytest
import torch
from evaluation_pictures import bricks, photo
from scipy import ndimage

from benchmarks.judges import EfficientNetJudge, StLpipsVggJudge, gap_closed
from evaluators import EvaluatorError
from evaluators.aligned import _perceptual, aligned_distance, trunk_path


@pytest.fixture
def no_trunk(monkeypatch, tmp_path):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    _perceptual.cache_clear()
    yield tmp_path
    _perceptual.cache_clear()


def pair():
    rng = np.random.default_rng(0)
    image = photo("grass", 96)
    return image, np.clip(image + rng.normal(0, 0.1, image.shape), 0, 1).astype(np.float32)


def test_ssim_is_the_published_formula():
    a, b = pair()

    def blur(x):
        return ndimage.gaussian_filter(x, (1.5, 1.5, 0), truncate=3.5)

    a64, b64 = a.astype(np.float64), b.astype(np.float64)
    ma, mb = blur(a64), blur(b64)
    va, vb, cov = blur(a64**2) - ma**2, blur(b64**2) - mb**2, blur(a64 * b64) - ma * mb
    ssim = (2 * ma * mb + 1e-4) * (2 * cov + 9e-4) / ((ma**2 + mb**2 + 1e-4) * (va + vb + 9e-4))
    assert aligned_distance(a, b).ssim == pytest.approx(ssim[5:-5, 5:-5].mean(), abs=2e-4)


def test_st_lpips_is_that_of_its_package(no_trunk):
    stlpips = pytest.importorskip("stlpips_pytorch.stlpips")
    a, b = pair()
    result = aligned_distance(a, b)
    assert result.perceptual_name == "ST-LPIPS AlexNet"
    network = stlpips.LPIPS(net="alex", variant="shift_tolerant", verbose=False)
    tensors = [torch.from_numpy(x.transpose(2, 0, 1).copy())[None] for x in (a, b)]
    with torch.no_grad():
        assert result.perceptual == pytest.approx(float(network(*tensors, normalize=True)), rel=1e-4)
    assert aligned_distance(a, a).perceptual == 0
    assert aligned_distance(a, a).ssim == pytest.approx(1)


def test_half_a_trunk_in_the_cache_is_noticed_and_stepped_over(no_trunk):
    path = trunk_path()
    assert path.is_relative_to(no_trunk)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"half a file")
    a, b = pair()
    assert aligned_distance(a, b).perceptual_name == "ST-LPIPS AlexNet"


def test_pictures_of_two_sizes_are_refused_and_small_ones_get_ssim_only():
    with pytest.raises(EvaluatorError, match="of one size, 64×64 px"):
        aligned_distance(bricks(64), bricks(96))
    small = aligned_distance(bricks(40), bricks(40, seed=1))
    assert np.isnan(small.perceptual)
    assert small.ssim < 1


def test_the_judge_has_the_wheels_features():
    stlpips = pytest.importorskip("stlpips_pytorch.stlpips")
    network = stlpips.LPIPS(net="vgg", variant="shift_tolerant", verbose=False)
    image = torch.rand(1, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        theirs = network.net(network.scaling_layer(2 * image - 1))
        for ours, wanted in zip(StLpipsVggJudge().features(image), theirs, strict=True):
            torch.testing.assert_close(ours, wanted)


def test_gap_closed_is_one_for_the_reference_and_low_for_a_flat_picture():
    reference, others = photo("brick", 256), [photo("grass", 256), photo("gravel", 256)]
    judge = EfficientNetJudge()
    whole = gap_closed(reference, reference, others, judge)
    assert (whole.value, whole.crop) == (pytest.approx(1), 128)
    assert whole.render == whole.own
    flat = gap_closed(np.broadcast_to(reference.mean(axis=(0, 1)), reference.shape), reference, others, judge)
    assert flat.value < 0.2
    assert gap_closed(others[0], reference, others[:1], judge).value == pytest.approx(0, abs=1e-6)
    with pytest.raises(EvaluatorError, match="at least one other"):
        gap_closed(reference, reference, [], judge)
