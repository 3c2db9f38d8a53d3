"""From measurements to conclusions: ranked structures, and guesses about channels that a picture does not show."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from references.analysis.features import FEATURES, Feature, ramp
from references.analysis.model import (
    FAMILIES,
    STRUCTURES,
    Cue,
    Family,
    FamilyHypothesis,
    Hypothesis,
    Inferred,
    Measured,
    Structure,
)


class _Model(NamedTuple):
    bias: float
    weights: dict[str, float]


class _FamilyModel(NamedTuple):
    structure: Structure
    model: _Model


@lru_cache(maxsize=1)
def _models() -> dict[Structure, _Model]:
    data = _data("hypotheses.json")["structures"]
    return {name: _Model(data[name]["bias"], data[name]["weights"]) for name in STRUCTURES}


@lru_cache(maxsize=1)
def _family_models() -> dict[Family, _FamilyModel]:
    data = _data("families.json")["families"]
    return {
        name: _FamilyModel(data[name]["structure"], _Model(data[name]["bias"], data[name]["weights"]))
        for name in FAMILIES
    }


def _data(name: str) -> Any:
    return json.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


def infer(measured: Measured) -> Inferred:
    """Rank the structures and the families, and state the cues."""
    features = {name: rule(measured) for name, rule in FEATURES.items()}
    ranked = _ranked(features)
    cues = (_height(measured, features), _metallic(measured), _roughness(measured))
    return Inferred(ranked, cues, _families(ranked, features))


def _score(model: _Model, features: dict[str, Feature]) -> float:
    return model.bias + sum(weight * features[name].value for name, weight in model.weights.items())


def _ranked(features: dict[str, Feature]) -> tuple[Hypothesis, ...]:
    models = _models()
    scores = np.array([_score(model, features) for model in models.values()])
    odds = np.exp(scores - scores.max())
    ranked = sorted(zip(models.items(), odds / odds.sum(), strict=True), key=lambda pair: -pair[1])
    return tuple(
        Hypothesis(name, float(probability), _evidence(model, features)) for (name, model), probability in ranked
    )


def _families(ranked: tuple[Hypothesis, ...], features: dict[str, Feature]) -> tuple[FamilyHypothesis, ...]:
    """Share the probability of each structure among its families."""
    models = _family_models()
    found = []
    for hypothesis in ranked:
        own = {name: entry.model for name, entry in models.items() if entry.structure == hypothesis.structure}
        odds = np.exp([_score(model, features) for model in own.values()])
        for (name, model), share in zip(own.items(), odds / odds.sum(), strict=True):
            evidence = dict.fromkeys((*_evidence(model, features), *hypothesis.evidence))
            probability = hypothesis.probability * float(share)
            found.append(FamilyHypothesis(name, hypothesis.structure, probability, tuple(evidence)))
    return tuple(sorted(found, key=lambda item: -item.probability))


def _evidence(model: _Model, features: dict[str, Feature]) -> tuple[str, ...]:
    """Sentences of the features that speak for a structure, the weightiest first."""
    parts = sorted(((w * features[k].value, features[k].text) for k, w in model.weights.items()), reverse=True)
    return tuple(text for weight, text in parts if weight > 0.2)


def _height(m: Measured, features: dict[str, Feature]) -> Cue:
    """Which tone lies lower: −1 the dark one, +1 the light one, 0 neither."""
    joints = max(features["joints"].value, features["blocks"].value)
    dark = m.cell.joints_dark if m.cell and features["joints"].value else m.regions.split.is_dark
    lines = features["sparse_lines"].value
    if joints >= max(lines, 0.3):
        tone = "dark" if dark else "light"
        return Cue("height", "lower_tone", -1.0 if dark else 1.0, 0.5 * joints, f"{tone} joints are usually recessed")
    if lines > 0.3 and m.lines.skewness < 0:
        return Cue("height", "lower_tone", -1.0, 0.4 * lines, "sparse dark lines may be cracks")
    if lines > 0.3:
        return Cue("height", "lower_tone", 0.0, 0.3 * lines, "sparse light lines are more often veins, which are flush")
    return Cue("height", "lower_tone", -1.0, 0.2, "hollows receive less light; colour may explain it as well")


def _metallic(m: Measured) -> Cue:
    """Grey of middle lightness may be metal; so may concrete or plaster, so the confidence stays low."""
    colors, shares = m.palette
    chroma = float(np.sum(shares * (colors.max(axis=1) - colors.min(axis=1))))
    grey = ramp(chroma, 0.06, 0.02) * ramp(m.luma.mean, 0.3, 0.45) * ramp(m.luma.mean, 0.9, 0.8)
    if grey > 0.5:
        return Cue("metallic", "value", 0.0, 0.2, f"grey (mean chroma {chroma:.2f}): metal is possible, stone as well")
    return Cue("metallic", "value", 0.0, 0.6, f"coloured or very dark or light (mean chroma {chroma:.2f})")


def _roughness(m: Measured) -> Cue:
    """Small bright colourless tails of the histogram hint at gloss."""
    tail = float(sum(m.luma.histogram[-3:]))
    sparkle = ramp(m.luma.skewness, 1.0, 2.5) * ramp(tail, 0.0005, 0.005) * ramp(m.luma.mean, 0.75, 0.6)
    if sparkle > 0.3:
        return Cue("roughness", "value", 0.35, 0.25, f"{100 * tail:.1f} % of the picture is nearly white highlight")
    return Cue("roughness", "value", 0.65, 0.2, "no highlights; most such surfaces are rough")
