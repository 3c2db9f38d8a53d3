"""Names and shapes that the engine, its kernels and the bridge to torch share; needs neither Dr.Jit nor torch."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

Key = tuple[str, str]
"""A parameter: node id, and input, output or property."""
FloatArray = npt.NDArray[np.float32]
CHANNEL_SIZE: Mapping[str, int] = {
    "beauty": 3,
    "base_color": 3,
    "roughness": 1,
    "metallic": 1,
    "normal": 3,
    "height": 1,
}
CENTRE = (0.50000353, 0.50000353)
"""Where Cycles' sample 0 lies with a filter of next to no width: not quite the centre."""
