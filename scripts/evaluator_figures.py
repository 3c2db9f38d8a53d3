"""Write the figures of the committed calibration into docs/evaluator.md.

Usage: python scripts/evaluator_figures.py [--check]
`--check` changes nothing and tells whether the page has the figures of `evaluators/weights/default.json`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from _page import table, with_section

ROOT = Path(__file__).parent.parent
PAGE, WEIGHTS = ROOT / "docs" / "evaluator.md", ROOT / "evaluators" / "weights" / "default.json"


def figures(weights: Mapping[str, Any]) -> str:
    """The figures in Markdown."""
    made = weights["made_by"]
    parts = [
        f"Made by `{made['command']}` on {made['date']}: {len(made['graphs'])} bundled materials, "
        f"{len(made['photographs'])} photographs, {made['comparisons']} comparisons. All rates are held out: each "
        f"material is judged by a fit that has not seen its family ({made['folds']} families).",
        decision(made["figures"]),
        "P(pass \\| wrong) by kind, at the largest size: " + kinds(made["figures"]) + ".",
        order(made["figures"]),
        parameters(weights),
    ]
    return "\n\n".join(parts)


def decision(sizes: Mapping[str, Any]) -> str:
    """Rates of the decision, by size."""
    rows = [
        ("wrong candidates, of them hard", lambda f: f"{f['wrong_count']}, {f['hard_count']}"),
        ("P(pass \\| wrong), upper 95 % limit", lambda f: _limit(f, "pass_given_wrong")),
        ("P(pass \\| hard), upper 95 % limit", lambda f: _limit(f, "pass_given_hard")),
        ("right candidates", lambda f: str(f["right_count"])),
        ("P(fail \\| right), upper 95 % limit", lambda f: _limit(f, "fail_given_right")),
        ("P(wrong \\| pass) where half are wrong", lambda f: _percent(f["wrong_given_pass_at_0.5"])),
        ("P(wrong \\| pass) where nine in ten are", lambda f: _percent(f["wrong_given_pass_at_0.9"])),
    ]
    body = [[name, *(show(found["held_out"]) for found in sizes.values())] for name, show in rows]
    return table(["", *(f"{size} px" for size in sizes)], body)


def kinds(sizes: Mapping[str, Any]) -> str:
    """How many of each kind of wrong candidate passed."""
    found = sizes[max(sizes, key=int)]["held_out"]["by_kind"]
    wrong = {key.partition(":")[2]: value for key, value in found.items() if key.startswith("wrong:")}
    return ", ".join(f"{name.replace('_', ' ')} {v['passed']}/{v['count']}" for name, v in sorted(wrong.items()))


def order(sizes: Mapping[str, Any]) -> str:
    """Agreement with graded damage, by chain and size."""
    chains = sorted({chain for found in sizes.values() for chain in found["order"]["by_chain"]})
    body = [
        [chain.replace("_", " "), *(_agreement(found["order"]["by_chain"].get(chain)) for found in sizes.values())]
        for chain in chains
    ]
    body.append(["all", *(_agreement(found["order"]) for found in sizes.values())])
    return "Pairs of graded damage that the score puts in the right order:\n\n" + table(
        ["", *(f"{size} px" for size in sizes)], body
    )


def parameters(weights: Mapping[str, Any]) -> str:
    """Thresholds and weights."""
    sizes = weights["sizes"]
    terms = ["structure", "appearance", "appearance_without_network"]
    terms += sorted({name for found in sizes.values() for name in found["thresholds"]} - set(terms))
    body = [
        [f"threshold of {term.replace('_', ' ')}", *(_threshold(s["thresholds"].get(term)) for s in sizes.values())]
        for term in terms
    ]
    lambdas = ", ".join(f"{name} {value:.3f}" for name, value in weights["weights"].items())
    return f"Weights λ: {lambdas}.\n\n" + table(["", *(f"{size} px" for size in sizes)], body)


def _threshold(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _limit(found: Mapping[str, Any], name: str) -> str:
    return f"{_percent(found[name])}, {_percent(found[f'{name}_upper95'])}"


def _agreement(found: Mapping[str, Any] | None) -> str:
    return "–" if found is None or found["agreement"] is None else f"{_percent(found['agreement'])} of {found['pairs']}"


def main(arguments: list[str]) -> int:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args(arguments).check
    page = PAGE.read_text(encoding="utf-8")
    wanted = with_section(page, "figures", figures(json.loads(WEIGHTS.read_text(encoding="utf-8"))))
    if check:
        print("as the weights say" if page == wanted else "stale: run python scripts/evaluator_figures.py")
        return int(page != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
