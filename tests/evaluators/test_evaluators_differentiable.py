"""The differentiable score: equal to the evaluator's own measures, with gradients that differences confirm."""

import numpy as np
import pytest
import torch
from evaluation_pictures import bricks, photo

from evaluators import EvaluatorError, Target, load_calibration
from evaluators.components import distances, value_of
from evaluators.differentiable import SearchScore, lab_quantiles, polar_log_power, steerable_vector
from evaluators.functional.color import luma, srgb_to_lab
from evaluators.functional.spectrum import polar_log_power as numpy_polar
from evaluators.functional.steerable import steerable_statistics
from evaluators.functional.texture import deep_texture
from evaluators.functional.transport import sliced_quantiles
from evaluators.measure import measure


def batch(size=64):
    return np.stack([bricks(size), photo("grass", size), np.full((size, size, 3), 0.4, np.float32)])


def test_each_measure_equals_its_numpy_twin():
    images = batch()
    grey, tensors = luma(images), torch.from_numpy(images)
    np.testing.assert_allclose(polar_log_power(torch.from_numpy(grey)), numpy_polar(grey), atol=2e-3)
    wanted = steerable_statistics(grey[:2]).vector()
    np.testing.assert_allclose(steerable_vector(torch.from_numpy(grey[:2])), wanted, atol=2e-3)
    quantiles = sliced_quantiles(srgb_to_lab(images.reshape(3, -1, 3)))
    np.testing.assert_allclose(lab_quantiles(tensors), quantiles, atol=5e-2)


def test_distances_and_score_are_those_of_the_evaluator():
    target, calibration, network = Target.from_image(bricks(128)), load_calibration(), deep_texture()
    score = SearchScore(target, calibration, 64, network)
    images = batch()
    got = score.distances(torch.from_numpy(images))
    reference, own = target.measurement(64, network), target.self_distances(64, network)
    for index, image in enumerate(images[:2]):
        measured = distances(measure(image, network, look_for_lattice=False), reference)
        for name in score.components:
            assert float(got[name][index]) == pytest.approx(measured[name], rel=0.02, abs=5e-3), name
            rule = calibration.at(64).components[name]
            value = value_of(measured[name], rule.floor(own[name]), rule.ceiling)
            assert 0 <= value <= 1
    scores = score.score(torch.from_numpy(images))
    assert scores.argmax() == 0
    assert 0 <= float(scores.min()) <= float(scores.max()) <= 1


def test_the_gradient_is_that_of_finite_differences():
    score = SearchScore(Target.from_image(bricks(128)), load_calibration(), 64, None)
    image = torch.from_numpy(photo("grass", 64)[None].astype(np.float32)).requires_grad_()
    (gradient,) = torch.autograd.grad(score.score(image).sum(), image)
    assert torch.isfinite(gradient).all()
    step = 0.01 * gradient / gradient.abs().max()
    with torch.no_grad():
        rise = float(score.score(image + step) - score.score(image - step)) / 2
    assert rise == pytest.approx(float((gradient * step).sum()), rel=0.25)


def test_black_and_flat_pictures_have_finite_gradients():
    score = SearchScore(Target.from_image(bricks(128)), load_calibration(), 64, deep_texture())
    image = torch.zeros((1, 64, 64, 3), requires_grad=True)
    (gradient,) = torch.autograd.grad(score.score(image).sum(), image)
    assert torch.isfinite(gradient).all()


def test_another_size_is_refused():
    score = SearchScore(Target.from_image(bricks(128)), load_calibration(), 64, None)
    with pytest.raises(EvaluatorError, match=r"pictures \(B, 64, 64, 3\)"):
        score.score(torch.zeros((1, 128, 128, 3)))
