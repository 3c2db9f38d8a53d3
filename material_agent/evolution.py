"""CMA-ES as every search of ours sets it up."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any


def strategy(start: Sequence[float], step: float, size: int, seed: int) -> Any:
    """A diagonal CMA-ES of the `cma` package in the unit cube round `start`, `size` points a generation.

    `seed` ≥ 1 decides every draw. A search in one dimension, which the package refuses, gets a second without effect.
    """
    with warnings.catch_warnings():
        # It warns that it cannot plot, which nobody asked it to do.
        warnings.simplefilter("ignore", UserWarning)
        import cma  # noqa: PLC0415 - slow to import, and only a search needs it
    options = {"bounds": [0, 1], "popsize": size, "seed": seed, "verbose": -9, "CMA_diagonal": True, "verb_log": 0}
    first = list(start)
    return cma.CMAEvolutionStrategy(first if len(first) > 1 else first * 2, step, options)
