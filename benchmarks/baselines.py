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
import statistics
import sys
from functools import partial

import numpy as np
import torch

# Python puts this folder first, where renderer.py and evaluator.py would hide the packages that they measure.
sys.path.append(sys.path.pop(0))

from _baselines import SEARCHES, Baseline
from _fits import KeptEfficientNet, KeptVgg, Scale, chosen_references, fitted, picture, reference_options, run_config
from _report import finish
from _sheet import sheet

from material_agent.actors.base import Actor, AttemptSetup
from material_agent.actors.builtin import BuiltinActor
from references import load_reference
from renderer import BlenderPool, RenderCache

BARS = {"bar": 0.9}


def actor(arm: str, setup: AttemptSetup) -> Actor:
    """The built-in actor ("ours") or a baseline."""
    return BuiltinActor(setup.seed) if arm == "ours" else Baseline(arm, setup.seed)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reference_options(parser, "baseline-runs")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    sources, chosen = chosen_references(options)
    pictures = {name: load_reference(item.source).image_srgb for name, item in sources.items()}
    arms = ("ours", *SEARCHES)
    judges, shown = (KeptVgg(), KeptEfficientNet()), []
    rewards: dict[str, list[float]] = {arm: [] for arm in arms}
    gaps: dict[str, list[float]] = {arm: [] for arm in arms}
    with BlenderPool(cache=RenderCache()) as pool:
        for name in chosen:
            scale, drawn = Scale(name, pictures, judges), []
            for arm in arms:
                base = options.out / f"{options.quality}-{options.seed}"
                config = run_config(name, sources[name].source, base, arm, options.seed, 1, options)
                fitted(config, partial(actor, arm), pool)
                drawn.append(picture(config.out))
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
