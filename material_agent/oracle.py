"""An evaluator that knows the true graph, for experiments that ask how far a loop gets whose judge never errs.

It stands in for `evaluators.Evaluator` wherever the environment asks for a `Judge`. It renders the truth at several
places of its endless pattern, so that no one sample of it decides, and it sees the truth's channels, which a picture
does not show: base color, roughness, metallic, slopes and height.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from evaluators import Candidate, Evaluation, Evaluator, EvaluatorError, Gap, Target, TermResult
from evaluators.combine import combine
from evaluators.functional.color import srgb_to_lab
from evaluators.functional.spectrum import polar_log_power
from evaluators.pictures import centre_square, resize_linear
from graph_api import Graph, reseed
from renderer import CHANNELS, Renderer, RenderRequest, RenderSettings, linear_to_srgb

FloatArray = npt.NDArray[np.float32]
TOLERANCES: Mapping[str, tuple[float, str]] = {
    "base_color": (4.0, "ΔE"),
    "roughness": (0.05, "roughness"),
    "metallic": (0.05, "metallic"),
    "normal": (0.05, "slope"),
    "height": (0.25, "share of the truth's span"),
}
"""Distance between the distributions of a channel at which its agreement is ½: a visible but small difference."""
_SPECTRUM_TOLERANCE = 1.5
"""Mean difference of log power at which two layouts agree by ½; two samples of one material differ by about .5."""
_SIDE = 128


class Oracle:
    """Judges against `truth`, rendered by `renderer` with `settings` at `places` places drawn with `seed`.

    Structure and appearance are the best that the committed evaluator finds against any of the renders; the physical
    term is the mean agreement of the channels with the truth's. Raises `EvaluatorError` for a truth without a picture.
    """

    def __init__(
        self,
        truth: Graph,
        renderer: Renderer,
        *,
        settings: RenderSettings | None = None,
        places: int = 3,
        seed: int = 0,
        network: str = "auto",
    ) -> None:
        rng = np.random.default_rng(seed)
        offsets = [(0.0, 0.0, 0.0), *(tuple(float(v) for v in rng.uniform(3, 30, 3)) for _ in range(places - 1))]
        used = settings or RenderSettings()
        requests = [RenderRequest(reseed(truth, o), "flat", CHANNELS, used) for o in offsets]  # type: ignore[arg-type]
        results = renderer.render_many(requests)
        failed = [message.text for result in results if not result.ok for message in result.messages]
        if failed or not all(result.ok for result in results):
            raise EvaluatorError("a true graph that renders", "; ".join(failed) or "no picture")
        self._truth = results[0].channels
        self._judges = [
            Evaluator(
                Target.from_image(np.clip(linear_to_srgb(result.channels["beauty"]), 0, 1)),
                network=network,
                patch_size_m=used.patch_size_m,
            )
            for result in results
        ]

    def evaluate(self, candidate: Candidate) -> Evaluation:
        """The verdict on a rendered candidate, as `Evaluator.evaluate` gives it."""
        found = [judge.evaluate(candidate) for judge in self._judges]
        best = max(found, key=lambda evaluation: evaluation.reward)
        terms = dict(best.terms)
        for name in ("structure", "appearance"):
            terms[name] = max((e.terms[name] for e in found), key=lambda term: -1.0 if not term.scored else term.value)
        terms["physical"] = self._channels(candidate)
        return combine(terms, best.weights, best.thresholds)

    def evaluate_many(self, candidates: Sequence[Candidate]) -> list[Evaluation]:
        """The verdict on each."""
        return [self.evaluate(candidate) for candidate in candidates]

    def screen(
        self, images: Iterable[npt.NDArray[np.float32]], *, linear: bool = False, deep: bool = False
    ) -> FloatArray:
        """Scores (B,) in [0, 1] as `Evaluator.screen` gives them: the best against any render of the truth."""
        pictures = list(images)
        scores = np.stack([judge.screen(pictures, linear=linear, deep=deep) for judge in self._judges])
        return np.asarray(scores.max(axis=0), dtype=np.float32)

    def _channels(self, candidate: Candidate) -> TermResult:
        there = [name for name in TOLERANCES if name in candidate.channels and name in self._truth]
        if not there:
            return TermResult("physical", float("nan"), reason="no channel of the truth was rendered")
        agreements: dict[str, float] = {}
        gaps = []
        for name in there:
            distance, layout = _channel_distance(name, candidate.channels[name], self._truth[name])
            tolerance, unit = TOLERANCES[name]
            agreements[name] = 2.0 ** -max(distance / tolerance, layout / _SPECTRUM_TOLERANCE)
            if agreements[name] < 1:
                message = f"{name}: {distance:.3g} {unit} from the truth"
                size = 1 - agreements[name]
                gaps.append(Gap("physical", "global", name, "truth", "differs", size, distance, 0.0, unit, message, ()))
        return TermResult(
            "physical",
            float(np.mean(list(agreements.values()))),
            by_channel=agreements,
            gaps=tuple(gaps),
            uses=tuple(there),
        )


def _channel_distance(name: str, got: FloatArray, truth: FloatArray) -> tuple[float, float]:
    """Distance of the distributions in the unit of `TOLERANCES`, and of the layouts in log power."""
    one, other = (_plane(name, values, truth) for values in (got, truth))
    spread = float(
        np.mean([np.abs(np.sort(a.ravel()) - np.sort(b.ravel())).mean() for a, b in zip(one, other, strict=True)])
    )
    scale = max(float(other[0].std()), 1e-3)
    polar = [polar_log_power((plane[0] - plane[0].mean()) / scale * 0.1) for plane in (one, other)]
    layout = float(np.abs(polar[0] - polar[1]).mean())
    varies = max(float(one[0].std()), float(other[0].std())) > 1e-3
    return spread, layout if varies else 0.0


def _plane(name: str, values: FloatArray, truth: FloatArray) -> list[FloatArray]:
    small = resize_linear(centre_square(values), _SIDE)
    if name == "base_color":
        return list(np.moveaxis(srgb_to_lab(np.clip(linear_to_srgb(small), 0, 1)), -1, 0))
    if name == "normal":
        return list(np.moveaxis(small[..., :2], -1, 0))
    if name == "height":
        span = max(float(np.ptp(truth)), 1e-6)
        return [(small[..., 0] - small[..., 0].mean()) / span]
    return [small[..., 0]]


__all__ = ["TOLERANCES", "Oracle"]
