"""Is the built-in actor better than plainer searches with the same budget?

    python benchmarks/baselines.py [--photos DIR | --bundled] [--quality draft] [--seed 1] [--out DIR] [--only a,b]
                                   [--quick]

Each reference is fitted by the built-in actor and by three other searches (`_baselines.py`): the best of 256 draws from
the priors of all structures, CMA-ES on one template of layered noise, and a random walk of 200 moves of up to ±20 %.
All have the evaluations of one attempt; a baseline has eight renders by Blender to choose from. What Blender rendered
is scored by the committed evaluator (`reward`) and by ST-LPIPS VGG statistics, which nothing in the product sees
(`gap`). `better_*` is the share of references on which ours is above a baseline, `bar` the least of them. References
and the sheet (reference, ours, then the baselines) are as in fidelity.py: what is in OUT already is not redone.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from functools import partial
from pathlib import Path

import numpy as np
import torch

# Python puts this folder first, where renderer.py and evaluator.py would hide the packages that they measure.
sys.path.append(sys.path.pop(0))

from _baselines import SEARCHES, Baseline
from _fits import KeptEfficientNet, KeptVgg, Scale, bundled_references, find_references, fitted, picture
from _report import finish
from _sheet import sheet

from material_agent.actors.base import Actor, AttemptSetup
from material_agent.actors.builtin import BuiltinActor
from material_agent.config import RunConfig
from references import load_reference
from renderer import BlenderPool, RenderCache

BARS = {"bar": 0.9}
QUICK = "skimage:gravel"


def actor(arm: str, setup: AttemptSetup) -> Actor:
    """The built-in actor ("ours") or a baseline."""
    return BuiltinActor(setup.seed) if arm == "ours" else Baseline(arm, setup.seed)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=Path, default=os.environ.get("MATERIAL_AGENT_PHOTOS"))
    parser.add_argument("--bundled", action="store_true", help="the bundled references instead of photographs")
    parser.add_argument("--quality", choices=("draft", "normal", "high"), default="draft")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("baseline-runs"))
    parser.add_argument("--only", default="", help="names of references, separated by commas")
    parser.add_argument("--columns", type=int, default=9, help="pictures in a line of the sheet")
    parser.add_argument("--record", type=Path, help="a file for the figures, as JSON")
    parser.add_argument("--quick", action="store_true", help="one reference on a tiny budget")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    photos = Path(options.photos) if options.photos else None
    sources = bundled_references() if options.bundled else find_references(photos)
    pictures = {name: load_reference(item.source).image_srgb for name, item in sources.items()}
    chosen = [QUICK] if options.quick else [n for n in sources if not options.only or n in options.only.split(",")]
    arms = ("ours", *SEARCHES)
    judges, shown = (KeptVgg(), KeptEfficientNet()), []
    rewards: dict[str, list[float]] = {arm: [] for arm in arms}
    gaps: dict[str, list[float]] = {arm: [] for arm in arms}
    with BlenderPool(cache=RenderCache()) as pool:
        for name in chosen:
            scale, drawn = Scale(name, pictures, judges), []
            for arm in arms:
                folder = (
                    options.out
                    / f"{options.quality}-{options.seed}{'-quick' if options.quick else ''}"
                    / name.replace(":", "_")
                    / arm
                )
                config = RunConfig(
                    reference=sources[name].source, out=folder, seed=options.seed, quality=options.quality, attempts=1,
                    limits={"candidates": 60} if options.quick else {},
                )  # fmt: skip
                fitted(config, partial(actor, arm), pool)
                drawn.append(picture(folder))
                rewards[arm].append(scale.reward(drawn[-1]))
                gaps[arm].append(scale.gaps(drawn[-1])[0])
            said = ", ".join(f"{arm} {rewards[arm][-1]:.3f}/{gaps[arm][-1]:.2f}" for arm in arms)
            print(f"{name:<18} reward/gap {said}", flush=True)
            shown.append((name, [pictures[name], *drawn]))
            sheet(shown, options.out / "sheet.png", options.columns)
    figures: dict[str, float] = {"references": len(chosen)}
    for arm in arms:
        figures |= {
            f"reward_{arm}": statistics.median(rewards[arm]),
            f"gap_{arm}": statistics.median(gaps[arm]),
        }
    for kind, found in (("reward", rewards), ("gap", gaps)):
        for arm in SEARCHES:
            figures[f"better_{kind}_{arm}"] = float(np.mean(np.array(found["ours"]) > np.array(found[arm])))
    figures["bar"] = min(value for key, value in figures.items() if key.startswith("better"))
    if options.record is not None:
        record = {"quality": options.quality, "seed": options.seed, "names": chosen, "figures": figures}
        options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    details = {"quick": options.quick, "quality": options.quality, "seed": options.seed, "names": chosen}
    return finish("baselines", figures, BARS, details=details, packages=("bpy", "numpy", "torch"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
