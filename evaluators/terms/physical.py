"""Physical plausibility of the rendered channels, by published limits (`data/physical.json` has them with sources)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluators.comparison import Comparison
from evaluators.data import load_table
from evaluators.functional.color import linear_to_srgb, luma
from evaluators.functional.relief import integrability_residual, slopes_of_height, slopes_of_normals
from evaluators.result import UNSCORED, Candidate, Direction, Gap, TermName, TermResult

FloatArray = npt.NDArray[np.float32]
LEVEL_FACTORS = {"warning": 0.9, "implausible": 0.75}
FAILURE_FACTOR = 0.5
"""A failed check at most halves the term, so that any failure keeps it at or under its threshold of ½."""
_DEPTHS = {"base_color": 3, "normal": 3, "roughness": 1, "metallic": 1, "height": 1}


@dataclass(frozen=True)
class _Finding:
    """A check that was made: `badness` in [0, 1], 0 when passed."""

    kind: str
    channel: str
    badness: float
    direction: Direction
    measured: float
    target: float
    unit: str
    message: str


@dataclass(frozen=True)
class _Surface:
    channels: Mapping[str, FloatArray]
    limits: Mapping[str, Mapping[str, Any]]
    patch_size_m: float
    varying: Mapping[str, str]

    def of_kind(self, values: FloatArray, kind: str) -> FloatArray:
        """The values (H, W) on pure metal or pure dielectric; what lies between is the metallic check's business.

        Without a usable metallic channel everything is dielectric.
        """
        metallic = self.channels.get("metallic")
        if metallic is None or metallic.shape[:2] != values.shape:
            return values if kind == "dielectric" else values[:0]
        between = self.limits["metallic_between"]
        plane = metallic[..., 0]
        chosen = plane > between["high"] if kind == "metal" else plane < between["low"]
        return np.asarray(values[chosen], dtype=np.float32)


_Check = Callable[[_Surface], list[_Finding]]


class Physical:
    """Whether base color, roughness, metallic, normals and height could be those of a real surface."""

    name: TermName = "physical"
    higher_is_better = True

    def __init__(self, patch_size_m: float = 1.0, varying: Mapping[str, str] | None = None) -> None:
        self._patch_size_m = patch_size_m
        self._varying = dict(varying or {})

    def score(self, candidate: Candidate, comparison: Comparison | None) -> TermResult:
        """Check the channels that are there; the value is the product of the checks' factors.

        A passed check counts 1, a warning .9, a flat surface where the reference calls for relief .75, a failure at
        most ½, less the more pixels it concerns. Unscored when none of the channels was rendered.
        """
        del comparison
        present = {k: v for k, v in candidate.channels.items() if k in _DEPTHS}
        if not present:
            return TermResult(self.name, UNSCORED, reason=f"none of the channels {', '.join(_DEPTHS)} was rendered")
        broken = [_broken(key, value) for key, value in present.items() if not _usable(key, value)]
        usable = {key: value for key, value in present.items() if _usable(key, value)}
        surface = _Surface(usable, load_table("physical.json"), self._patch_size_m, self._varying)
        findings = broken + [f for needs, check in _CHECKS if set(needs) <= set(usable) for f in check(surface)]
        factors = {f.kind: _factor(f, surface.limits) for f in findings}
        missing = sorted(set(_DEPTHS) - set(present))
        return TermResult(
            name=self.name,
            value=float(np.prod(list(factors.values()))),
            reason=f"not rendered: {', '.join(missing)}" if missing else "",
            by_channel={
                c: float(np.prod([factors[f.kind] for f in findings if f.channel == c])) for c in sorted(present)
            },
            numbers={f"{f.kind}_measured": f.measured for f in findings},
            gaps=tuple(_gap(f, factors[f.kind]) for f in findings if f.badness > 0),
            uses=tuple(sorted(present)),
        )


def _usable(key: str, values: FloatArray) -> bool:
    return values.ndim == 3 and values.shape[2] == _DEPTHS[key] and bool(np.isfinite(values).all())


def _broken(key: str, values: FloatArray) -> _Finding:
    bad = float((~np.isfinite(values)).sum()) or float(values.size)
    message = f"{key}: expected finite values (H, W, {_DEPTHS[key]}), got shape {values.shape}, {bad:.0f} unusable"
    return _Finding(f"{key}_unusable", key, 1.0, "differs", bad, 0.0, "values", message)


def _factor(finding: _Finding, limits: Mapping[str, Mapping[str, Any]]) -> float:
    if finding.badness <= 0:
        return 1.0
    level = limits.get(finding.kind, {}).get("level")
    if level in LEVEL_FACTORS:
        return LEVEL_FACTORS[level]
    return FAILURE_FACTOR * (1 - min(finding.badness, 1.0) / 2)


def _gap(finding: _Finding, factor: float) -> Gap:
    return Gap(
        term="physical",
        scale="global",
        channel=finding.channel,
        kind=finding.kind,
        direction=finding.direction,
        size=1 - factor,
        measured=finding.measured,
        target=finding.target,
        unit=finding.unit,
        message=finding.message,
    )


def _share_finding(kind: str, channel: str, offending: npt.NDArray[np.bool_], limit: float, words: str) -> _Finding:
    share = float(offending.mean()) if offending.size else 0.0
    message = f"{channel}: {words} on {share:.1%} of the pixels, at most {limit:.0%} may"
    badness = share if share > limit else 0.0
    return _Finding(kind, channel, badness, "too_high", share, limit, "share of pixels", message)


def _base_color(surface: _Surface) -> list[_Finding]:
    value = 255 * luma(linear_to_srgb(surface.channels["base_color"]))
    findings = []
    for kind, too_dark in (
        ("dielectric_too_dark", True),
        ("dielectric_too_bright", False),
        ("metal_too_dark", True),
        ("metal_dull", True),
    ):
        rule = surface.limits[kind]
        limit = rule["limit_srgb8"]
        judged = surface.of_kind(value, kind.partition("_")[0])
        words = f"luminance {'under' if too_dark else 'over'} sRGB {limit}"
        offending = judged < limit if too_dark else judged > limit
        findings.append(_share_finding(kind, "base_color", offending, rule["share"], words))
    return findings


def _metallic(surface: _Surface) -> list[_Finding]:
    rule = surface.limits["metallic_between"]
    metallic = surface.channels["metallic"]
    between = (metallic > rule["low"]) & (metallic < rule["high"])
    words = f"neither metal nor dielectric ({rule['low']}–{rule['high']})"
    return [_share_finding("metallic_between", "metallic", between, rule["share"], words)]


def _roughness(surface: _Surface) -> list[_Finding]:
    rule = surface.limits["roughness_out_of_range"]
    roughness = surface.channels["roughness"]
    outside = (roughness < rule["low"] - 1e-6) | (roughness > rule["high"] + 1e-6)
    words = f"outside [{rule['low']}, {rule['high']:g}]"
    return [_share_finding("roughness_out_of_range", "roughness", outside, rule["share"], words)]


def _mirror(surface: _Surface) -> list[_Finding]:
    roughness = surface.of_kind(surface.channels["roughness"][..., 0], "dielectric")
    limit = surface.limits["roughness_mirror"]["mean"]
    if not roughness.size:
        return []
    mean = float(roughness.mean())
    message = f"roughness: mean {mean:.3f} on the dielectric, under {limit} it is a mirror or wet"
    badness = 1.0 if mean < limit else 0.0
    return [_Finding("roughness_mirror", "roughness", badness, "too_low", mean, limit, "roughness", message)]


def _normals(surface: _Surface) -> list[_Finding]:
    normal = surface.channels["normal"]
    length, backward, curl = (surface.limits[k] for k in ("normal_length", "normal_backward", "normal_integrable"))
    off = np.abs(np.linalg.norm(normal, axis=-1) - 1) > length["tolerance"]
    residual = integrability_residual(slopes_of_normals(normal))
    message = f"normal: {residual:.1%} of the slopes belong to no surface, at most {curl['residual']:.0%} may"
    badness = residual if residual > curl["residual"] else 0.0
    return [
        _share_finding("normal_length", "normal", off, length["share"], "length differs from 1"),
        _share_finding("normal_backward", "normal", normal[..., 2] <= 0, backward["share"], "facing away"),
        _Finding(
            "normal_integrable", "normal", badness, "too_high", residual, curl["residual"], "share of slope", message
        ),
    ]


def _height(surface: _Surface) -> list[_Finding]:
    rule = surface.limits["height_span"]
    low, high = np.quantile(surface.channels["height"], [0.01, 0.99])
    limit = rule["share_of_patch"] * surface.patch_size_m
    span = float(high - low)
    badness = min(1.0, span / limit - 1) if span > limit else 0.0
    message = f"height: spans {span:.3g} m on a patch of {surface.patch_size_m:g} m, at most {limit:.3g} m is plausible"
    return [_Finding("height_span", "height", badness, "too_high", span, limit, "m", message)]


def _height_agrees(surface: _Surface) -> list[_Finding]:
    normal, height = surface.channels["normal"], surface.channels["height"][..., 0]
    if normal.shape[:2] != height.shape or min(height.shape) < 2:
        return []
    of_normal = slopes_of_normals(normal)
    of_height = slopes_of_height(height, surface.patch_size_m / height.shape[1])
    one, other = of_normal - of_normal.mean(axis=(0, 1)), of_height - of_height.mean(axis=(0, 1))
    power = float(np.sqrt((one * one).sum() * (other * other).sum()))
    if power < 1e-9:
        return []
    correlation = float((one * other).sum() / power)
    limit = surface.limits["height_agrees"]["correlation"]
    message = f"height: its slopes correlate {correlation:.2f} with those of the normals, {limit} is expected"
    badness = 1.0 if correlation < limit else 0.0
    return [_Finding("height_agrees", "height", badness, "too_low", correlation, limit, "correlation", message)]


def _height_constant(surface: _Surface) -> list[_Finding]:
    """Neither the height nor the normals vary, where the reference calls for relief."""
    if "height" not in surface.varying:
        return []
    rule = surface.limits["height_constant"]
    spans = []
    if "height" in surface.channels:
        low, high = np.quantile(surface.channels["height"], [0.01, 0.99])
        spans.append(float(high - low) / surface.patch_size_m / rule["share_of_patch"])
    if "normal" in surface.channels:
        slopes = slopes_of_normals(surface.channels["normal"])
        spans.append(float(slopes.std(axis=(0, 1)).max()) / rule["slope"])
    if not spans:
        return []
    most = max(spans)
    message = f"height: flat, though {surface.varying['height']}"
    badness = 1.0 if most < 1 else 0.0
    return [_Finding("height_constant", "height", badness, "too_low", most, 1.0, "share of the least relief", message)]


def _roughness_constant(surface: _Surface) -> list[_Finding]:
    if "roughness" not in surface.varying:
        return []
    limit = surface.limits["roughness_constant"]["span"]
    low, high = np.quantile(surface.channels["roughness"], [0.01, 0.99])
    message = f"roughness: the same everywhere, though {surface.varying['roughness']}"
    badness = 1.0 if high - low < limit else 0.0
    span = float(high - low)
    return [_Finding("roughness_constant", "roughness", badness, "too_low", span, limit, "roughness", message)]


_CHECKS: tuple[tuple[tuple[str, ...], _Check], ...] = (
    (("base_color",), _base_color),
    (("metallic",), _metallic),
    (("roughness",), _roughness),
    (("roughness", "metallic"), _mirror),
    (("normal",), _normals),
    (("height",), _height),
    (("normal", "height"), _height_agrees),
    ((), _height_constant),
    (("roughness",), _roughness_constant),
)
