"""Every sample of the development set measured against its reference: distances by component, kept as a JSON file."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evaluators import Target
from evaluators.components import distances
from evaluators.functional.texture import DeepTexture
from evaluators.measure import Measurement, measure
from evaluators.pictures import SIZES, resize_srgb
from evaluators.target import measure_part
from material_agent.calibrate.degrade import FloatArray
from material_agent.calibrate.development import Label, Sample
from material_agent.errors import BadInput

SCHEMA = "material-agent/distances/1"
Distances = Mapping[str, float]


@dataclass(frozen=True)
class Row:
    """One sample at one side of comparison; `distances` by component, NaN where there is nothing to compare."""

    material: str
    family: str
    photo: bool
    size: int
    kind: str
    label: Label
    hard: bool
    chain: str
    severity: int
    distances: Distances


@dataclass(frozen=True)
class Table:
    """All rows, and each material's distances to itself by side."""

    rows: tuple[Row, ...]
    own: Mapping[tuple[str, int], Distances]


def measured(
    name: str,
    family: str,
    *,
    photo: bool,
    target: FloatArray,
    samples: Iterable[Sample],
    network: DeepTexture,
    every: Mapping[int, int],
) -> tuple[list[Row], dict[tuple[str, int], Distances]]:
    """Measure one material's samples at every side that neither falls short of, one sample in `every` at each."""
    reference = Target.from_image(target)
    sizes = [size for size in SIZES if size <= reference.side] or [SIZES[0]]
    own: dict[tuple[str, int], Distances] = {(name, s): reference.self_distances(s, network) for s in sizes}
    references = {s: _measured(target, s, network, photo=photo, lattice=True) for s in sizes}
    rows, known = [], dict[tuple[int, bytes], dict[str, float]]()
    for number, sample in enumerate(samples):
        digest = hashlib.sha256(sample.image.tobytes()).digest()
        for size in sizes:
            if sample.image.shape[0] < size or number % every[size]:
                continue
            # The undamaged start of several chains is one picture.
            if (size, digest) not in known:
                wanted = references[size]
                got = _measured(sample.image, size, network, photo=photo, lattice=wanted.lattice is not None)
                known[size, digest] = distances(got, wanted)
            found = known[size, digest]
            said = (sample.kind, sample.label, sample.hard, sample.chain, sample.severity)
            rows.append(Row(name, family, photo, size, *said, found))
    return rows, own


def _measured(image: FloatArray, size: int, network: DeepTexture, *, photo: bool, lattice: bool) -> Measurement:
    """A photograph's quarter shows the grain of the whole; renders of the set have no more pixels than compared."""
    if photo:
        return measure_part(image, size, network)
    return measure(resize_srgb(image, size), network, look_for_lattice=lattice)


def save(table: Table, path: Path) -> None:
    """Write the table as JSON; NaN becomes null."""
    data = {
        "schema": SCHEMA,
        "own": [[name, size, _plain(values)] for (name, size), values in sorted(table.own.items())],
        "rows": [{**asdict(row), "distances": _plain(row.distances)} for row in table.rows],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, separators=(",", ":")) + "\n", encoding="utf-8")


def load(path: Path) -> Table:
    """Read what `save` wrote. Raises `BadInput` for anything else."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["schema"] != SCHEMA:
            raise BadInput(f"{path}: expected {SCHEMA}, got {data['schema']!r}")
        rows = tuple(Row(**{**row, "distances": _numbers(row["distances"])}) for row in data["rows"])
        return Table(rows, {(name, size): _numbers(values) for name, size, values in data["own"]})
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{path}: expected a table of distances, got {type(error).__name__}: {error}") from error


def _plain(values: Distances) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else round(value, 6) for name, value in values.items()}


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    return {name: math.nan if value is None else float(value) for name, value in values.items()}


def joined(parts: Iterable[tuple[list[Row], Mapping[tuple[str, int], Distances]]]) -> Table:
    """One table of many materials' parts."""
    rows: list[Row] = []
    own: dict[tuple[str, int], Distances] = {}
    for some, mine in parts:
        rows.extend(some)
        own |= mine
    return Table(tuple(rows), own)
