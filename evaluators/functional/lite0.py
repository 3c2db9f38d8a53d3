"""EfficientNet-Lite0 as a plain chain of convolutions: batch norms folded in, no module called in between.

Folding a batch norm into the convolution before it is exact but for rounding (a relative 3e-6 in the deepest block),
and takes a third of the time away at 128 px.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class _Layer:
    weight: torch.Tensor
    bias: torch.Tensor
    stride: int
    groups: int
    pad: tuple[int, int, int, int]
    bounded: bool

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        from torch.nn import functional as nn  # noqa: PLC0415

        left, right, top, bottom = self.pad
        even = left == right == top == bottom
        if not even:
            x = nn.pad(x, (left, right, top, bottom))
        x = nn.conv2d(x, self.weight, self.bias, self.stride, left if even else 0, 1, self.groups)
        return nn.relu6(x) if self.bounded else x


@dataclass(frozen=True)
class Chain:
    """The stem and the blocks, each a chain of layers, with or without a way around it."""

    stem: _Layer
    blocks: tuple[tuple[tuple[_Layer, ...], bool], ...]

    def __call__(self, x: torch.Tensor, kept: tuple[int, ...]) -> list[torch.Tensor]:
        """Features after the blocks `kept`, for normalised images (B, 3, S, S); differentiable."""
        x, found = self.stem(x), []
        for index, (layers, around) in enumerate(self.blocks[: max(kept) + 1]):
            y = x
            for layer in layers:
                y = layer(y)
            x = x + y if around else y
            if index in kept:
                found.append(x)
        return found


def folded(network: Any) -> Chain:
    """Fold a loaded `efficientnet_lite_pytorch.EfficientNet` whose weights need no gradient."""
    blocks = []
    for block in network._blocks:
        layers = [_folded(block._expand_conv, block._bn0, bounded=True)] if hasattr(block, "_expand_conv") else []
        layers.append(_folded(block._depthwise_conv, block._bn1, bounded=True))
        layers.append(_folded(block._project_conv, block._bn2, bounded=False))
        same_depth = block._block_args.input_filters == block._block_args.output_filters
        blocks.append((tuple(layers), bool(block.id_skip) and same_depth and layers[-2].stride == 1))
    return Chain(_folded(network._conv_stem, network._bn0, bounded=True), tuple(blocks))


def _folded(conv: Any, norm: Any, *, bounded: bool) -> _Layer:
    scale = norm.weight / (norm.running_var + norm.eps).sqrt()
    weight = (conv.weight * scale[:, None, None, None]).detach().contiguous()
    pad = tuple(getattr(conv.static_padding, "padding", (0, 0, 0, 0)))
    stride = conv.stride[0]
    return _Layer(weight, (norm.bias - norm.running_mean * scale).detach(), stride, conv.groups, pad, bounded)
