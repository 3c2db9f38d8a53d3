"""One target, and candidates judged against it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evaluators.calibration import Calibration, load_calibration
from evaluators.combine import combine
from evaluators.comparison import Comparison
from evaluators.components import value_of
from evaluators.errors import EvaluatorError, WeightsUnavailableError
from evaluators.functional.color import linear_to_srgb
from evaluators.functional.texture import DeepTexture, deep_texture, one_torch_thread, statistics_distance
from evaluators.measure import deep_statistics
from evaluators.pictures import as_rgb, centre_square, comparison_size, middle, resize_linear, resize_srgb
from evaluators.result import Candidate, Evaluation, TermResult
from evaluators.screening import DEEP_SIDE, Screen, TextureScreen
from evaluators.target import Target, measure_whole
from evaluators.term import Term
from evaluators.terms import Appearance, Budget, Compile, Physical, Structure
from evaluators.threads import one_thread

FloatArray = npt.NDArray[np.float32]
_PART = 4
"""So many pictures are screened together on one core."""


class Evaluator:
    """Judges candidates against one `target` with the given calibration (the committed one by default).

    `network`: "auto" uses the deep statistics, and falls back on weight-free ones with the reason in the result when
    they are unavailable; "off" never loads them. `patch_size_m`: side of the rendered patch, for heights. `varying`:
    channels ("height", "roughness") that the reference calls to vary, each with the reason in words.
    """

    def __init__(
        self,
        target: Target,
        weights: Calibration | None = None,
        *,
        network: str = "auto",
        patch_size_m: float = 1.0,
        varying: Mapping[str, str] | None = None,
    ) -> None:
        if network not in ("auto", "off"):
            raise EvaluatorError('network "auto" or "off"', repr(network))
        self.target = target
        self.calibration = weights or load_calibration()
        self._network_wanted = network == "auto"
        self._screens: dict[tuple[int, bool], Screen | TextureScreen] = {}
        self._warm = False
        self.terms: tuple[Term, ...] = (Structure(), Appearance(), Physical(patch_size_m, varying), Compile(), Budget())

    @cached_property
    def _network(self) -> tuple[DeepTexture | None, str]:
        if not self._network_wanted:
            return None, "switched off"
        try:
            return deep_texture(), ""
        except WeightsUnavailableError as error:
            return None, str(error)

    @property
    def network_problem(self) -> str:
        """Why the deep statistics are not used; empty when they are."""
        return self._network[1]

    @one_thread()
    def evaluate(self, candidate: Candidate) -> Evaluation:
        """Judge a candidate by all five terms.

        The beauty, scene-linear (H, W, 3), goes to sRGB by the Standard transform; its central square and the target's
        are compared at the largest of 64, 128 and 256 px that neither falls short of. A candidate without a finite
        beauty fails the compile term. Raises `EvaluatorError` for a beauty of a wrong shape or under 32 px a side.
        """
        comparison = self._compare(candidate)
        size = comparison.reference.size if comparison else min(self.calibration.sizes)
        thresholds = self.calibration.thresholds_at(size)
        without_network = thresholds.pop("appearance_without_network", None)
        if self.network_problem and without_network is not None:
            thresholds["appearance"] = without_network
        terms: dict[str, TermResult] = {term.name: term.score(candidate, comparison) for term in self.terms}
        self._warm = True
        return combine(terms, self.calibration.weights, thresholds)

    @one_thread()
    def evaluate_many(self, candidates: Sequence[Candidate]) -> list[Evaluation]:
        """Judge several candidates, each exactly as `evaluate` does, on all cores that this process may use."""
        # What is measured on the target must be there before threads ask for it.
        first = [self.evaluate(candidate) for candidate in candidates[: 0 if self._warm else 1]]
        rest = candidates[len(first) :]
        if not rest:
            return first
        held = nullcontext() if self.network_problem else one_torch_thread()
        with held, ThreadPoolExecutor(max_workers=min(_cores(), len(rest))) as pool:
            return [*first, *pool.map(self.evaluate, rest)]

    @one_thread()
    def compare(self, image_srgb: npt.ArrayLike) -> Comparison:
        """Measure one display-referred sRGB picture beside the target: components, distances, values."""
        return self._compare_square(centre_square(as_rgb(image_srgb, "a picture")), linear=False)

    @one_thread()
    def screen(self, images: Iterable[npt.ArrayLike], *, linear: bool = False, deep: bool = False) -> FloatArray:
        """Score B images (S, S, 3) cheaply, for search: (B,) in [0, 1].

        They are display-referred sRGB, or scene-linear as a render is: those are averaged before they are encoded.
        `deep` adds texture statistics to the weight-free ones, unless there is no network; then scores are near the
        judge's order at about five times the cost.
        """
        pictures = list(images)
        if not pictures:
            return np.zeros(0, dtype=np.float32)
        size = comparison_size(self.target.side, np.shape(pictures[0])[0])
        screen = self._screen(size, deep=deep)
        if isinstance(screen, Screen):
            # One after the other: what is large is short-lived, and stays in the processor's cache.
            return screen.score(np.stack([_shown(picture, size, linear=linear) for picture in pictures]))
        parts = [pictures[start : start + _PART] for start in range(0, len(pictures), _PART)]
        with one_torch_thread(), ThreadPoolExecutor(max_workers=min(_cores(), len(parts))) as pool:
            scores = pool.map(lambda part: _deep_scores(screen, part, size, linear=linear), parts)
            return np.concatenate(list(scores))

    def _screen(self, size: int, *, deep: bool) -> Screen | TextureScreen:
        network = self._network[0] if deep else None
        key = size, network is not None
        if key not in self._screens:
            self._screens[key] = (
                Screen(self.target, self.calibration.at(size), size)
                if network is None
                else TextureScreen(self.target, self.calibration, size, network)
            )
        return self._screens[key]

    @one_thread()
    def appearance_batch(self, images_srgb: npt.ArrayLike) -> FloatArray:
        """Values in [0, 1] of the deep statistics, averaged over scales, for sRGB images (B, S, S, 3): (B,).

        Raises `WeightsUnavailableError` when there is no network.
        """
        network = deep_texture()
        images = _batch(images_srgb)
        if not len(images):
            return np.zeros(0, dtype=np.float32)
        size = comparison_size(self.target.side, images.shape[1])
        reference, own = self.target.measurement(size, network), self.target.self_distances(size, network)
        normalisations = self.calibration.at(size).components
        total, weight = np.zeros(len(images)), 0.0
        for scale, statistics in deep_statistics(resize_srgb(images, size), network).items():
            rule = normalisations[f"texture_{scale}"]
            measured = statistics_distance(statistics, reference.deep[scale])
            floor = rule.floor(own[f"texture_{scale}"])
            total += rule.weight * np.array([value_of(float(d), floor, rule.ceiling) for d in measured])
            weight += rule.weight
        return (total / weight).astype(np.float32)

    def _compare(self, candidate: Candidate) -> Comparison | None:
        beauty = candidate.channels.get("beauty")
        if not candidate.facts.compile_ok or beauty is None or not np.isfinite(beauty).all():
            return None
        return self._compare_square(centre_square(as_rgb(beauty, "the beauty channel")), linear=True)

    def _compare_square(self, square: FloatArray, *, linear: bool) -> Comparison:
        network, problem = self._network
        size = comparison_size(self.target.side, square.shape[0])
        shown = _resized(square, min(square.shape[0], 2 * size), linear=linear)
        reference = self.target.measurement(size, network)
        return Comparison(
            candidate=measure_whole(shown, size, network, look_for_lattice=reference.lattice is not None),
            reference=reference,
            self_distances=self.target.self_distances(size, network),
            calibration=self.calibration.at(size),
            network_problem=problem,
        )


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _deep_scores(screen: TextureScreen, pictures: Sequence[npt.ArrayLike], size: int, *, linear: bool) -> FloatArray:
    shown = np.stack([_shown(picture, size, linear=linear) for picture in pictures])
    if np.shape(pictures[0])[0] < 2 * size:
        return screen.score(shown, None)
    return screen.score(shown, np.stack([_fine(picture, size, linear=linear) for picture in pictures]))


def _fine(picture: npt.ArrayLike, size: int, *, linear: bool) -> FloatArray:
    """The middle of a square picture brought to 2·`size` px, in sRGB."""
    array = as_rgb(picture, "an image")
    # What is cut away first need not be resized.
    square = middle(array, DEEP_SIDE * array.shape[0] // (2 * size))
    return _resized(np.clip(square, 0, 1), DEEP_SIDE, linear=linear)


def _shown(picture: npt.ArrayLike, size: int, *, linear: bool) -> FloatArray:
    """One square picture of any values as it is screened: in sRGB at `size` px."""
    array = as_rgb(picture, "an image")
    if array.shape[0] != array.shape[1]:
        raise EvaluatorError("square images of shape (S, S, 3)", f"shape {array.shape}")
    return _resized(np.clip(array, 0, 1), size, linear=linear)


def _resized(square: FloatArray, size: int, *, linear: bool) -> FloatArray:
    """A picture in sRGB at `size` px.

    A scene-linear one is averaged after the clip of the view transform, as the eye sees it: highlights do not spread.
    """
    return linear_to_srgb(resize_linear(np.clip(square, 0, 1), size)) if linear else resize_srgb(square, size)


def _batch(images_srgb: npt.ArrayLike) -> FloatArray:
    images = np.asarray(images_srgb, dtype=np.float32)
    if images.ndim != 4 or images.shape[3] != 3 or images.shape[1] != images.shape[2]:
        raise EvaluatorError("images of shape (B, S, S, 3)", f"shape {images.shape}")
    if len(images):
        as_rgb(images.reshape(-1, *images.shape[2:]), "images")
    return np.clip(images, 0, 1)
