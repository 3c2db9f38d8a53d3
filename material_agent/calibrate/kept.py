"""Samples kept on disk: measuring them again after a change of the evaluator needs no rendering."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from material_agent.calibrate.development import Sample
from material_agent.errors import BadInput

_FACTS = "samples"
"""Name of the entry that holds everything but the pictures."""


def kept_samples(path: Path, make: Callable[[], Iterable[Sample]]) -> Iterator[Sample]:
    """Samples of the file at `path`, which is made first where there is none.

    Pictures are held as 16-bit floats, finer than the 8 bits of a picture file; a run that makes them gets them as one
    that reads them does. Raises `BadInput` for a file that holds no samples.
    """
    if not path.is_file():
        _save(list(make()), path)
    return _load(path)


def _save(samples: list[Sample], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    facts = [{key: value for key, value in asdict(sample).items() if key != "image"} for sample in samples]
    pictures: dict[str, Any] = {str(index): sample.image.astype(np.float16) for index, sample in enumerate(samples)}
    # Renamed when whole, so that an interrupted run leaves nothing that looks like one.
    partial = path.with_suffix(".partial.npz")
    np.savez(partial, **{_FACTS: np.array(json.dumps(facts))}, **pictures)
    partial.replace(path)


def _load(path: Path) -> Iterator[Sample]:
    try:
        with np.load(path) as data:
            for index, facts in enumerate(json.loads(str(data[_FACTS]))):
                yield Sample(**facts, image=data[str(index)].astype(np.float32))
    except (OSError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise BadInput(f"{path}: expected samples, got {type(error).__name__}: {error}") from error
