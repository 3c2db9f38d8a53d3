"""What a batch leaves beside its runs: the manifest, the summary as CSV and JSON, the gallery."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from material_agent.batch.config import BatchConfig, TaskSpec
from material_agent.batch.gallery import gallery_html
from material_agent.batch.gather import Fault
from material_agent.batch.result import TaskResult
from material_agent.batch.store import Store

MANIFEST, SUMMARY_JSON, SUMMARY_CSV, GALLERY = "manifest.json", "summary.json", "summary.csv", "index.html"
TERMS = ("structure", "appearance", "physical", "compile", "budget")
# What a spreadsheet would run as a formula when a cell begins with it.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_outputs(
    store: Store,
    config: BatchConfig,
    tasks: Sequence[TaskSpec],
    results: Mapping[str, TaskResult],
    faults: Sequence[Fault],
) -> None:
    """Write all of it, each file whole."""
    rows = [summary_row(task, results.get(task.id)) for task in tasks]
    rows += [_fault_row(fault) for fault in faults]
    store.write(MANIFEST, _json(_manifest(config, tasks, results, faults)))
    store.write(SUMMARY_JSON, _json({"schema": _schema("batch-summary"), **_counts(rows), "references": rows}))
    store.write(SUMMARY_CSV, summary_csv(rows).encode())
    store.write(GALLERY, gallery_html(rows, _counts(rows)).encode())


def summary_row(task: TaskSpec, result: TaskResult | None) -> dict[str, Any]:
    """One reference in short: what it is, what became of it, the figures that count."""
    row: dict[str, Any] = {
        "id": task.id,
        "name": task.item.name,
        "status": "pending" if result is None else result.status,
        "reward": None,
        "reseeded": None,
        **dict.fromkeys(TERMS),
        "built": "",
        "kind": "",
        "reason": "",
        "failures": [],
        "attempts": 0,
        "nodes": 0,
        "seed": task.config.seed,
        "seconds": 0.0,
        "sha256": task.sha256,
        "folder": task.folder,
        "report": "",
        "reference": "",
        "render": "",
    }
    if result is None:
        return row
    for name in ("reward", "reseeded", "kind", "reason", "attempts", "nodes", "seconds", "sha256"):
        row[name] = getattr(result, name)
    row["built"] = result.structure  # "structure" is the term's
    row |= {name: result.terms.get(name) for name in TERMS}
    row["failures"] = list(result.failures)
    present = {"report": "report.html", "reference": "thumbs/reference.webp", "render": "thumbs/render.webp"}
    row |= {key: f"{task.folder}/{name}" for key, name in present.items() if name in result.files}
    return row


def summary_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as a table; text that a spreadsheet would take for a formula is quoted with an apostrophe."""
    columns = [name for name in (rows[0] if rows else {}) if name not in ("reference", "render")]
    return csv_text(columns, rows, _cell)


def csv_text(columns: Sequence[str], rows: Sequence[Mapping[str, Any]], cell: Callable[[Any], Any]) -> str:
    """Rows under their columns; `cell` turns a value, None for a missing one, into what is written."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([cell(row.get(name)) for name in columns])
    return buffer.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        value = "; ".join(map(str, value))
    if isinstance(value, str):
        text = value.encode("utf-8", "replace").decode()
        return f"'{text}" if text.startswith(_FORMULA) else text
    return "" if value is None else value


def _fault_row(fault: Fault) -> dict[str, Any]:
    return {"id": fault.name, "name": fault.name, "status": "failed", "kind": "input", "reason": fault.reason}


def _counts(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    names = ("accepted", "not_accepted", "failed", "pending")
    return {"total": len(rows)} | {name: sum(row["status"] == name for row in rows) for name in names}


def _manifest(
    config: BatchConfig,
    tasks: Sequence[TaskSpec],
    results: Mapping[str, TaskResult],
    faults: Sequence[Fault],
) -> dict[str, Any]:
    return {
        "schema": _schema("batch-manifest"),
        "settings": config.settings,
        "references": [
            {
                "id": task.id,
                "input": task.item.name,
                "source": task.item.source,
                "sha256": task.sha256,
                "seed": task.config.seed,
                "folder": task.folder,
                "status": results[task.id].status if task.id in results else "pending",
            }
            for task in tasks
        ],
        "faults": [{"input": fault.name, "reason": fault.reason} for fault in faults],
    }


def _schema(name: str) -> dict[str, Any]:
    return {"name": f"material-agent/{name}", "version": 1}


def _json(data: Mapping[str, Any]) -> bytes:
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")
