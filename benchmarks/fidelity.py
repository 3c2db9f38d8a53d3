"""How near fitted materials come to their photographs, beside a flat colour, a fitted plain noise and a null.

    python benchmarks/fidelity.py [--photos DIR | --bundled] [--quality draft] [--attempts N] [--seeds 1,2,3]
                                  [--out DIR] [--only a,b] [--columns N] [--no-noise] [--record FILE] [--views FILE]
                                  [--quick]

Each reference is fitted by the built-in actor, and once more with plain layered noise: three octave layers in the same
colours, the same relief and gloss, all numbers searched with the same budget, but no branch added. Ours, ours drawn at
another place of its noises, noise, the mean colour and the reference's own phase-scrambled, colour-matched copy are
scored alike, on their beauty picture alone: `reward` by the committed evaluator, `gap` by gap closed under ST-LPIPS VGG
statistics, which nothing in the product sees, `feature` by gap closed under EfficientNet-Lite0 at the finest scale.
`own` is the judge's distance of the reference to itself: where it is over .1, gaps mean little.
What can be said by code of what a person sees: `lattice`, whether the render repeats as the reference does, each vector
within 5 % of a cell, or not at all where the reference does not; `kind`, whether the structure is one of those that
expected.json names for the material. What is summarised of a reference is the median over the seeds. References:
photographs of --photos (or MATERIAL_AGENT_PHOTOS; `regular` and `material` from the manifest.json beside the folder)
and scikit-image's three; with --bundled the bundled ones, whose true structure is known.
The contact sheet (reference above, ours below, noise last) goes to OUT/sheet.png, one with our tilt and sphere views to
--views. What is in OUT already is not redone.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

# Python puts this folder first, where renderer.py and evaluator.py would hide the packages that they measure.
sys.path.append(sys.path.pop(0))

from _fits import (
    FloatArray,
    KeptEfficientNet,
    KeptVgg,
    Reference,
    Scale,
    chosen_references,
    drawn_elsewhere,
    fitted,
    flat_color,
    picture,
    reference_options,
    run_config,
    scrambled,
    views,
)
from _report import environment
from _sheet import sheet

from evaluators.components import lattice_difference
from evaluators.functional.color import luma
from evaluators.functional.lattice import REGULAR, find_lattice
from material_agent.actors.builtin import BuiltinActor, Options
from references import load_reference
from renderer import BlenderPool, RenderCache

TOLERANCE = 0.01
"""A reward or gap this much lower counts as equal: a re-seeded render of one graph moves by about as much."""
NULL_MARGIN = 0.03
STATIONARY = 0.1
"""Up to this distance of a reference to itself its gaps mean something."""
LATTICE_TOLERANCE = 0.1
"""Of `lattice_difference`: every vector within 5 % of a cell, which is also an angle within 3°."""
ALL = {
    "beats_flat_reward": 1.0, "beats_flat_gap": 1.0, "regular_beats_noise_reward": 1.0, "regular_beats_noise_gap": 1.0,
    "rest_not_worse_reward": 1.0, "rest_not_worse_gap": 1.0,
    "gap_median": 0.88, "feature_median": 0.80, "gap_worst": 0.60, "feature_worst": 0.50, "beats_null": 0.85,
    "lattice": 1.0, "physical_passes": 0.95,
}  # fmt: skip
SYNTHETIC = {"gap_median": 0.97, "kind": 0.9, "accepted": 0.9}
LONGEST_S = 180.0
"""The longest that a reference's median fit may take on two free cores; processor seconds stand beside it, for a
machine that is not free."""


@dataclass(frozen=True)
class Row:
    """One fit, or the median of several.

    Rewards, gaps and features of ours, ours elsewhere, noise, flat and null; seconds of clock and processor; nodes;
    `physical`: the term's value; `accepted`, `lattice` and `kind` are 1 or 0, or NaN where it cannot be said.
    """

    name: str
    regular: bool
    structure: str
    seconds: float
    cpu_seconds: float
    nodes: float
    reward: float
    reward_elsewhere: float
    reward_noise: float
    reward_flat: float
    gap: float
    gap_elsewhere: float
    gap_noise: float
    gap_flat: float
    gap_null: float
    feature: float
    feature_elsewhere: float
    feature_noise: float
    feature_flat: float
    feature_null: float
    own: float
    physical: float
    accepted: float
    lattice: float
    kind: float


def same_lattice(reference: FloatArray, drawn: FloatArray) -> float:
    """1 where the render repeats as the reference does, or neither repeats; 0 where they differ."""
    wanted, found = (find_lattice(luma(image)) for image in (reference, drawn))
    if wanted is None or wanted.strength < REGULAR:
        return float(found is None or found.strength < REGULAR)
    return float(found is not None and lattice_difference(found, wanted) <= LATTICE_TOLERANCE)


def expected(material: str, structure: str) -> float:
    """1 where the structure is one for this material, NaN for a material that nothing is said of."""
    table = json.loads((Path(__file__).parent / "expected.json").read_text("utf-8"))
    return float(structure in table[material]) if material in table else float("nan")


def measured(name: str, reference: Reference, pictures: Mapping[str, FloatArray], drawn: Mapping[str, FloatArray],
             record: Mapping[str, Any], scale: Scale) -> Row:  # fmt: skip
    """The row of one fit; `drawn`: "" for ours, "elsewhere", "noise", "flat" and "null"."""
    numbers: dict[str, float] = {}
    for kind, image in drawn.items():
        suffix = f"_{kind}" if kind else ""
        numbers[f"gap{suffix}"], numbers[f"feature{suffix}"] = scale.gaps(image)
        if kind != "null":
            numbers[f"reward{suffix}"] = scale.reward(image)
    for absent in ("gap_noise", "feature_noise", "reward_noise"):
        numbers.setdefault(absent, float("nan"))
    terms = record["final"]["evaluation"]["terms"]
    best = max(record["attempts"], key=lambda one: one["reward"] or -1)
    return Row(
        name=name, regular=reference.regular, structure=best["structure"], seconds=record["seconds"],
        cpu_seconds=record["cpu_seconds"], nodes=float(terms["budget"]["numbers"]["nodes"]), own=scale.own,
        physical=terms["physical"]["value"], accepted=float(record["success"]),
        lattice=same_lattice(pictures[name], drawn[""]), kind=expected(reference.material, best["structure"]),
        **numbers,
    )  # fmt: skip


def median_row(rows: Sequence[Row]) -> Row:
    """Each number's median over the seeds; the structure of most of them."""
    numbers = {
        f.name: statistics.median(getattr(row, f.name) for row in rows) for f in fields(Row) if f.type == "float"
    }
    return replace(rows[0], structure=statistics.mode(row.structure for row in rows), **numbers)


def line(row: Row, label: str) -> str:
    """One row of the printed table."""
    rewards = f"{row.reward:.3f} noise {row.reward_noise:.3f} flat {row.reward_flat:.3f}"
    gaps = f"{row.gap:.2f} elsewhere {row.gap_elsewhere:.2f} noise {row.gap_noise:.2f} null {row.gap_null:.2f}"
    features = f"{row.feature:.2f} noise {row.feature_noise:.2f} null {row.feature_null:.2f}"
    facts = f"lattice {row.lattice:.0f} kind {row.kind:.0f}"
    spent = f"{row.seconds:.0f} s, {row.cpu_seconds:.0f} s of processor"
    return f"{label:<20}{row.structure:<16} reward {rewards}   gap {gaps}   feature {features}   {facts}   {spent}"


def summarize(rows: Sequence[Row]) -> dict[str, float]:
    """Medians, and the shares of references on which ours wins or holds its own; NaN for what was not fitted."""
    regular, rest = [r for r in rows if r.regular], [r for r in rows if not r.regular]
    stationary = [r for r in rows if r.own <= STATIONARY]

    def share(group: Sequence[Row], test: Callable[[Row], float]) -> float:
        return float(np.mean([test(row) for row in group])) if group else float("nan")

    def known(name: str) -> list[Row]:
        return [row for row in rows if not np.isnan(getattr(row, name))]

    fought = [r for r in rest if not np.isnan(r.reward_noise)]
    fought_regular = [r for r in regular if not np.isnan(r.reward_noise)]
    return {
        "references": float(len(rows)),
        "reward_median": statistics.median(r.reward for r in rows),
        "gap_median": statistics.median(r.gap_elsewhere for r in rows),
        "gap_worst": min(r.gap_elsewhere for r in rows),
        "feature_median": statistics.median(r.feature_elsewhere for r in rows),
        "feature_worst": min(r.feature_elsewhere for r in rows),
        "gap_noise_median": statistics.median(r.gap_noise for r in rows),
        "gap_null_median": statistics.median(r.gap_null for r in rows),
        "feature_null_median": statistics.median(r.feature_null for r in rows),
        "beats_flat_reward": share(rows, lambda r: r.reward > r.reward_flat),
        "beats_flat_gap": share(rows, lambda r: r.gap > r.gap_flat),
        "regular_beats_noise_reward": share(fought_regular, lambda r: r.reward > r.reward_noise),
        "regular_beats_noise_gap": share(fought_regular, lambda r: r.gap > r.gap_noise),
        "rest_not_worse_reward": share(fought, lambda r: r.reward >= r.reward_noise - TOLERANCE),
        "rest_not_worse_gap": share(fought, lambda r: r.gap >= r.gap_noise - TOLERANCE),
        "stationary": float(len(stationary)),
        "beats_null": share(stationary, beats_null),
        "accepted": share(rows, lambda r: r.accepted),
        "lattice": share(rows, lambda r: r.lattice),
        "kind": share(known("kind"), lambda r: r.kind),
        "physical_passes": share(rows, lambda r: r.physical >= 0.8),
        "nodes_median": statistics.median(r.nodes for r in rows),
        "seconds_median": statistics.median(r.seconds for r in rows),
        "seconds_longest": max(r.seconds for r in rows),
        "cpu_seconds_median": statistics.median(r.cpu_seconds for r in rows),
        "cpu_seconds_longest": max(r.cpu_seconds for r in rows),
    }


def beats_null(row: Row) -> bool:
    """Whether both judges find ours nearer than the phase-scrambled copy, by more than the margin."""
    gains = row.gap_elsewhere - row.gap_null, row.feature_elsewhere - row.feature_null
    return min(gains) > NULL_MARGIN


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reference_options(parser, "fidelity-runs")
    parser.add_argument("--attempts", type=int, default=1)
    parser.add_argument("--seeds", type=lambda text: [int(part) for part in text.split(",")], default=[0])
    parser.add_argument("--no-noise", action="store_true", help="do not fit plain noise beside ours")
    parser.add_argument("--views", type=Path, help="a file for the sheet with views of tilted planes and spheres")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    if options.photos is None and not options.bundled:
        print("No photographs given (--photos DIR): only scikit-image's three textures are used.")
    sources, chosen = chosen_references(options)
    pictures = {name: load_reference(item.source).image_srgb for name, item in sources.items()}
    judges, rows, shown, turned = (KeptVgg(), KeptEfficientNet()), [], [], []
    begun = time.monotonic()
    with BlenderPool(cache=RenderCache()) as pool:
        for name in chosen:
            scale = Scale(name, pictures, judges)
            by_seed: list[tuple[Row, list[FloatArray], Path]] = []
            for seed in options.seeds:
                drawn, record, folder = one_fit(name, sources[name].source, seed, pool, options, pictures[name])
                row = measured(name, sources[name], pictures, drawn, record, scale)
                by_seed.append((row, [drawn[""], *([] if options.no_noise else [drawn["noise"]])], folder))
                print(line(row, f"{name} {seed}"), flush=True)
            by_seed.sort(key=lambda item: item[0].reward)
            rows.append(median_row([row for row, _, _ in by_seed]))
            if len(by_seed) > 1:
                print(line(rows[-1], f"{name}: median"), flush=True)
            shown.append((name, [pictures[name], *by_seed[len(by_seed) // 2][1]]))
            sheet(shown, options.out / "sheet.png", options.columns)
            if options.views is not None:
                folder = by_seed[len(by_seed) // 2][2]
                turned.append((name, [pictures[name], picture(folder), *views(folder)]))
                sheet(turned, options.views, options.columns)
    return told(rows, options, time.monotonic() - begun)


def one_fit(
    name: str, source: str, seed: int, pool: BlenderPool, options: argparse.Namespace, reference: FloatArray
) -> tuple[dict[str, FloatArray], Any, Path]:
    """Fit ours and, unless it is not wanted, noise; the pictures to score by kind, and record and folder of ours."""
    base = options.out / f"{options.quality}-{options.attempts}-{seed}"
    ours, noise = (run_config(name, source, base, arm, seed, options.attempts, options) for arm in ("ours", "noise"))
    record = fitted(ours, lambda setup: BuiltinActor(setup.seed), pool)
    drawn = {"": picture(ours.out)}
    drawn["elsewhere"] = drawn_elsewhere(ours.out, drawn[""].shape[0], pool)
    if not options.no_noise:
        plain = Options(structures=("layered_noise",), branches=False)
        fitted(noise, lambda setup: BuiltinActor(setup.seed, plain), pool, reflect=False)
        drawn["noise"] = picture(noise.out)
    return drawn | {"flat": flat_color(reference), "null": scrambled(reference)}, record, ours.out


def known(row: Row) -> dict[str, Any]:
    """The row as JSON has it: None for what is not known."""
    return {key: None if value != value else value for key, value in asdict(row).items()}  # noqa: PLR0124  (NaN)


def told(rows: Sequence[Row], options: argparse.Namespace, seconds: float) -> int:
    """Print the summary against its bars and the last line; 1 where a bar is missed."""
    figures = summarize(rows)
    bars = SYNTHETIC if options.bundled else ALL
    missed = [key for key, bar in bars.items() if not (figures[key] >= bar)]
    missed += ["seconds_longest"] if figures["seconds_longest"] > LONGEST_S else []
    for key, value in figures.items():
        print(
            f"{key:<28}{value:9.3f}{f'   bar {bars[key]}' if key in bars else ''}{'   below' if key in missed else ''}"
        )
    conditions = {
        "quick": options.quick, "quality": options.quality, "attempts": options.attempts, "seeds": options.seeds,
        "seconds": round(seconds), "sheet": str(options.out / "sheet.png"),
    }  # fmt: skip
    result = {
        "benchmark": "fidelity",
        "figures": {key: round(value, 4) for key, value in figures.items() if not np.isnan(value)},
        "ok": not missed,
        "missed": missed,
        "context": environment(("bpy", "numpy", "torch")) | conditions,
        "references": [known(row) for row in rows],
    }
    print(json.dumps(result))
    if options.record is not None:
        options.record.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
