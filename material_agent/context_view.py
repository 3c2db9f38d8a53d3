"""What of an analysis and of a verdict a context configuration lets an actor see.

What is withheld is not there: its fields hold what a picture without the property would have, and its words are gone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaluators.functional.lattice import Lattice
from evaluators.functional.light import Light
from evaluators.functional.orientation import Orientation
from evaluators.functional.palette import ColorAxis, Palette
from evaluators.functional.rings import Rings
from evaluators.functional.shapes import Lines
from evaluators.functional.spectrum import RadialPeak, Slope
from evaluators.result import Evaluation
from material_agent.context_config import PARTS, ContextConfig, Part
from material_agent.observation import Observation
from references.analysis import FAMILIES, STRUCTURES, Analysis
from references.analysis.model import FamilyHypothesis, Hypothesis, LumaStatistics

CHARACTERS_PER_TOKEN = 3.5
"""Of JSON with short numbers; tokenizers differ by a fifth, and none is asked."""
LONGEST_LIST = 12
"""A longer list in the measurements is a table for programs."""
_LIKELY = 2
_GREY = 0.5

_FIELDS: Mapping[Part, tuple[str, ...]] = {
    "structure": ("hypotheses", "families"),
    "lattice": ("lattice", "bands", "cell", "harmonics", "tone_exchange"),
    "orientation": ("orientation", "anisotropy", "lines", "rings"),
    "spectrum": ("polar_log_power", "slope", "energies", "dominant"),
    "palette": ("palette", "color_axis", "luma"),
    "regions": ("regions",),
    "light": ("light",),
    "cues": ("cues",),
}


@dataclass(frozen=True)
class View:
    """What is left: the analysis (None when no part is), the parts in it in order, and the same in words (JSON)."""

    analysis: Analysis | None
    parts: tuple[Part, ...]
    words: str


def view_of(analysis: Analysis, config: ContextConfig) -> View:
    """The analysis as `config` shows it; parts beyond its token budget are left out, the last ones first."""
    brief = config.detail == "brief"
    shown = _briefly(analysis) if brief else analysis
    told = _by_part(shown, brief=brief)
    kept: list[Part] = []
    for part in config.parts:
        words = _words(told, [*kept, part])
        if config.tokens is not None and len(words) / CHARACTERS_PER_TOKEN > config.tokens:
            break
        kept.append(part)
    if not kept:
        return View(None, (), "")
    hidden = [part for part in PARTS if part not in kept]
    return View(_without(shown, hidden), tuple(kept), _words(told, kept))


def blunt(evaluation: Evaluation) -> Evaluation:
    """The verdict as one number: reward and decision, without terms, reasons and gaps."""
    reasons = () if evaluation.success else ("the material is not accepted",)
    return Evaluation(evaluation.reward, {}, evaluation.success, reasons)


def blunt_observation(seen: Observation) -> Observation:
    """The observation with its verdict as one number."""
    return seen if seen.evaluation is None else replace(seen, evaluation=blunt(seen.evaluation))


def compact(value: Any, digits: int = 3) -> Any:
    """JSON with few digits and without long tables."""
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if math.isfinite(value) else None
    if isinstance(value, Mapping):
        kept = {key: compact(item, digits) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item is not None and item != []}
    if isinstance(value, list | tuple):
        return None if len(value) > LONGEST_LIST else [compact(item, digits) for item in value]
    return value


def _by_part(analysis: Analysis, *, brief: bool) -> dict[Part, dict[str, Any]]:
    data = analysis.to_json()
    whole = {**data["measured"], **data["inferred"]}
    digits = 2 if brief else 3
    return {
        part: {name: said for name in names if (said := compact(whole[name], digits)) not in (None, [])}
        for part, names in _FIELDS.items()
    }


def _words(told: Mapping[Part, Mapping[str, Any]], parts: list[Part]) -> str:
    return json.dumps({part: told[part] for part in parts}, ensure_ascii=False)


def _briefly(analysis: Analysis) -> Analysis:
    """Two digits of what counts and turns, the likeliest structures without their reasons, and no tables."""
    measured, inferred = analysis.measured, analysis.inferred
    lattice = measured.lattice
    likely = tuple(replace(item, evidence=()) for item in inferred.hypotheses[:_LIKELY])
    families = tuple(replace(item, evidence=()) for item in inferred.families[:_LIKELY])
    return replace(
        analysis,
        measured=replace(
            measured,
            lattice=None if lattice is None else _rounded(lattice),
            harmonics=(),
            anisotropy={
                name: Orientation(_two(o.angle_rad), _two(o.coherence)) for name, o in measured.anisotropy.items()
            },
            slope=Slope(_two(measured.slope.beta), _two(measured.slope.r2)),
            dominant=RadialPeak(_two(measured.dominant.cycles), _two(measured.dominant.prominence)),
        ),
        inferred=replace(inferred, hypotheses=likely, families=families),
    )


def _rounded(lattice: Lattice) -> Lattice:
    (ax, ay), (bx, by) = lattice.vectors
    return replace(
        lattice,
        vectors=((_two(ax), _two(ay)), (_two(bx), _two(by))),
        offset=_two(lattice.offset),
        angle_rad=_two(lattice.angle_rad),
        periods=(_two(lattice.periods[0]), _two(lattice.periods[1])),
        counts=(_two(lattice.counts[0]), _two(lattice.counts[1])),
    )


def _two(value: float) -> float:
    return float(f"{value:.2g}")


def _without(analysis: Analysis, hidden: list[Part]) -> Analysis:
    for part in hidden:
        analysis = _HIDE[part](analysis)
    return analysis


def _measured(**neutral: Any) -> Callable[[Analysis], Analysis]:
    return lambda analysis: replace(analysis, measured=replace(analysis.measured, **neutral))


def _no_structure(analysis: Analysis) -> Analysis:
    alike = tuple(Hypothesis(name, 1 / len(STRUCTURES), ()) for name in STRUCTURES)
    families = tuple(FamilyHypothesis(name, STRUCTURES[0], 1 / len(FAMILIES), ()) for name in FAMILIES)
    return replace(analysis, inferred=replace(analysis.inferred, hypotheses=alike, families=families))


def _no_cues(analysis: Analysis) -> Analysis:
    return replace(analysis, inferred=replace(analysis.inferred, cues=()))


def _no_regions(analysis: Analysis) -> Analysis:
    regions, grey = analysis.measured.regions, (_GREY, _GREY, _GREY)
    split = regions.split._replace(minority=np.zeros_like(regions.split.minority), share=0.0, confidence=0.0)
    blank = replace(
        regions, split=split, minority_color=grey, majority_color=grey, minority_contrast=0.0, majority_contrast=0.0
    )
    return replace(analysis, measured=replace(analysis.measured, regions=blank))


def _no_orientation(analysis: Analysis) -> Analysis:
    none = Orientation(0.0, 0.0)
    names = analysis.measured.anisotropy
    hide = _measured(
        orientation=none,
        anisotropy=dict.fromkeys(names, none),
        lines=Lines(0.0, 0.0, 0.0, 0.0),
        rings=Rings(_GREY, (_GREY, _GREY)),
    )
    return hide(analysis)


def _no_spectrum(analysis: Analysis) -> Analysis:
    energies = analysis.measured.energies
    hide = _measured(
        polar_log_power=np.zeros_like(analysis.measured.polar_log_power),
        slope=Slope(2.0, 0.0),
        energies=dict.fromkeys(energies, 1 / len(energies)),
        dominant=RadialPeak(1.0, 1.0),
    )
    return hide(analysis)


def _no_palette(analysis: Analysis) -> Analysis:
    grey = np.full((1, 3), _GREY, np.float32)
    hide = _measured(
        palette=Palette(grey, np.ones(1, np.float32)),
        color_axis=ColorAxis(
            np.full((257, 3), _GREY, np.float32), np.zeros(3, np.float32), np.array([1, 0, 0], np.float32), 0.0
        ),
        luma=LumaStatistics(_GREY, 0.0, 0.0, ()),
    )
    return hide(analysis)


_HIDE: Mapping[Part, Callable[[Analysis], Analysis]] = {
    "structure": _no_structure,
    "lattice": _measured(lattice=None, bands=None, cell=None, harmonics=(), tone_exchange=0.0),
    "orientation": _no_orientation,
    "spectrum": _no_spectrum,
    "palette": _no_palette,
    "regions": _no_regions,
    "light": _measured(light=Light(0.0, 0.0, 0.0, (_GREY, _GREY), (0.0,) * 6)),
    "cues": _no_cues,
}
