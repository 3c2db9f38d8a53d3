"""Derive the evaluator's first score normalisations, weights and thresholds from pictures.

Two disjoint quarters of one picture show the same material, quarters of two pictures do not. For each component and
each side of comparison: the floor's bounds are the quartiles of the distances within pictures, the ceiling is the
median of those between pictures, and the weight is 2·AUC − 1, how well the component tells the two apart. A term's
threshold is the first decile of its values within pictures. The weights of structure and appearance are in proportion
to d′ of their values and share what the stated priors of the other terms leave over.

    python scripts/fit_first_thresholds.py --photos DIR [--out evaluators/weights/default.json]
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image
from skimage import data as skimage_data

from evaluators.calibration import SCHEMA, Normalisation, SizeCalibration
from evaluators.comparison import Comparison
from evaluators.components import BY_NAME, distances
from evaluators.functional.texture import deep_texture
from evaluators.measure import Measurement
from evaluators.pictures import SIZES, as_srgb, centre_square, quadrants
from evaluators.result import Candidate
from evaluators.target import measure_part
from evaluators.terms import Appearance, Structure

FloatArray = npt.NDArray[np.float32]
PRIORS = {"physical": 0.10, "compile": 0.05, "budget": 0.05}
"""Weights that pictures say nothing about."""
DEFINED_THRESHOLDS = {"physical": 0.5, "compile": 0.5}
"""By construction: a failed physical check, and a failed compile, are at or under one half."""
BUNDLED = ("brick", "grass", "gravel")


@dataclass(frozen=True)
class Pair:
    """Two quarters: indices of the candidate's and the reference's, and whether they are of one picture."""

    candidate: int
    reference: int
    same: bool


def load_pictures(photos: Path | None) -> dict[str, FloatArray]:
    """Load the pictures of scikit-image's wheel and of a folder, as central squares in sRGB."""
    pictures = {f"skimage.{n}": centre_square(as_srgb(getattr(skimage_data, n)(), n)) for n in BUNDLED}
    for path in sorted(photos.iterdir()) if photos else ():
        if path.suffix.lower() in {".jpg", ".jpeg", ".png"}:
            with Image.open(path) as image:
                pictures[path.name] = centre_square(as_srgb(np.asarray(image.convert("RGB")), path.name))
    return pictures


def auc(same: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float:
    """Estimate how likely a distance within a picture is below one between pictures; ties count half."""
    ordered = np.sort(other)
    above = len(ordered) - np.searchsorted(ordered, same, side="right")
    equal = np.searchsorted(ordered, same, side="right") - np.searchsorted(ordered, same, side="left")
    return float((above + equal / 2).mean() / len(ordered))


def fit_size(pictures: Mapping[str, FloatArray], size: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Fit the calibration entry for one side; return it with the figures it rests on."""
    network = deep_texture()
    used = [p for p in pictures.values() if p.shape[0] // 2 >= size]
    quarters = [[measure_part(part, size, network) for part in quadrants(picture)] for picture in used]
    flat = [m for four in quarters for m in four]
    pairs = [Pair(a, b, a // 4 == b // 4) for a, b in itertools.permutations(range(len(flat)), 2)]
    table = [distances(flat[p.candidate], flat[p.reference]) for p in pairs]
    same = np.array([p.same for p in pairs])
    # A quarter may hold too few periods for a lattice to be found: that is no distance within its picture.
    too_few_periods = np.array([flat[p.candidate].lattice is None for p in pairs])
    components, figures = {}, {}
    for name in BY_NAME:
        values = np.array([row[name] for row in table])
        valid = ~np.isnan(values)
        if not (valid & same).any() or not (valid & ~same).any():
            continue
        telling = valid & ~(same & too_few_periods) if name == "lattice" else valid
        within, between = values[telling & same], values[telling & ~same]
        separation = auc(within, between)
        low, high = (float(q) for q in np.quantile(within, [0.25, 0.75]))
        ceiling = float(np.median(between))
        weight = max(0.0, 2 * separation - 1) if ceiling > high else 0.0
        components[name] = {"floor_low": low, "floor_high": high, "ceiling": ceiling, "weight": weight}
        figures[name] = {"auc": separation, "within": len(within), "between": len(between)}
    judged = _term_values(quarters, pairs, components)
    thresholds = {name: float(np.quantile(v[same], 0.1)) for name, v in judged.items()}
    summary = {
        "pictures": len(used),
        "components": figures,
        "terms": {
            name: {
                "auc": auc(-v[same], -v[~same]),
                "d_prime": float((v[same].mean() - v[~same].mean()) / np.sqrt((v[same].var() + v[~same].var()) / 2)),
                "passes_between": float((v[~same] > thresholds[name]).mean()),
                "fails_within": float((v[same] <= thresholds[name]).mean()),
            }
            for name, v in judged.items()
        },
    }
    return {"components": components, "thresholds": thresholds}, summary


def _term_values(
    quarters: list[list[Measurement]], pairs: list[Pair], components: Mapping[str, Mapping[str, float]]
) -> dict[str, npt.NDArray[np.float64]]:
    calibration = SizeCalibration({k: Normalisation(**v) for k, v in components.items()}, {})
    own = []
    for four in quarters:
        one, other = distances(four[1], four[0]), distances(four[3], four[2])
        own.append({name: (one[name] + other[name]) / 2 for name in one})
    flat = [m for four in quarters for m in four]
    candidate = Candidate(channels={})
    values: dict[str, list[float]] = {"structure": [], "appearance": [], "appearance_without_network": []}
    for pair in pairs:
        sides = flat[pair.candidate], flat[pair.reference], own[pair.reference // 4], calibration
        values["structure"].append(Structure().score(candidate, Comparison(*sides)).value)
        values["appearance"].append(Appearance().score(candidate, Comparison(*sides)).value)
        without = Appearance().score(candidate, Comparison(*sides, network_problem="left out"))
        values["appearance_without_network"].append(without.value)
    return {name: np.array(v) for name, v in values.items()}


def main(arguments: list[str]) -> int:
    """Write the file; the figures go into it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=Path, help="a folder of photographed materials, one picture each")
    parser.add_argument("--out", type=Path, default=Path("evaluators/weights/default.json"))
    options = parser.parse_args(arguments)
    pictures = load_pictures(options.photos)
    sizes, figures = {}, {}
    for size in SIZES:
        sizes[str(size)], figures[str(size)] = fit_size(pictures, size)
    separations = {
        term: float(np.mean([f["terms"][term]["d_prime"] for f in figures.values()]))
        for term in ("structure", "appearance")
    }
    left = 1 - PRIORS["physical"] - PRIORS["compile"]
    weights = {term: left * d / sum(separations.values()) for term, d in separations.items()}
    result = {
        "schema": SCHEMA,
        "made_by": {
            "status": "first version: fitted on quarters of pictures only, not on rendered materials",
            "command": "python scripts/fit_first_thresholds.py" + (" --photos DIR" if options.photos else ""),
            "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
            "python": platform.python_version(),
            "pictures": sorted(pictures),
            "priors": PRIORS,
            "defined_thresholds": DEFINED_THRESHOLDS,
            "figures": figures,
        },
        "weights": weights | PRIORS,
        "thresholds": DEFINED_THRESHOLDS,
        "sizes": sizes,
    }
    rounded = json.loads(json.dumps(result), parse_float=lambda text: float(f"{float(text):.5g}"))
    options.out.write_text(json.dumps(rounded, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({size: f["terms"] for size, f in rounded["made_by"]["figures"].items()}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
