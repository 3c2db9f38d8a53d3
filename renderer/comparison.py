"""How far two renders of one graph are apart, channel by channel; for showing one engine beside another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from renderer.protocol import CHANNELS, Channel, FloatArray

# A pixel counts as different beyond this, in channel units.
TOLERANCE = 1e-4
_MOST = 10_000.0


@dataclass(frozen=True)
class ChannelDifference:
    """Absolute differences in channel units (metres for height).

    `relative`: the mean over the first picture's mean magnitude. `beyond`: the share of pixels with a component
    further apart than `TOLERANCE`. `amplification`: the power of ten, up to 10,000, by which the differences can be
    shown in [0, 1] with no more than one pixel in a thousand cut off; see `shown_difference`.
    """

    largest: float
    mean: float
    relative: float
    beyond: float
    amplification: float


def compare(first: Mapping[str, FloatArray], second: Mapping[str, FloatArray]) -> dict[Channel, ChannelDifference]:
    """Differences of the channels that both have, (H, W, C) each. Raises ValueError where shapes differ."""
    found: dict[Channel, ChannelDifference] = {}
    for channel in CHANNELS:
        a, b = first.get(channel), second.get(channel)
        if a is None or b is None:
            continue
        if a.shape != b.shape:
            raise ValueError(f"{channel}: expected pictures of one shape, got {a.shape} and {b.shape}")
        apart = np.abs(a.astype(np.float64) - b)
        size = float(np.abs(a).mean())
        found[channel] = ChannelDifference(
            largest=float(apart.max()),
            mean=float(apart.mean()),
            relative=float(apart.mean()) / size if size > 0 else 0.0,
            beyond=float((apart.max(axis=-1) > TOLERANCE).mean()),
            amplification=_amplification(shown_difference(channel, a, b)),
        )
    return found


def shown_difference(channel: Channel, first: FloatArray, second: FloatArray) -> FloatArray:
    """The absolute difference as it is shown, not yet amplified: height in parts of the first picture's range."""
    apart: FloatArray = np.abs(first - second)
    if channel == "height":
        span = float(first.max() - first.min())
        apart = apart / np.float32(span if span > 0 else 1.0)
    return apart


def _amplification(shown: FloatArray) -> float:
    high = float(np.quantile(shown, 0.999))
    if high <= 0:
        high = float(shown.max())
    return _MOST if high <= 0 else float(min(_MOST, max(1.0, 10.0 ** np.floor(-np.log10(high)))))
