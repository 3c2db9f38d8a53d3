"""What every benchmark shares: the environment, the spread of repeated measurements, the table and the last line."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from statistics import median, quantiles
from typing import Any


def environment(packages: Sequence[str] = ("bpy", "numpy")) -> dict[str, Any]:
    """Commit (with `+` when the checkout differs from it), machine, Python and package versions."""
    return {
        "commit": _git("rev-parse", "--short=12", "HEAD") + ("+" if _git("status", "--porcelain", "-uno") else ""),
        "machine": {"cpu": _cpu(), "cores": _cores(), "load": round(os.getloadavg()[0], 1), "os": platform.platform()},
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in packages}},
    }


def spread(values: Iterable[float]) -> dict[str, float]:
    """Median, first and third quartile and number of repeated measurements."""
    kept = sorted(values)
    low, _, high = quantiles(kept, n=4) if len(kept) > 1 else (kept[0],) * 3
    return {"median": median(kept), "q1": low, "q3": high, "n": len(kept)}


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under a head, numbers to the right."""
    cells = [list(head), *([f"{c:.4g}" if isinstance(c, float) else str(c) for c in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    for number, row in enumerate(cells):
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))))
        if number == 0:
            print("  ".join("-" * width for width in widths))


def finish(
    name: str,
    figures: Mapping[str, float],
    bars: Mapping[str, float],
    *,
    details: Mapping[str, Any] | None = None,
    packages: Sequence[str] = ("bpy", "numpy"),
) -> int:
    """Print each figure against its bar (at least that much) and the last line; the exit code is 1 below a bar."""
    missed = [key for key, bar in bars.items() if not figures[key] >= bar]
    table(("figure", "value", "bar", ""), [
        (key, float(value), bars.get(key, "-"), "below" if key in missed else "") for key, value in figures.items()
    ])  # fmt: skip
    record = {
        "benchmark": name,
        "figures": {key: float(f"{value:.6g}") for key, value in figures.items()},
        "ok": not missed,
        "bars": dict(bars),
        **environment(packages),
        **(details or {}),
    }
    print(json.dumps(record), flush=True)
    return 1 if missed else 0


def _git(*arguments: str) -> str:
    root = Path(__file__).resolve().parent.parent
    run = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    return run.stdout.strip() if run.returncode == 0 else ""


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"
