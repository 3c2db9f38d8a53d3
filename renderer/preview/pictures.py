"""What a kernel returns: arrays that stay where they were computed until they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt


class Pictures(Mapping[str, npt.NDArray[np.float32]]):
    """Pictures by channel, (B, H, W, C) float32. Reading one as numpy or torch copies nothing on the CPU.

    Colors and normals lie in memory with a fourth, unused number behind each pixel: their views are not contiguous.
    """

    def __init__(self, flat: Mapping[str, tuple[Any, tuple[int, ...]]]) -> None:
        self._flat = flat

    def __getitem__(self, channel: str) -> npt.NDArray[np.float32]:
        array, (*shape, size) = self._flat[channel]
        view: npt.NDArray[np.float32] = array.numpy().reshape(*shape, -1)[..., :size]
        return view

    def __iter__(self) -> Iterator[str]:
        return iter(self._flat)

    def __len__(self) -> int:
        return len(self._flat)

    def torch(self) -> dict[str, Any]:
        """Torch tensors that share the memory."""
        return {
            name: array.torch().reshape(*shape, -1)[..., :size] for name, (array, (*shape, size)) in self._flat.items()
        }
