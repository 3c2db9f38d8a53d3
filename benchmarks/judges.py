"""Independent judges of likeness: deep texture statistics that no part of the product searches or scores by.

`StLpipsVggJudge` uses the VGG-16 trunk of ST-LPIPS (Ghildyal and Liu, ECCV 2022), whose weights ship in the wheel
stlpips-pytorch; the trunk is laid out here, so that the wheel's undeclared imports are not needed. `EfficientNetJudge`
is the network that the evaluator uses as well, for comparison. Both are means and deviations of features, the texture
term of DISTS. Pictures are sRGB (H, W, 3), float in [0, 1].

    python benchmarks/judges.py [--photos DIR] [--quick]

measures how well each judge tells the first and last quarters of a picture, at 128 px, from those of other pictures.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from skimage import data as skimage_data
from torch.nn import functional as nn

# When run, Python puts this folder first, where renderer.py would hide the package of its name.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evaluators.errors import EvaluatorError, WeightsUnavailableError
from evaluators.functional.texture import BlockStatistics, TextureStatistics, deep_texture, statistics_distance
from evaluators.pictures import as_srgb, centre_square, resize_srgb

FloatArray = npt.NDArray[np.float32]
_SLICES = ((0, 2), (6, 8), (12, 14, 16), (20, 22, 24), (28, 30, 32))
"""Numbers of the convolutions in the wheel's five slices; each slice but the first begins with pool and blur."""
_LARGEST_CROP = 256
_MULTIPLE = 32


class Judge(Protocol):
    """A distance between pictures of equal size that does not move when the texture is shifted."""

    name: str

    def distance(self, a: npt.ArrayLike, b: npt.ArrayLike) -> float:
        """Distance ≥ 0 between two sRGB pictures (S, S, 3) of equal side, 0 for identical ones."""
        ...


@lru_cache(maxsize=1)
def _vgg_weights() -> dict[str, Any]:
    spec = importlib.util.find_spec("stlpips_pytorch")
    what, fix = "The ST-LPIPS judge", "pip install stlpips-pytorch"
    if spec is None or spec.origin is None:
        raise WeightsUnavailableError(what, "stlpips_pytorch is not installed", fix)
    path = Path(spec.origin).parent / "weights" / "vST0.0" / "vgg_shift_tolerant.pth"
    if not path.is_file():
        raise WeightsUnavailableError(what, f"there is no file {path}", fix)
    return torch.load(path, map_location="cpu", weights_only=True)


class StLpipsVggJudge:
    """Mean and deviation of the ST-LPIPS VGG trunk's five slices."""

    name = "ST-LPIPS VGG mean+std"

    def features(self, images: Any) -> list[Any]:
        """Features of the five slices for images (B, 3, H, W) in [0, 1]."""
        w = _vgg_weights()
        x = (2 * images - 1 - w["scaling_layer.shift"]) / w["scaling_layer.scale"]
        kept = []
        for index, convolutions in enumerate(_SLICES, start=1):
            if index > 1:
                blur = w[f"net.slice{index}.{convolutions[0] - 1}.filt"]
                x = nn.max_pool2d(x, kernel_size=2, stride=1)
                x = nn.conv2d(nn.pad(x, (2, 2, 2, 2), mode="reflect"), blur, stride=2, groups=x.shape[1])
            for number in convolutions:
                key = f"net.slice{index}.{number}"
                x = nn.relu(nn.conv2d(x, w[f"{key}.weight"], w[f"{key}.bias"], padding=1))
            kept.append(x)
        return kept

    def statistics(self, image: npt.ArrayLike) -> TextureStatistics:
        """Statistics of one picture."""
        with torch.inference_mode():
            batch = torch.from_numpy(np.ascontiguousarray(as_srgb(image, "a judged picture").transpose(2, 0, 1)))[None]
            return tuple(
                BlockStatistics(f.mean(dim=(2, 3)).numpy(), f.std(dim=(2, 3), correction=0).numpy())
                for f in self.features(batch)
            )

    def distance(self, a: npt.ArrayLike, b: npt.ArrayLike) -> float:
        return float(statistics_distance(self.statistics(a), self.statistics(b))[0])


class EfficientNetJudge:
    """Mean and deviation of EfficientNet-Lite0's features at one scale."""

    name = "EfficientNet-Lite0 mean+std"

    def statistics(self, image: npt.ArrayLike) -> TextureStatistics:
        """Statistics of one picture; its side is a multiple of 32."""
        return deep_texture().statistics(as_srgb(image, "a judged picture")[None])

    def distance(self, a: npt.ArrayLike, b: npt.ArrayLike) -> float:
        return float(statistics_distance(self.statistics(a), self.statistics(b))[0])


@dataclass(frozen=True)
class GapClosed:
    """`value` = 1 − (render − own) / (other − own); all distances between crops of `crop` px.

    `reliable` is false where the reference's two crops differ by more than .1, which leaves the figure little meaning.
    """

    value: float
    render: float
    own: float
    other: float
    crop: int

    @property
    def reliable(self) -> bool:
        return self.own <= 0.1


def gap_closed(
    render: npt.ArrayLike, reference: npt.ArrayLike, others: Sequence[npt.ArrayLike], judge: Judge
) -> GapClosed:
    """How much of the way from an unrelated material to the reference's own second crop a render has gone.

    The crop's side is min(256, half the reference's side), down to a multiple of 32; crops are taken at the corners.
    The render shows the same extent as the reference and is brought to its side. A distance is the mean between the
    reference's crops and those in the other corners: of the reference itself, of the render, of each of the others.
    A single pair of crops moves the figure by .1 and more with what happens to lie in a corner.
    """
    base = centre_square(as_srgb(reference, "a reference picture"))
    crop = min(_LARGEST_CROP, base.shape[0] // 2) // _MULTIPLE * _MULTIPLE
    if crop < _MULTIPLE:
        raise EvaluatorError(f"a reference of at least {2 * _MULTIPLE} px a side", f"{base.shape[0]} px")
    if not others:
        raise EvaluatorError("at least one other material", "none")
    anchors = _corners(base, crop)
    drawn = _corners(resize_srgb(centre_square(as_srgb(render, "a render")), base.shape[0]), crop)
    own, rendered = (_across(four, anchors, judge) for four in (anchors, drawn))
    strangers = [_corners(_at_least(picture, crop), crop) for picture in others]
    other = float(np.median([_across(four, anchors, judge) for four in strangers]))
    value = 1 - (rendered - own) / (other - own) if other > own else float("nan")
    return GapClosed(value, rendered, own, other, crop)


def _corners(square: FloatArray, crop: int) -> tuple[FloatArray, ...]:
    sides = (slice(None, crop), slice(-crop, None))
    return tuple(square[rows, columns] for rows in sides for columns in sides)


def _across(four: Sequence[FloatArray], anchors: Sequence[FloatArray], judge: Judge) -> float:
    return float(np.mean([judge.distance(four[i], anchors[j]) for i, j in itertools.permutations(range(4), 2)]))


def _at_least(picture: npt.ArrayLike, crop: int) -> FloatArray:
    square = centre_square(as_srgb(picture, "another material's picture"))
    return square if square.shape[0] >= crop else resize_srgb(square, crop)


def load_pictures(photos: Path | None) -> dict[str, FloatArray]:
    """Central squares in sRGB of scikit-image's three textures and of a folder's pictures."""
    names = ("brick", "grass", "gravel")
    pictures = {name: centre_square(as_srgb(getattr(skimage_data, name)(), name)) for name in names}
    for path in sorted(photos.iterdir()) if photos else ():
        if path.suffix.lower() in {".jpg", ".jpeg", ".png"}:
            with Image.open(path) as image:
                pictures[path.stem] = centre_square(as_srgb(np.asarray(image.convert("RGB")), path.name))
    return pictures


def ranking(closeness: npt.NDArray[np.floating[Any]]) -> dict[str, float]:
    """AUC and precision at 1 of a matrix (references, candidates) whose diagonal is the same material."""
    same, other = np.diag(closeness), closeness[~np.eye(len(closeness), dtype=bool)]
    wins = (same[:, None] > other).mean() + (same[:, None] == other).mean() / 2
    return {"auc": float(wins), "p_at_1": float((closeness.argmax(axis=1) == np.arange(len(closeness))).mean())}


def main(arguments: list[str]) -> int:
    from _report import finish  # noqa: PLC0415  (found only when this file is run)

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=Path, default=os.environ.get("MATERIAL_AGENT_PHOTOS"))
    parser.add_argument("--quick", action="store_true", help="six pictures")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    pictures = list(load_pictures(Path(options.photos) if options.photos else None).values())
    pictures = pictures[:6] if options.quick else pictures
    figures: dict[str, float] = {"pictures": len(pictures)}
    for key, judge in (("st_lpips", StLpipsVggJudge()), ("efficientnet", EfficientNetJudge())):
        halves = [p.shape[0] // 2 for p in pictures]
        first = [judge.statistics(resize_srgb(p[:h, :h], 128)) for p, h in zip(pictures, halves, strict=True)]
        last = [judge.statistics(resize_srgb(p[-h:, -h:], 128)) for p, h in zip(pictures, halves, strict=True)]
        table = np.array([[float(statistics_distance(b, a)[0]) for b in last] for a in first])
        figures |= {f"{key}_{name}": value for name, value in ranking(-table).items()}
        figures[f"{key}_same_median"] = float(np.median(np.diag(table)))
        figures[f"{key}_other_median"] = float(np.median(table[~np.eye(len(table), dtype=bool)]))
    bars = {"st_lpips_auc": 0.95, "efficientnet_auc": 0.95}
    return finish("judges", figures, bars, details={"quick": options.quick}, packages=("numpy", "torch"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
