"""Curves."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graph_api.model import CurveMapping


def curve_rows(curve: CurveMapping, points: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Rows."""
    raise NotImplementedError
