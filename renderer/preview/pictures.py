"""What a kernel returns: arrays that stay where they were computed until they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from renderer.preview.contract import CHANNEL_SIZE


class Place(NamedTuple):
    """Where a channel lies: an array of the back end, with `stride` numbers for each pixel, from number `first` on."""

    array: Any
    stride: int
    first: int


class Pictures(Mapping[str, npt.NDArray[np.float32]]):
    """Pictures by channel, (B, H, W, C) float32. Reading one as numpy or torch copies nothing on the CPU.

    A color or normal lies in memory with a channel of one number, or with an unused number, behind each pixel: views
    are not contiguous, and one keeps the memory of both.
    """

    def __init__(self, places: Mapping[str, Place], shape: tuple[int, int, int]) -> None:
        self._places = places
        self._shape = shape

    def __getitem__(self, channel: str) -> npt.NDArray[np.float32]:
        view: npt.NDArray[np.float32] = self._view(channel, self._places[channel].array.numpy())
        return view

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def torch(self) -> dict[str, Any]:
        """Torch tensors that share the memory."""
        return {name: self._view(name, place.array.torch()) for name, place in self._places.items()}

    def _view(self, channel: str, flat: Any) -> Any:
        _, stride, first = self._places[channel]
        return flat.reshape(*self._shape, stride)[..., first : first + CHANNEL_SIZE[channel]]


def packets(channels: Sequence[str]) -> list[tuple[str, ...]]:
    """The channels that are stored together: each of three numbers with one of a single number while there are any."""
    wide = [name for name in channels if CHANNEL_SIZE[name] > 1]
    single = [name for name in channels if CHANNEL_SIZE[name] == 1]
    pairs = list(zip_longest(wide, single[: len(wide)]))
    return [tuple(name for name in pair if name is not None) for pair in pairs] + [(n,) for n in single[len(wide) :]]
