"""Where a candidate differs: the places and scales that were changed, and no others."""

import numpy as np
from evaluation_pictures import bricks, photo
from scipy import ndimage

from evaluators.functional.color import luma
from evaluators.where import where_it_differs


def test_a_picture_differs_nowhere_from_itself():
    image = bricks(128)
    found = where_it_differs(image, image)
    assert found.size == 128
    assert found.colour_delta_e.max() < 4
    assert all(np.abs(band.deviation_db).max() < 3 for band in found.bands.values())
    total = sum(band.reference for band in found.bands.values())
    np.testing.assert_allclose(total, luma(image) - luma(image).mean(), atol=1e-5)


def test_damage_is_shown_at_its_place_and_scale():
    image = photo("grass", 128)
    blurred = image.copy()
    blurred[:, 64:] = ndimage.gaussian_filter(image, (3, 3, 0))[:, 64:]
    micro = where_it_differs(blurred, image).bands["micro"].deviation_db
    assert micro[:, 80:].mean() < -4
    assert abs(micro[:, :48].mean()) < 0.5
    stained = image.copy()
    stained[:40, :40] = [0.8, 0.1, 0.1]
    strange = where_it_differs(stained, image).colour_delta_e
    assert strange[10:30, 10:30].min() > 20
    assert np.median(strange[64:, 64:]) < 2
