"""A whole calibration: fits at every size, their figures on held-out materials, and the weights file."""

from __future__ import annotations

import itertools
import json
import math
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from evaluators.calibration import SCHEMA, load_calibration
from evaluators.pictures import SIZES
from material_agent.calibrate.figures import decision, held_out, order, term_shares
from material_agent.calibrate.fit import data_at, fit_size, judged_by
from material_agent.calibrate.table import Table
from material_agent.errors import BadInput

PRIORS = {"physical": 0.10, "compile": 0.05, "budget": 0.05}
"""Weights that pictures say nothing about."""
DEFINED_THRESHOLDS = {"physical": 0.5, "compile": 0.5}
"""By construction: a failed physical check, and a failed compile, are at or under one half."""
WANTED = 0.015
"""Share of new wrong materials, half of them hard, that may pass: half of the limit that is to be kept, so that a count
of some hundreds keeps it with 95 % confidence. Everything else is chosen by the fit, on materials that it holds out."""
FEWEST_FAMILIES = 6
LEAST_SHARE = 0.25
FEWEST_RIGHT = 16
"""With fewer right candidates at a size nothing is fitted there."""


def calibrated(table: Table, *, command: str, date: str) -> dict[str, Any]:
    """Fit everything; the result is what the weights file holds. Equal tables give equal results.

    Raises `BadInput` for materials of too few families to hold any out.
    """
    families = {row.family for row in table.rows}
    if len(families) < FEWEST_FAMILIES:
        raise BadInput(f"expected materials of at least {FEWEST_FAMILIES} families, got {len(families)}")
    sizes: dict[str, Any] = {}
    figures: dict[str, Any] = {}
    shares = []
    left = 1 - PRIORS["physical"] - PRIORS["compile"]
    for size in SIZES:
        data = data_at(table, size)
        if not data.rows or int(data.right.sum()) < FEWEST_RIGHT:
            continue
        judged = held_out(data, len(families), WANTED)
        share = term_shares(data, judged.structure, judged.appearance, left, LEAST_SHARE)
        fit = fit_size(data, WANTED)
        terms = judged_by(data, fit.components)
        shares.append(share)
        sizes[str(size)] = {"components": fit.components, "thresholds": fit.thresholds}
        figures[str(size)] = {
            "held_out": decision(judged),
            "order": order(judged, share),
            "medians": {
                f"{term}_{label}": float(np.median(terms[term][mask & ~np.isnan(terms[term])]))
                for term in ("structure", "appearance")
                for label, mask in (("right", data.right), ("wrong", data.wrong), ("hard", data.hard & data.wrong))
            },
        }
    missing = [size for size in SIZES if str(size) not in sizes]
    if missing:
        raise BadInput(f"expected {FEWEST_RIGHT} right candidates at each of {SIZES} px, got fewer at {missing}")
    _lend(table, sizes)
    weights = {term: float(np.mean([s[term] for s in shares])) for term in ("structure", "appearance")}
    materials = {row.material: row.photo for row in table.rows}
    result = {
        "schema": SCHEMA,
        "made_by": {
            "command": command,
            "date": date,
            "python": platform.python_version(),
            "graphs": sorted(name for name, photo in materials.items() if not photo),
            "photographs": sorted(name for name, photo in materials.items() if photo),
            "comparisons": len(table.rows),
            "priors": PRIORS,
            "defined_thresholds": DEFINED_THRESHOLDS,
            "wanted_wrong_passes": WANTED,
            "folds": len(families),
            "figures": figures,
        },
        "weights": weights | PRIORS,
        "thresholds": DEFINED_THRESHOLDS,
        "sizes": sizes,
    }
    return _rounded(result)


def _lend(table: Table, sizes: dict[str, Any]) -> None:
    """A component that is seen at a size too seldom to be fitted there takes the next larger size's numbers."""
    for small, large in reversed(list(itertools.pairwise(sizes))):
        there, lent = sizes[small]["components"], sizes[large]["components"]
        for name, rule in lent.items():
            seen = any(row.size == int(small) and not math.isnan(row.distances[name]) for row in table.rows)
            if name not in there and seen:
                there[name] = dict(rule)


def write(result: Mapping[str, Any], path: Path) -> None:
    """Write a weights file, and read it back as the evaluator does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    load_calibration(path)


def _rounded(result: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(result), parse_float=lambda text: float(f"{float(text):.5g}"))
    return found
