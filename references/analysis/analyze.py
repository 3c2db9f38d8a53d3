"""The entry point of the analysis."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PIL import Image

from evaluators.threads import one_thread
from references.analysis.infer import infer
from references.analysis.measure import MEASURED_SIDE, measure
from references.analysis.model import Analysis
from references.load import SMALLEST_SIDE, Reference

FloatArray = npt.NDArray[np.float32]


@one_thread()
def analyze(reference: Reference | npt.ArrayLike, *, patch_size_m: float = 1.0) -> Analysis:
    """Decompose a reference, or an sRGB picture (H, W, 3) in [0, 1], into measurements and conclusions.

    Pictures above 512 px are measured at 512 px. `patch_size_m`: side of the shown patch in metres. Raises
    `ValueError` for another shape, non-finite values or a size that is not positive.
    """
    image = reference.image_srgb if isinstance(reference, Reference) else np.asarray(reference, dtype=np.float32)
    if image.ndim != 3 or image.shape[2] != 3 or min(image.shape[:2]) < SMALLEST_SIDE:
        raise ValueError(f"expected an image of shape (H, W, 3) with sides ≥ {SMALLEST_SIDE}, got {image.shape}")
    if not np.isfinite(image).all() or image.min() < -1e-3 or image.max() > 1.001:
        raise ValueError("expected finite values in [0, 1]")
    if not (patch_size_m > 0 and np.isfinite(patch_size_m)):
        raise ValueError(f"expected a patch size above 0 m, got {patch_size_m}")
    measured = measure(_bounded(image), float(patch_size_m))
    return Analysis(measured, infer(measured))


def _bounded(image: FloatArray) -> FloatArray:
    height, width = image.shape[:2]
    factor = MEASURED_SIDE / min(height, width)
    if factor >= 1:
        return image
    size = (round(width * factor), round(height * factor))
    planes = [Image.fromarray(np.ascontiguousarray(image[..., c])).resize(size, Image.Resampling.BOX) for c in range(3)]
    return np.stack([np.asarray(p, dtype=np.float32) for p in planes], axis=-1)
