"""Copy finished experiments into docs/experiments and sum up their primary tests in one table.

    python scripts/publish_experiments.py FOLDER COMMIT

FOLDER holds one folder for each plan, as `material-agent experiment NAME -o FOLDER/NAME` writes it; COMMIT is what ran.
"""

from __future__ import annotations

import csv
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent.parent / "docs" / "experiments"
COPIED = ("report.md", "attempts.csv", "experiment.json", "contexts.json", "context.toml")
PLOTS = ("tests", "learning", "interactions", "cost")


def main(folder: Path, commit: str) -> None:
    """Publish every experiment below `folder`."""
    finished = sorted(path.parent for path in folder.glob("*/report.md"))
    for one in finished:
        publish(one, DOCS / one.name)
    (DOCS / "summary.md").write_text("\n".join(summary(finished, commit)) + "\n", "utf-8")


def publish(source: Path, target: Path) -> None:
    """Copy what a reader of one experiment needs."""
    target.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        if (source / name).is_file():
            shutil.copyfile(source / name, target / name)
    for name in PLOTS:
        plot = source / "plots" / f"{name}.png"
        if plot.is_file():
            (target / "plots").mkdir(exist_ok=True)
            shutil.copyfile(plot, target / "plots" / plot.name)


def summary(folders: list[Path], commit: str) -> list[str]:
    """The primary tests of all experiments, and what they rest on."""
    lines = [
        "# All primary tests",
        "",
        "Written by `scripts/publish_experiments.py`; differences with their intervals over references.",
        "",
        "| plan | units | success | test | comparison | measure | difference | p (Holm) | verdict |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    seconds, units = 0.0, 0
    for folder in folders:
        if (folder / "times.csv").is_file():
            with (folder / "times.csv").open(newline="") as file:
                seconds += sum(float(row["seconds"]) for row in csv.DictReader(file))
        if (folder / "experiment.json").is_file():
            data = json.loads((folder / "experiment.json").read_text("utf-8"))
            units += data["units"]
            lines += list(rows(folder, data))
    lines += ["", f"{units} units, {seconds / 60:.0f} minutes of run time summed over all jobs."]
    lines += [f"Commit {commit}; {versions(folders)}."]
    return lines


def rows(folder: Path, data: dict[str, Any]) -> Iterator[str]:
    """The primary tests of one experiment."""
    share = sum(arm["success"]["mean"] * arm["units"] for arm in data["arms"] if arm["success"]) / max(data["units"], 1)
    for test in data["tests"]:
        if not test["primary"]:
            continue
        found = test["comparison"]
        figure = "–" if found is None else f"{found['difference']:+.3f} [{found['low']:+.3f}, {found['high']:+.3f}]"
        cells = (
            f"[{folder.name}]({folder.name}/report.md)",
            str(data["units"]),
            f"{share:.0%}",
            f"{test['id']}: {test['claim']}",
            f"{test['to']} − {test['versus']}",
            test["measure"],
            figure,
            f"{test['p_adjusted']:.4f}",
            test["verdict"],
        )
        yield f"| {' | '.join(cells)} |"


def versions(folders: list[Path]) -> str:
    """What was installed, as the first unit's record tells."""
    measured = next((path for folder in folders for path in sorted(folder.glob("runs/*/measures.json"))), None)
    found = json.loads(measured.read_text("utf-8"))["versions"] if measured else {}
    return ", ".join(f"{name} {value}" for name, value in found.items())


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
