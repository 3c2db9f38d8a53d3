"""Distances that compare pixel with pixel: right for two renders of one graph, wrong for a render and a photograph.

They may be reported, and never steer. Nothing is downloaded: a network is used only when its weights are on the disk
and whole.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluators.errors import EvaluatorError, WeightsUnavailableError
from evaluators.pictures import as_srgb

FloatArray = npt.NDArray[np.float32]
_TRUNK_FILE = "alexnet-owt-7be5be79.pth"
"""torchvision's AlexNet; the name holds the first eight hexadecimal digits of the file's SHA-256."""
_SMALLEST_PERCEPTUAL = 64
_RELU = ("relu", 0, 0)
_POOL = ("pool", 0, 0)
_ST_SLICES: tuple[tuple[tuple[str, int, int], ...], ...] = (
    (("conv", 0, 2), ("blur", 1, 0), _RELU),
    (_POOL, ("blur", 4, 0), ("conv", 5, 2), _RELU),
    (_POOL, ("blur", 8, 0), ("conv", 9, 1), _RELU),
    (("conv", 11, 1), _RELU),
    (("conv", 13, 1), _RELU),
)
"""Steps of the five slices: what, number in the wheel's weights, padding."""


@dataclass(frozen=True)
class AlignedDistance:
    """`ssim` in [−1, 1], 1 for identical pictures; `perceptual` ≥ 0, 0 for identical ones, NaN when unavailable.

    `perceptual_name` is what measured it, or why nothing could.
    """

    ssim: float
    perceptual: float
    perceptual_name: str


def aligned_distance(a: npt.ArrayLike, b: npt.ArrayLike) -> AlignedDistance:
    """Compare two sRGB pictures (H, W, 3) of equal size, in [0, 1], pixel with pixel.

    SSIM is that of Wang et al. 2004 (scikit-image, Gaussian weights, σ = 1.5) on the three channels. The perceptual
    distance is LPIPS (AlexNet, v0.1) when torchvision's trunk is in torch's cache, else ST-LPIPS (AlexNet), whose wheel
    carries its weights, else none. Raises `EvaluatorError` for pictures of different sizes.
    """
    from skimage.metrics import structural_similarity  # noqa: PLC0415  (0.3 s to import)

    left, right = as_srgb(a, "the first picture"), as_srgb(b, "the second picture")
    if left.shape != right.shape:
        raise EvaluatorError(
            f"two pictures of one size, {left.shape[1]}×{left.shape[0]} px", f"{right.shape[1::-1]} px"
        )
    ssim = structural_similarity(  # type: ignore[no-untyped-call]
        left, right, channel_axis=2, data_range=1.0, gaussian_weights=True, sigma=1.5, use_sample_covariance=False
    )
    if min(left.shape[:2]) < _SMALLEST_PERCEPTUAL:
        return AlignedDistance(float(ssim), float("nan"), f"none: pictures under {_SMALLEST_PERCEPTUAL} px a side")
    name, measure = _perceptual()
    return AlignedDistance(float(ssim), float("nan") if measure is None else measure(left, right), name)


@lru_cache(maxsize=1)
def _perceptual() -> tuple[str, Callable[[FloatArray, FloatArray], float] | None]:
    reasons = []
    for name, load in (("LPIPS AlexNet v0.1", _lpips), ("ST-LPIPS AlexNet", _st_lpips)):
        try:
            return name, load()
        except WeightsUnavailableError as error:
            reasons.append(str(error))
    return f"none: {'; '.join(reasons)}", None


def trunk_path() -> Path:
    """Where torch keeps torchvision's AlexNet, by its own rules, whether or not it is there."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser()
    home = Path(os.environ.get("TORCH_HOME", cache / "torch")).expanduser()
    return home / "hub" / "checkpoints" / _TRUNK_FILE


def _lpips() -> Callable[[FloatArray, FloatArray], float]:
    what, fix = "LPIPS", "python -c \"import torchvision; torchvision.models.alexnet(weights='IMAGENET1K_V1')\""
    path = trunk_path()
    if not path.is_file():
        raise WeightsUnavailableError(what, f"its trunk {path} is not there", fix)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if not digest.startswith(path.stem.rpartition("-")[2]):
        why = f"its trunk {path} ({path.stat().st_size} bytes) is damaged or only partly there"
        raise WeightsUnavailableError(what, why, f"remove the file, then {fix}")
    try:
        import lpips  # noqa: PLC0415
        import torch  # noqa: PLC0415
    except ImportError as error:
        raise WeightsUnavailableError(
            what, f"{error.name} cannot be imported", "pip install lpips torchvision"
        ) from error
    network = lpips.LPIPS(net="alex", verbose=False).eval()

    def measure(a: FloatArray, b: FloatArray) -> float:
        with torch.inference_mode():
            return float(network(_tensor(a), _tensor(b), normalize=True))

    return measure


def _st_lpips() -> Callable[[FloatArray, FloatArray], float]:
    what, fix = "ST-LPIPS", "pip install stlpips-pytorch"
    spec = importlib.util.find_spec("stlpips_pytorch")
    if spec is None or spec.origin is None:
        raise WeightsUnavailableError(what, "stlpips_pytorch is not installed", fix)
    path = Path(spec.origin).parent / "weights" / "vST0.0" / "alex_shift_tolerant.pth"
    try:
        import torch  # noqa: PLC0415

        weights = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # (torch raises pickle, zip, runtime, OS and key errors for a bad file)
        raise WeightsUnavailableError(what, f"{path}: {type(error).__name__}", f"{fix} --force-reinstall") from error

    def measure(a: FloatArray, b: FloatArray) -> float:
        with torch.inference_mode():
            pairs = zip(_st_features(_tensor(a), weights), _st_features(_tensor(b), weights), strict=True)
            total = 0.0
            for index, (one, other) in enumerate(pairs):
                difference = (_normalised(one) - _normalised(other)) ** 2
                total += float((difference * weights[f"lin{index}.model.1.weight"]).sum(dim=1).mean())
            return total

    return measure


def _tensor(image: FloatArray) -> Any:
    import torch  # noqa: PLC0415

    return torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1)))[None]


def _normalised(features: Any) -> Any:
    return features / ((features**2).sum(dim=1, keepdim=True).sqrt() + 1e-10)


def _st_features(image: Any, weights: Any) -> list[Any]:
    """The five slices of ST-LPIPS' AlexNet (Ghildyal and Liu, ECCV 2022), laid out from the wheel's weights."""
    from torch.nn import functional as nn  # noqa: PLC0415

    x = (2 * image - 1 - weights["scaling_layer.shift"]) / weights["scaling_layer.scale"]
    kept = []
    for index, steps in enumerate(_ST_SLICES, start=1):
        for what, number, padding in steps:
            key = f"net.slice{index}.{number}"
            if what == "conv":
                x = nn.conv2d(x, weights[f"{key}.weight"], weights[f"{key}.bias"], padding=padding)
            elif what == "blur":
                x = nn.pad(x, (2, 2, 2, 2), mode="reflect")
                x = nn.conv2d(x, weights[f"{key}.filt"], stride=2, groups=x.shape[1])
            elif what == "pool":
                x = nn.max_pool2d(x, kernel_size=3, stride=1)
            else:
                x = nn.relu(x)
        kept.append(x)
    return kept
