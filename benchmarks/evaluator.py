"""How well the evaluator tells materials apart, notices damage, and what a candidate costs.

    python benchmarks/evaluator.py [--photos DIR] [--quick]

Each picture gives two disjoint crops, its first and last quarter, compared at 128 px: the first is the reference, the
last the candidate. `auc` and `p_at_1` are of the combined score (structure and appearance by their weights) for same
against different; `noticed_*` is the share of pictures whose damaged candidate scores below the intact one. Pictures:
scikit-image's brick, grass and gravel, and those of --photos (or MATERIAL_AGENT_PHOTOS). The committed calibration was
fitted on quarters of the same pictures, so these figures are not held out.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from scipy import ndimage

# Python puts this folder first, where renderer.py would hide the package of its name.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _report import finish
from judges import load_pictures, ranking

from evaluators import Candidate, Evaluator, Target
from evaluators.functional.color import srgb_to_linear
from evaluators.pictures import resize_srgb

FloatArray = npt.NDArray[np.float32]
SIDE = 128


def _about_centre(image: FloatArray, matrix: npt.NDArray[np.float64], side: int) -> FloatArray:
    """The `side`² centre of an image after a linear map of its coordinates."""
    centre = (np.array(image.shape[:2]) - 1) / 2
    offset = centre - matrix @ np.full(2, (side - 1) / 2)
    channels = [
        ndimage.affine_transform(image[..., c], matrix, offset, (side, side), order=1, mode="mirror") for c in range(3)
    ]
    return np.clip(np.stack(channels, axis=-1), 0, 1).astype(np.float32)


def scaled(picture: FloatArray, rng: np.random.Generator) -> FloatArray:
    side = picture.shape[0] // 2
    return _about_centre(picture[-side:, -side:], np.eye(2) / 1.5, side)


def rotated(picture: FloatArray, rng: np.random.Generator) -> FloatArray:
    side = picture.shape[0] // 2
    c, s = np.cos(np.radians(30)), np.sin(np.radians(30))
    return _about_centre(picture[-side:, -side:], np.array([[c, -s], [s, c]]), side)


def colour_shifted(picture: FloatArray, rng: np.random.Generator) -> FloatArray:
    return np.clip(last_quarter(picture) * np.array([1.15, 1.0, 0.85], dtype=np.float32), 0, 1)


def washed_out(picture: FloatArray, rng: np.random.Generator) -> FloatArray:
    crop = last_quarter(picture)
    return crop.mean(axis=(0, 1)) + (crop - crop.mean(axis=(0, 1))) / 2


def phase_scrambled(picture: FloatArray, rng: np.random.Generator) -> FloatArray:
    """The same random phase added to all channels keeps the spectrum and the correlation of the colours."""
    crop = last_quarter(picture)
    noise = np.angle(np.fft.fft2(rng.standard_normal(crop.shape[:2])))[..., None]
    spectrum = np.fft.fft2(crop, axes=(0, 1))
    mean = crop.mean(axis=(0, 1))
    turned = np.fft.ifft2(np.abs(spectrum) * np.exp(1j * (np.angle(spectrum) + noise)), axes=(0, 1)).real
    return np.clip(turned - turned.mean(axis=(0, 1)) + mean, 0, 1).astype(np.float32)


def blocks_shuffled(picture: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Eight by eight blocks in random order."""
    crop = last_quarter(picture)
    block = crop.shape[0] // 8
    cut = crop[: 8 * block, : 8 * block].reshape(8, block, 8, block, 3).swapaxes(1, 2).reshape(64, block, block, 3)
    mixed = cut[rng.permutation(64)].reshape(8, 8, block, block, 3).swapaxes(1, 2)
    return mixed.reshape(8 * block, 8 * block, 3)


def pixels_shuffled(picture: FloatArray, rng: np.random.Generator) -> FloatArray:
    crop = last_quarter(picture)
    return rng.permutation(crop.reshape(-1, 3)).reshape(crop.shape)


def flat(picture: FloatArray, rng: np.random.Generator) -> FloatArray:
    crop = last_quarter(picture)
    return np.broadcast_to(crop.mean(axis=(0, 1)), crop.shape)


def blurred(picture: FloatArray, rng: np.random.Generator) -> FloatArray:
    crop = last_quarter(picture)
    return ndimage.gaussian_filter(crop, (crop.shape[0] / 64, crop.shape[0] / 64, 0), mode="reflect")


DAMAGE: dict[str, Callable[[FloatArray, np.random.Generator], FloatArray]] = {
    "scale_1_5": scaled,
    "rotation_30": rotated,
    "colour_shift": colour_shifted,
    "contrast_half": washed_out,
    "phase_scramble": phase_scrambled,
    "block_shuffle": blocks_shuffled,
    "blur": blurred,
    "pixel_shuffle": pixels_shuffled,
    "flat": flat,
}


BARS = {
    "auc": 0.995,
    "p_at_1": 0.97,
    **{f"noticed_{damage}": 0.80 if damage == "rotation_30" else 0.90 for damage in DAMAGE},
}
ENOUGH_PICTURES = 12
"""With fewer, a single picture moves every share by more than the bars' margin (grass and gravel have no direction)."""
FEW_PICTURES_BARS = ("p_at_1", "noticed_contrast_half", "noticed_blur", "noticed_pixel_shuffle", "noticed_flat")


def first_quarter(picture: FloatArray) -> FloatArray:
    half = picture.shape[0] // 2
    return picture[:half, :half]


def last_quarter(picture: FloatArray) -> FloatArray:
    half = picture.shape[0] // 2
    return picture[-half:, -half:]


def as_candidate(image: FloatArray, side: int = SIDE) -> Candidate:
    return Candidate(channels={"beauty": srgb_to_linear(resize_srgb(image, side))})


def judged(evaluator: Evaluator, image: FloatArray) -> dict[str, float]:
    """Values of the two terms and their combination."""
    result = evaluator.evaluate(as_candidate(image))
    weights = {name: result.weights[name] for name in ("structure", "appearance")}
    values = {name: result.terms[name].value for name in weights}
    combined = sum(weights[n] * values[n] for n in weights) / sum(weights.values())
    return {**values, "combined": combined, "success": float(result.success)}


def measure_cost(picture: FloatArray, repeats: int) -> dict[str, float]:
    """Milliseconds of processor time on one thread, median and interquartile range."""
    evaluator = Evaluator(Target.from_image(picture))
    figures: dict[str, float] = {}
    for side in (128, 256):
        candidate = as_candidate(picture, side)
        evaluator.evaluate(candidate)
        figures |= _timed(f"evaluate_{side}_ms", lambda c=candidate: evaluator.evaluate(c), repeats, 1)
    batch = np.repeat(resize_srgb(picture, SIDE)[None], 16, axis=0)
    evaluator.screen(batch)
    evaluator.appearance_batch(batch)
    figures |= _timed("screen_128_ms", lambda: evaluator.screen(batch), repeats, 16)
    figures |= _timed("appearance_batch_128_ms", lambda: evaluator.appearance_batch(batch), repeats, 16)
    return figures


def _timed(name: str, call: Callable[[], object], repeats: int, count: int) -> dict[str, float]:
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        spent.append(1000 * (time.process_time() - start) / count)
    low, middle, high = np.quantile(spent, [0.25, 0.5, 0.75])
    return {name: float(middle), name.replace("_ms", "_iqr_ms"): float(high - low)}


def run(pictures: Mapping[str, FloatArray], *, quick: bool) -> dict[str, float]:
    names = list(pictures)
    evaluators = {name: Evaluator(Target.from_image(first_quarter(pictures[name]))) for name in names}
    tables: dict[str, list[list[float]]] = {"structure": [], "appearance": [], "combined": [], "success": []}
    for reference in names:
        row = [judged(evaluators[reference], last_quarter(pictures[other])) for other in names]
        for key, rows in tables.items():
            rows.append([cell[key] for cell in row])
    matrices = {key: np.array(rows) for key, rows in tables.items()}
    figures: dict[str, float] = {"pictures": len(names), **ranking(matrices["combined"])}
    for key in ("structure", "appearance"):
        figures |= {f"{key}_{k}": v for k, v in ranking(matrices[key]).items()}
    off = ~np.eye(len(names), dtype=bool)
    figures["success_same"] = float(np.diag(matrices["success"]).mean())
    figures["success_other"] = float(matrices["success"][off].mean())
    figures["score_same_median"] = float(np.median(np.diag(matrices["combined"])))
    figures["score_other_median"] = float(np.median(matrices["combined"][off]))
    for index, (damage, apply) in enumerate(DAMAGE.items()):
        worse, passed, scores = [], [], []
        for i, name in enumerate(names):
            got = judged(evaluators[name], apply(pictures[name], np.random.default_rng([index, i])))
            worse.append(got["combined"] < matrices["combined"][i, i])
            passed.append(got["success"])
            scores.append(got["combined"])
        figures |= {
            f"noticed_{damage}": float(np.mean(worse)),
            f"score_{damage}_median": float(np.median(scores)),
            f"success_{damage}": float(np.mean(passed)),
        }
    return figures | measure_cost(next(iter(pictures.values())), 3 if quick else 11)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=Path, default=os.environ.get("MATERIAL_AGENT_PHOTOS"))
    parser.add_argument("--quick", action="store_true", help="six pictures, for a check within 50 s")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    if options.photos is None:
        print("No photographs given (--photos DIR): only scikit-image's three textures are used.")
    pictures = load_pictures(Path(options.photos) if options.photos else None)
    if options.quick:
        pictures = dict(list(pictures.items())[:6])
    figures = run(pictures, quick=options.quick)
    details = {"quick": options.quick, "pictures": list(pictures), "threads": 1}
    bars = BARS if len(pictures) >= ENOUGH_PICTURES else {name: BARS[name] for name in FEW_PICTURES_BARS}
    return finish("evaluator", figures, bars, details=details, packages=("numpy", "scipy", "torch"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
