"""Can the score be fooled? Pictures are optimised for it, pixel by pixel, from noise, and then looked at.

    python benchmarks/adversarial.py [--quick] [--size 128] [--steps 2000] [--output DIR] [REFERENCE …]

Every pixel of a picture is free, which no material graph allows: 2,000 Adam steps up the differentiable score
(`evaluators.differentiable`), with the network that the evaluator uses and its weight-free terms. The result is then
judged by the whole evaluator. A picture that is accepted must not be visibly wrong: a judge that had no part in the
score (ST-LPIPS with a VGG trunk) must find it nearer to the reference than to any other bundled material. `fooled` is
the share of references where it is not; `--output` writes a sheet for each, to be looked at.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image

# Python puts this folder first, where renderer.py would hide the package of its name.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _report import finish
from judges import Judge, StLpipsVggJudge

from evaluators import Candidate, Evaluator, Target
from evaluators.differentiable import SearchScore
from evaluators.functional.color import srgb_to_linear
from evaluators.functional.texture import deep_texture
from evaluators.pictures import resize_srgb
from references import load_reference
from references.bundled import bundled

FloatArray = npt.NDArray[np.float32]
REFERENCES = ("brick_wall", "pebbles", "skimage:grass")
RATE = 0.05
BARS = {"not_fooled": 1.0, "climbed": 0.05}


def climb(score: SearchScore, start: FloatArray, steps: int) -> tuple[FloatArray, list[float]]:
    """Follow the gradient from a picture (S, S, 3); the best one met, and the scores on the way."""
    logits = torch.from_numpy(np.log(start / (1 - start))[None]).requires_grad_()
    optimiser = torch.optim.Adam([logits], lr=RATE)
    best, picture, history = -1.0, start, []
    for step in range(steps):
        # A falling rate: the last quarter settles.
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1.0, 4 * (1 - step / steps))
        optimiser.zero_grad()
        image = torch.sigmoid(logits)
        value = score.score(image).sum()
        (-value).backward()  # type: ignore[no-untyped-call]
        history.append(float(value.detach()))
        if history[-1] > best:
            best, picture = history[-1], image.detach()[0].numpy().copy()
        optimiser.step()
    return picture, history


def attacked(
    name: str, size: int, steps: int, judge: Judge, others: dict[str, FloatArray], output: Path | None
) -> dict[str, float]:
    """Optimise against one reference and judge what comes out."""
    reference = load_reference(name).image_srgb
    evaluator = Evaluator(Target.from_image(resize_srgb(reference, size)))
    score = SearchScore(evaluator.target, evaluator.calibration, size, deep_texture())
    start = np.random.default_rng(0).uniform(0.02, 0.98, (size, size, 3)).astype(np.float32)
    picture, history = climb(score, start, steps)
    verdict = evaluator.evaluate(Candidate({"beauty": srgb_to_linear(picture)}))
    own = judge.distance(picture, resize_srgb(reference, size))
    strangers = {other: judge.distance(picture, image) for other, image in others.items() if other != name}
    nearest = min(strangers, key=lambda other: strangers[other])
    wrong = own >= strangers[nearest]
    print(
        f"{name}: score {history[0]:.3f} → {max(history):.3f}; structure {verdict.terms['structure'].value:.3f}, "
        f"appearance {verdict.terms['appearance'].value:.3f}, {'accepted' if verdict.success else 'not accepted'}; "
        f"ST-LPIPS {own:.3f} to the reference, {strangers[nearest]:.3f} to {nearest}"
    )
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        sheet = np.concatenate([resize_srgb(reference, size), start, picture], axis=1)
        Image.fromarray((255 * sheet + 0.5).astype(np.uint8)).save(output / f"{name.replace(':', '_')}_{size}.png")
    return {
        "accepted": float(verdict.success),
        "fooled": float(verdict.success and wrong),
        "climbed": max(history) - history[0],
        "structure": verdict.terms["structure"].value,
        "appearance": verdict.terms["appearance"].value,
    }


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("references", nargs="*", help="bundled names or pictures; by default three")
    parser.add_argument("--quick", action="store_true", help="one reference at 64 px, 150 steps")
    parser.add_argument("--size", type=int, default=128, choices=(64, 128, 256))
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--output", type=Path, help="a folder for sheets: reference, start, result")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    names = options.references or (REFERENCES[:1] if options.quick else REFERENCES)
    size, steps = (64, 150) if options.quick else (options.size, options.steps)
    others = {entry.id: resize_srgb(load_reference(entry.image).image_srgb, size) for entry in bundled()}
    judge = StLpipsVggJudge()
    found = [attacked(name, size, steps, judge, others, options.output) for name in names]
    figures = {key: float(np.mean([one[key] for one in found])) for key in found[0]}
    figures |= {"references": len(found), "steps": steps, "size": size, "not_fooled": 1 - figures["fooled"]}
    return finish(
        "adversarial",
        figures,
        BARS,
        details={"quick": options.quick, "names": list(names)},
        packages=("numpy", "torch"),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
