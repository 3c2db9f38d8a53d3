"""Pictures of known content for the tests of the evaluator."""

import numpy as np
from skimage import data as skimage_data

from evaluators import Candidate, Facts
from evaluators.functional.color import srgb_to_linear
from evaluators.pictures import as_srgb, resize_srgb


def photo(name, size=128):
    """One of scikit-image's three bundled textures, sRGB (size, size, 3)."""
    return resize_srgb(as_srgb(getattr(skimage_data, name)(), name), size)


def bricks(size=128, rows=8, per_row=4, offset=0.5, seed=0):
    """A running bond with uneven bricks, light mortar and fine grain; sRGB (size, size, 3)."""
    rng = np.random.default_rng(seed)
    y, x = (np.mgrid[:size, :size] + 0.5) / size
    row = np.floor(y * rows)
    along = x * per_row + offset * (row % 2)
    column = np.floor(along)
    mortar = (np.minimum(along - column, 1 - (along - column)) / per_row < 0.012) | (
        np.minimum(y * rows - row, 1 - (y * rows - row)) / rows < 0.012
    )
    tint = rng.normal(0, 0.05, (rows, per_row + 1))[row.astype(int) % rows, column.astype(int) % (per_row + 1)]
    base = np.where(mortar[..., None], [0.72, 0.70, 0.66], np.array([0.55, 0.25, 0.18]) + tint[..., None])
    return np.clip(base + rng.normal(0, 0.03, (size, size, 1)), 0, 1).astype(np.float32)


def candidate(image_srgb, facts=None, **channels):
    """A candidate whose beauty displays as the given picture."""
    return Candidate({"beauty": srgb_to_linear(image_srgb), **channels}, facts or Facts())
