"""The table of an experiment: one row for each attempt of each unit, the same to the last digit whenever it is run."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from material_agent.batch.output import csv_text
from material_agent.batch.result import TaskResult
from material_agent.batch.store import Store
from material_agent.experiments.appraisal import MEASURES
from material_agent.experiments.attempts import SCALES, SPENT
from material_agent.experiments.plan import Plan
from material_agent.experiments.units import RUNS, Unit, unit_seed

DIGITS = 9
_FIGURES = (
    "outcome", "stop", "label", "built", "turns", "reward", "accepted", "truth_reward", "truth_accepted",
    "false_positive", "structure_term", "appearance_term", "physical_term",
    *(f"{term}_{scale}" for term in ("structure", "appearance") for scale in SCALES),
    "actions", "invalid", "useless", *SPENT, "nodes", "valid", "gaps_faced", "gaps_closed",
    "reflected", "change_made", "ban_respected", "helped", "blamed_gap_closed",
)  # fmt: skip
_COUNTS = ("turns", "actions", "invalid", "useless", *SPENT, "gaps_faced", "gaps_closed")

Row = dict[str, Any]


def unit_rows(plan: Plan, unit: Unit, result: TaskResult | None, store: Store) -> list[Row]:
    """The rows of one unit, one for each attempt that it may make.

    An attempt that was not needed, after a success, keeps what was reached; a unit without a result has failed in all.
    """
    measures = _read(store, unit) if result is not None and result.complete else None
    attempts = plan.config(unit.arm).attempts
    renders = plan.config(unit.arm).run_limits()["renders"]
    made = measures["rows"] if measures else []
    rows: list[Row] = []
    best: tuple[bool, float] = (False, 0.0)
    for number in range(1, attempts + 1):
        found = made[number - 1] if number <= len(made) else {}
        row = _named(plan, unit, number, failed=measures is None)
        row |= {"made": bool(found)}
        row |= {name: found.get(name, 0.0 if name in _COUNTS else None) for name in _FIGURES}
        row["accepted"] = bool(found.get("accepted", False))
        if row["truth_accepted"] is not None:
            row["false_positive"] = row["accepted"] and not row["truth_accepted"]
        row["valid"] = bool(found.get("valid")) if found or measures is None else None
        if row["reward"] is not None:
            best = max(best, (row["accepted"], float(row["reward"])))
        row |= {
            "reward_or_0": row["reward"] or 0.0,
            "selected_reward": best[1],
            "cum_success": best[0],
            "render_limit": renders,
            "editable": _editable(measures) if number == attempts else None,
        }
        rows.append({name: _plain(value) for name, value in row.items()})
    return rows


def times(unit: Unit, result: TaskResult | None, store: Store) -> Row:
    """Wall time of one unit, apart from the table because it never comes out the same."""
    measures = _read(store, unit) if result is not None and result.complete else None
    found = measures["times"] if measures else {}
    return {
        "unit": unit.id,
        "arm": unit.arm.id,
        "seconds": found.get("seconds", result.seconds if result else 0.0),
        "model_seconds": found.get("model_seconds", 0.0),
        "tries": result.tries if result else 0,
    }


def csv_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a table; truth values as 1 and 0, what is not known as nothing."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return csv_text(names, rows, _cell)


def parquet_of(rows: Sequence[Mapping[str, Any]]) -> bytes | None:
    """The same as Parquet; None where pyarrow is not installed."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - an optional extra
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError:
        return None
    buffer = io.BytesIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    parquet.write_table(pa.table({name: [row.get(name) for row in rows] for name in names}), buffer)
    return buffer.getvalue()


def _named(plan: Plan, unit: Unit, attempt: int, *, failed: bool) -> Row:
    return {
        "unit": unit.id,
        "arm": unit.arm.id,
        **{name: level for name, level in unit.arm.levels.items() if name != "arm"},
        "reference": unit.picture.id,
        "family": unit.picture.family,
        "seed": unit.seed_index,
        "run_seed": unit_seed(plan, unit),
        "attempt": attempt,
        "status": "failed" if failed else "ok",
    }


def _read(store: Store, unit: Unit) -> Mapping[str, Any] | None:
    data = store.read(f"{RUNS}/{unit.id}/{MEASURES}")
    if data is None:
        return None
    found: Mapping[str, Any] = json.loads(data)
    return found


def _editable(measures: Mapping[str, Any] | None) -> float | None:
    found = measures["editability"] if measures else None
    return None if found is None else float(found["share"])


def _plain(value: Any) -> Any:
    return round(value, DIGITS) if isinstance(value, float) else value


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return int(value) if isinstance(value, bool) else value
