"""Grain: what is finer than the size at which pictures are compared."""

import numpy as np
import pytest
from evaluation_pictures import candidate, photo
from skimage.measure import block_reduce

from evaluators import Evaluator, Target
from evaluators.functional.color import luma
from evaluators.measure import fine_contrast
from evaluators.pictures import grain_crop, resize_srgb


def glittering(image, share):
    """Single bright pixels scattered over the picture, as specular highlights of a relief finer than a pixel."""
    chosen = np.random.default_rng(3).random(image.shape[:2]) < share
    return np.where(chosen[..., None], 1.0, image).astype(np.float32)


def smooth(image):
    """The picture without its finest octave."""
    half = resize_srgb(image, image.shape[0] // 2)
    return half.repeat(2, axis=0).repeat(2, axis=1)


def test_fine_contrast_is_what_averaging_blocks_takes_from_the_variance():
    grey = luma(photo("gravel", 256)).astype(np.float64)
    averaged = block_reduce(grey, (2, 2), np.mean)
    assert fine_contrast(grey.astype(np.float32)) == pytest.approx(np.sqrt(grey.var() - averaged.var()), rel=1e-4)


def test_a_crop_shows_the_middle_at_twice_the_size_and_small_pictures_have_none():
    image = photo("gravel", 256)
    assert np.array_equal(grain_crop(image, 128), image[64:192, 64:192])
    assert grain_crop(image, 256) is None


@pytest.mark.parametrize(("damage", "direction"), [(lambda i: glittering(i, 0.02), "too_high"), (smooth, "too_low")])
def test_damage_finer_than_the_compared_size_is_seen_and_named(damage, direction):
    image = photo("gravel", 512)
    evaluator = Evaluator(Target.from_image(image), network="off")
    found, whole = (evaluator.evaluate(candidate(picture)) for picture in (damage(image), image))
    gaps = [gap for gap in found.gaps if gap.kind == "grain"]
    assert [gap.direction for gap in gaps] == [direction]
    assert gaps[0].suggests
    assert whole.terms["structure"].numbers["value_grain"] == 1
    assert found.terms["structure"].value < whole.terms["structure"].value


def test_a_picture_that_does_not_show_the_grain_is_not_judged_by_it():
    image = photo("gravel", 512)
    numbers = Evaluator(Target.from_image(image), network="off").evaluate(candidate(resize_srgb(image, 256))).terms
    assert "value_grain" not in numbers["structure"].numbers
