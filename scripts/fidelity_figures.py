"""Write the measured fidelity of the built-in actor into docs/builtin.md.

Usage: python scripts/fidelity_figures.py [--check]
Reads what `benchmarks/fidelity.py --record` and `benchmarks/baselines.py --record` left in benchmarks/records.
`--check` changes nothing and tells whether the page has the figures of the records.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from _page import table, with_section

ROOT = Path(__file__).parent.parent
PAGE, RECORDS = ROOT / "docs" / "builtin.md", ROOT / "benchmarks" / "records"
Record = Mapping[str, Any]
MAIN = (
    ("gap_median", "gap closed under VGG, drawn elsewhere, median"),
    ("gap_worst", "the worst"),
    ("feature_median", "gap closed under EfficientNet, drawn elsewhere, median"),
    ("feature_worst", "the worst"),
    ("gap_null_median", "VGG gap of the phase-scrambled copy, median"),
    ("feature_null_median", "EfficientNet gap of the phase-scrambled copy, median"),
    ("beats_null", "stationary references on which ours beats that copy by .03 under both"),
    ("lattice", "repeats as the reference does, or not at all where that does not"),
    ("kind", "structure of the right kind"),
    ("accepted", "accepted by the evaluator"),
    ("physical_passes", "physical term at least .8"),
    ("nodes_median", "nodes, median"),
    ("seconds_median", "seconds of a fit, median"),
)
NOISE = (
    ("beats_flat_reward", "reward above the mean colour's"),
    ("beats_flat_gap", "VGG gap above the mean colour's"),
    ("regular_beats_noise_reward", "regular: reward above plain noise's"),
    ("regular_beats_noise_gap", "regular: VGG gap above plain noise's"),
    ("rest_not_worse_reward", "others: reward not .01 below plain noise's"),
    ("rest_not_worse_gap", "others: VGG gap not .01 below plain noise's"),
)


def section(name: str, make: Callable[[Record], str]) -> str:
    """The text for a record."""
    path = RECORDS / f"{name}.json"
    return make(json.loads(path.read_text("utf-8"))) if path.is_file() else "Not measured yet."


def made(record: Record) -> str:
    """How and on what a record was made."""
    context = record["context"]
    seeds = ", ".join(str(seed) for seed in context["seeds"])
    return (
        f"`{context['quality']}`, {context['attempts']} attempt(s), seeds {seeds}; "
        f"{record['figures']['references']:.0f} references; {context['machine']['cores']} cores, "
        f"commit {context['commit']}."
    )


def photographs(record: Record) -> str:
    """Each photograph, then the summary."""
    return "\n\n".join([made(record), summary(record, MAIN + NOISE), rows(record)])


def synthetic(record: Record) -> str:
    """Each bundled reference, then the summary."""
    return "\n\n".join([made(record), summary(record, MAIN), rows(record)])


def summary(record: Record, wanted: Sequence[tuple[str, str]]) -> str:
    """Figures with their names in words; what was not measured is left out."""
    found = record["figures"]
    return table(["", ""], [[words, number(found[key])] for key, words in wanted if key in found])


def rows(record: Record) -> str:
    """One line for each reference."""
    head = ["", "structure", "reward", "noise", "VGG", "noise", "null", "EffNet", "null", "lattice", "kind", "own"]
    body = [
        [
            one["name"], one["structure"], number(one["reward"]), number(one["reward_noise"]),
            number(one["gap_elsewhere"]), number(one["gap_noise"]), number(one["gap_null"]),
            number(one["feature_elsewhere"]), number(one["feature_null"]), yes(one["lattice"]), yes(one["kind"]),
            number(one["own"]),
        ]
        for one in record["references"]
    ]  # fmt: skip
    return table(head, body)


def baselines(record: Record) -> str:
    """Ours beside other searches."""
    found = record["figures"]
    arms = ("ours", "draws", "evolution", "walk")
    body = [
        [arm, number(found[f"reward_{arm}"]), number(found[f"gap_{arm}"]),
         *(number(found.get(f"better_{kind}_{arm}")) for kind in ("reward", "gap"))]
        for arm in arms
    ]  # fmt: skip
    head = ["", "reward", "VGG", "ours better by reward", "ours better by VGG"]
    return f"`{record['quality']}`, {found['references']:.0f} references.\n\n" + table(head, body)


SECTIONS: Mapping[str, tuple[str, Callable[[Record], str]]] = {
    "photographs": ("fidelity", photographs),
    "synthetic": ("fidelity_bundled", synthetic),
    "baselines": ("baselines", baselines),
}


def page_with(page: str) -> str:
    """The page with the figures of every record; raises ValueError for one without the markers."""
    for name, (record, make) in SECTIONS.items():
        page = with_section(page, name, section(record, make))
    return page


def number(value: float | None) -> str:
    """Two decimals, "" for what is not known."""
    if value is None or value != value:  # noqa: PLR0124  (NaN)
        return ""
    return f"{value:.0f}" if abs(value) >= 3 else f"{value:.2f}"


def yes(value: float | None) -> str:
    """A yes or no of the median over seeds."""
    return "" if value is None else "yes" if value >= 0.5 else "**no**"


def main() -> int:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    wanted = page_with(page)
    if options.check:
        if page != wanted:
            print(f"{PAGE.name} does not have the figures of the records: run python scripts/fidelity_figures.py")
        return int(page != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
