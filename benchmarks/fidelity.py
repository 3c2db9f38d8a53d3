"""How near fitted materials come to their photographs, beside a flat colour and a fitted plain noise.

    python benchmarks/fidelity.py [--photos DIR | --bundled] [--quality draft] [--attempts N] [--seeds 1,2,3]
                                  [--out DIR] [--only a,b] [--columns N] [--quick]

Each reference is fitted by the built-in actor, and once more with plain layered noise: three octave layers in the same
colours, the same relief and gloss, all numbers searched with the same budget, but no branch added. Ours, noise and the
mean colour are scored alike, on their beauty picture alone: `reward` by the committed evaluator, `gap` by gap closed
under ST-LPIPS VGG statistics, which nothing in the product sees. What is summarised of a reference is the median over
the seeds. References: photographs of --photos (or MATERIAL_AGENT_PHOTOS; `regular` from the manifest.json beside the
folder) and scikit-image's three; with --bundled the bundled ones, whose true structure is known.
The contact sheet (reference above, ours below, noise last) goes to OUT/sheet.png. What is in OUT already is not redone.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import psutil
import torch

# Python puts this folder first, where renderer.py and evaluator.py would hide the packages that they measure.
sys.path.append(sys.path.pop(0))

from _report import environment
from _sheet import read_picture, sheet
from judges import StLpipsVggJudge, gap_closed

from evaluators import Candidate, Evaluator, Target
from evaluators.functional.color import srgb_to_linear
from evaluators.functional.texture import TextureStatistics, statistics_distance
from material_agent.actors.builtin import BuiltinActor, BuiltinReflector, Options
from material_agent.actors.builtin.structure import structures
from material_agent.config import RunConfig
from material_agent.fit import run_fit
from references import load_reference
from references.bundled import bundled
from renderer import BlenderPool, RenderCache

FloatArray = npt.NDArray[np.float32]
SKIMAGE = ("skimage:brick", "skimage:grass", "skimage:gravel")
QUICK = "skimage:gravel"
TOLERANCE = 0.01
"""A reward or gap this much lower counts as equal: a re-seeded render of one graph moves by about as much."""
LONGEST_S = 180.0
"""The longest a fit may take on two free cores; processor seconds stand beside it, for a machine that is not free."""
CPU_FILE = "cpu.json"


@dataclass(frozen=True)
class Row:
    """One fit, or the median of several.

    Rewards and gaps closed of ours, noise and flat; seconds of clock and processor; the physical term's value; the
    judge's distance of the reference to itself; whether the evaluator accepted ours (1 or 0), and whether the chosen
    structure is one for the true kind (NaN where that is unknown).
    """

    name: str
    regular: bool
    structure: str
    seconds: float
    cpu_seconds: float
    reward: float
    reward_noise: float
    reward_flat: float
    gap: float
    gap_noise: float
    gap_flat: float
    physical: float
    own: float
    accepted: float
    structure_right: float


class CachedJudge(StLpipsVggJudge):
    """The judge with its statistics kept: every reference serves as another's other."""

    def __init__(self) -> None:
        self._kept: dict[int, TextureStatistics] = {}

    def statistics(self, image: npt.ArrayLike) -> TextureStatistics:
        key = hash(np.ascontiguousarray(image).tobytes())
        if key not in self._kept:
            self._kept[key] = super().statistics(image)
        return self._kept[key]

    def distance(self, a: npt.ArrayLike, b: npt.ArrayLike) -> float:
        return float(statistics_distance(self.statistics(a), self.statistics(b))[0])


def bundled_references() -> dict[str, tuple[str, bool]]:
    """Every bundled reference, as `find_references` lists photographs."""
    return {entry.id: (entry.id, entry.lattice is not None) for entry in bundled()}


def true_structure(name: str) -> str:
    """The kind of graph behind a bundled reference; "" for a photograph."""
    return next((entry.structure for entry in bundled() if entry.id == name), "")


def find_references(photos: Path | None) -> dict[str, tuple[str, bool]]:
    """Name → what `load_reference` takes, and whether the material is regular."""
    found = {name: (name, False) for name in SKIMAGE}
    if photos is None:
        return found
    manifest = photos.parent / "manifest.json"
    regular: set[str] = set()
    if manifest.exists():
        data = json.loads(manifest.read_text("utf-8"))
        entries = data if isinstance(data, list) else next(v for v in data.values() if isinstance(v, list))
        regular = {Path(entry["file"]).stem for entry in entries if entry.get("regular")}
    files = [path for path in sorted(photos.iterdir()) if path.suffix.lower() in {".jpg", ".jpeg", ".png"}]
    return {path.stem: (str(path), path.stem in regular) for path in files} | found


def processor_seconds() -> float:
    """Processor time of this process, its Blender workers and the workers that have ended."""
    here = psutil.Process()
    times = [process.cpu_times() for process in (here, *here.children(recursive=True))]
    return float(sum(t.user + t.system + t.children_user + t.children_system for t in times))


def fitted(
    source: str, folder: Path, seed: int, pool: BlenderPool, options: argparse.Namespace, only: tuple[str, ...]
) -> Any:
    """The run's result as plain data; a finished run in `folder` is taken as it is."""
    record = folder / "result.json"
    if not record.exists():
        config = RunConfig(
            reference=source, out=folder, seed=seed, quality=options.quality, attempts=options.attempts,
            limits={"candidates": 60} if options.quick else {},
        )  # fmt: skip
        before = processor_seconds()
        run_fit(
            config,
            actor_factory=lambda setup: BuiltinActor(setup.seed, Options(structures=only, branches=not only)),
            reflector=None if only else BuiltinReflector(),
            renderer=pool,
            overwrite=True,
        )
        (folder / CPU_FILE).write_text(json.dumps(processor_seconds() - before), "utf-8")
    result = json.loads(record.read_text("utf-8"))
    spent = folder / CPU_FILE
    return result | {"cpu_seconds": json.loads(spent.read_text("utf-8")) if spent.exists() else float("nan")}


def picture(folder: Path) -> FloatArray:
    """The final beauty of a run, sRGB in [0, 1]."""
    return read_picture(folder / "maps" / "beauty.png")


def measure_row(name: str, regular: bool, pictures: Mapping[str, FloatArray], drawn: Sequence[FloatArray],
                record: Mapping[str, Any], judge: CachedJudge) -> Row:  # fmt: skip
    reference = pictures[name]
    evaluator = Evaluator(Target.from_image(reference))
    others = [image for other, image in pictures.items() if other != name]
    rewards = [
        evaluator.evaluate(Candidate({"beauty": srgb_to_linear(image).astype(np.float32)})).reward for image in drawn
    ]
    gaps = [gap_closed(image, reference, others, judge) for image in drawn]
    terms = record["final"]["evaluation"]["terms"]
    best = max(record["attempts"], key=lambda one: one["reward"] or -1)
    true = true_structure(name)
    right = float(true in structures()[best["structure"]].evidence) if true else float("nan")
    return Row(
        name, regular, best["structure"], record["seconds"], record["cpu_seconds"], *rewards,
        *(gap.value for gap in gaps), terms["physical"]["value"], gaps[0].own, float(record["success"]), right,
    )  # fmt: skip


def median_row(rows: Sequence[Row]) -> Row:
    """Each number's median over the seeds; the structure of most of them."""
    numbers = {
        name: statistics.median(getattr(row, name) for row in rows)
        for name, value in asdict(rows[0]).items()
        if isinstance(value, float)
    }
    return replace(rows[0], structure=statistics.mode(row.structure for row in rows), **numbers)


def line(row: Row, label: str) -> str:
    """One row of the printed table."""
    rewards = f"{row.reward:.3f} noise {row.reward_noise:.3f} flat {row.reward_flat:.3f}"
    gaps = f"{row.gap:.2f} noise {row.gap_noise:.2f} flat {row.gap_flat:.2f}"
    spent = f"{row.seconds:.0f} s, {row.cpu_seconds:.0f} s of processor"
    return f"{label:<18}{row.structure:<16} reward {rewards}   gap {gaps}   {spent}"


def summarize(rows: Sequence[Row]) -> dict[str, float]:
    """Medians, and the shares of references on which ours wins or holds its own."""
    regular, rest = [r for r in rows if r.regular], [r for r in rows if not r.regular]

    def share(group: Sequence[Row], test: Any) -> float:
        return float(np.mean([test(row) for row in group])) if group else float("nan")

    return {
        "reward_median": statistics.median(r.reward for r in rows),
        "gap_median": statistics.median(r.gap for r in rows),
        "gap_noise_median": statistics.median(r.gap_noise for r in rows),
        "gap_flat_median": statistics.median(r.gap_flat for r in rows),
        "beats_flat_reward": share(rows, lambda r: r.reward > r.reward_flat),
        "beats_flat_gap": share(rows, lambda r: r.gap > r.gap_flat),
        "regular_beats_noise_reward": share(regular, lambda r: r.reward > r.reward_noise),
        "regular_beats_noise_gap": share(regular, lambda r: r.gap > r.gap_noise),
        "rest_not_worse_reward": share(rest, lambda r: r.reward >= r.reward_noise - TOLERANCE),
        "rest_not_worse_gap": share(rest, lambda r: r.gap >= r.gap_noise - TOLERANCE),
        "accepted": share(rows, lambda r: r.accepted),
        "structure_right": share([r for r in rows if not np.isnan(r.structure_right)], lambda r: r.structure_right),
        "physical_passes": share(rows, lambda r: r.physical >= 0.8),
        "seconds_median": statistics.median(r.seconds for r in rows),
        "seconds_longest": max(r.seconds for r in rows),
        "cpu_seconds_longest": max(r.cpu_seconds for r in rows),
    }


def accepted(figures: Mapping[str, float]) -> bool:
    """Whether every share is 1 (absent groups aside) and no run takes more than three minutes."""
    shares = [v for k, v in figures.items() if k.startswith(("beats", "regular", "rest")) and not np.isnan(v)]
    return all(value == 1.0 for value in shares) and figures["seconds_longest"] <= LONGEST_S


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=Path, default=os.environ.get("MATERIAL_AGENT_PHOTOS"))
    parser.add_argument("--bundled", action="store_true", help="the bundled references instead of photographs")
    parser.add_argument("--columns", type=int, default=9, help="pictures in a line of the contact sheet")
    parser.add_argument("--quality", choices=("draft", "normal", "high"), default="draft")
    parser.add_argument("--attempts", type=int, default=1)
    parser.add_argument("--seeds", type=lambda text: [int(part) for part in text.split(",")], default=[0])
    parser.add_argument("--out", type=Path, default=Path("fidelity-runs"))
    parser.add_argument("--only", default="", help="names of references, separated by commas")
    parser.add_argument("--quick", action="store_true", help="one reference on a tiny budget, for a check within 50 s")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    if options.photos is None and not options.bundled:
        print("No photographs given (--photos DIR): only scikit-image's three textures are used.")
    photos = Path(options.photos) if options.photos else None
    sources = bundled_references() if options.bundled else find_references(photos)
    pictures = {name: load_reference(source).image_srgb for name, (source, _) in sources.items()}
    chosen = [QUICK] if options.quick else [n for n in sources if not options.only or n in options.only.split(",")]
    judge, rows, shown = CachedJudge(), [], []
    begun = time.monotonic()
    with BlenderPool(cache=RenderCache()) as pool:
        for name in chosen:
            source, regular = sources[name]
            flat = np.full_like(pictures[name], 1.0) * pictures[name].mean(axis=(0, 1), keepdims=True)
            by_seed: list[tuple[Row, list[FloatArray]]] = []
            for seed in options.seeds:
                base = options.out / f"{options.quality}-{options.attempts}-{seed}{'-quick' if options.quick else ''}"
                ours, noise = (base / name.replace(":", "_") / kind for kind in ("ours", "noise"))
                record = fitted(source, ours, seed, pool, options, ())
                fitted(source, noise, seed, pool, options, ("layered_noise",))
                drawn = [picture(ours), picture(noise), flat]
                by_seed.append((measure_row(name, regular, pictures, drawn, record, judge), drawn))
                print(line(by_seed[-1][0], f"{name} {seed}"), flush=True)
            by_seed.sort(key=lambda item: item[0].reward)
            rows.append(median_row([row for row, _ in by_seed]))
            if len(by_seed) > 1:
                print(line(rows[-1], f"{name}: median"), flush=True)
            shown.append((name, [pictures[name], *by_seed[len(by_seed) // 2][1][:2]]))
            sheet(shown, options.out / "sheet.png", options.columns)
    figures = summarize(rows)
    for key, value in figures.items():
        print(f"{key:<28}{value:8.3f}")
    conditions = {
        "quick": options.quick,
        "quality": options.quality,
        "attempts": options.attempts,
        "seeds": options.seeds,
        "seconds": round(time.monotonic() - begun),
        "sheet": str(options.out / "sheet.png"),
    }
    result = {
        "benchmark": "fidelity",
        "figures": {key: round(value, 4) for key, value in figures.items() if not np.isnan(value)},
        "ok": accepted(figures),
        "context": environment(("bpy", "numpy", "torch")) | conditions,
        "references": [asdict(row) for row in rows],
    }
    print(json.dumps(result))
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
