"""Sums and products of noise octaves: the five kinds of Blender's Noise texture.

The number of octaves follows from Detail, which is a parameter: the loop is symbolic, so that no value of it compiles
anything new. Where derivatives are wanted the loop is unrolled to a bound instead, since a symbolic loop cannot be
differentiated backwards without storing every step. The last octave of a fractional Detail counts in part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import drjit as dr
from drjit.auto.ad import Bool, Float, Int32

from renderer.preview.ops import absolute, clamp, lerp, minimum, saturate
from renderer.preview.perlin import Point, raised_noise, signed_noise, signed_noise_at

State = tuple[Any, ...]
MAX_DETAIL = 15.0


@dataclass(frozen=True)
class Octaves:
    """How many octaves to run: `whole` full ones after the first, then one that counts by `rest` if `rest` > 0.

    `limit`: unroll to this many instead of looping, for derivatives; None loops.
    """

    whole: Int32
    rest: Float
    limit: int | None

    @classmethod
    def of(cls, detail: Float, limit: int | None, active: Bool | None = None) -> Octaves:
        """Split Detail, which is clamped to [0, 15]; lanes that are not `active` run no octave at all."""
        clamped = clamp(detail, 0.0, MAX_DETAIL)
        whole = dr.floor(clamped)
        rest = clamped - whole
        count = Int32(dr.detach(whole))
        if active is not None:
            count, rest = dr.select(active, count, -1), dr.select(active, rest, 0.0)
        return cls(count, rest, limit)

    def run(self, step: Callable[..., State], state: State, *, first: int = 0, partial: bool = True) -> State:
        """Apply `step(weight, *state) -> state` to octaves `first`, `first + 1`, …."""
        count = self.whole + 1
        if partial:
            count = count + dr.select(self.rest > 0, Int32(1), Int32(0))

        def weighted(index: Int32, *inner: Any) -> State:
            weight = dr.select(index <= self.whole, Float(1.0), self.rest)
            return step(weight, *inner)

        if self.limit is None:
            result: State = dr.while_loop(
                (Int32(first), *state),
                lambda index, *_: index < count,
                lambda index, *inner: (index + 1, *weighted(index, *inner)),
            )
            return result[1:]
        for index in range(first, self.limit):
            active = Int32(index) < count
            stepped = weighted(Int32(index), *state)
            state = tuple(dr.select(active, new, old) for new, old in zip(stepped, state, strict=True))
        return state


@dataclass(frozen=True)
class Fractal:
    """The settings that all kinds share."""

    octaves: Octaves
    roughness: Float
    lacunarity: Float
    offset: Float
    gain: Float
    normalize: bool


def fbm(point: Point, f: Fractal) -> Float:
    """Fractal Brownian motion: a weighted sum; [0, 1] when normalized."""

    def step(_: Float, scale: Float, amp: Float, total: Float, peak: Float, _a: Float, _b: Float) -> State:
        value = signed_noise([scale * x for x in point])
        return scale * f.lacunarity, amp * f.roughness, dr.fma(value, amp, total), peak + amp, total, peak

    one, zero = Float(1.0), Float(0.0)
    _, _, total, peak, before, peak_before = f.octaves.run(step, (one, one, zero, zero, zero, one))

    return _finish(f, total, peak, before, peak_before)


def fbm_at(points: Sequence[Point], f: Fractal) -> list[Float]:
    """`fbm` at several places close together."""
    count = len(points)

    def step(_: Float, scale: Float, amp: Float, peak: Float, _before: Float, *sums: Float) -> State:
        noises = signed_noise_at([[scale * x for x in point] for point in points])
        totals = [dr.fma(noise, amp, total) for noise, total in zip(noises, sums[:count], strict=True)]
        return scale * f.lacunarity, amp * f.roughness, peak + amp, peak, *totals, *sums[:count]

    one, zero = Float(1.0), Float(0.0)
    _, _, peak, before, *sums = f.octaves.run(step, (one, one, zero, one, *(zero,) * (2 * count)))
    return [_finish(f, total, peak, last, before) for total, last in zip(sums[:count], sums[count:], strict=True)]


def _finish(f: Fractal, total: Float, peak: Float, before: Float, peak_before: Float) -> Float:
    """The sum, or the mix of the last two sums for a fractional Detail; normalized if asked for."""

    def shown(value: Float, size: Float) -> Float:
        # No octave at all has no size: the caller does not use that lane.
        return 0.5 * value / dr.select(size != 0, size, 1.0) + 0.5 if f.normalize else value

    blended = lerp(shown(before, peak_before), shown(total, peak), f.octaves.rest)
    return dr.select(f.octaves.rest > 0, blended, shown(total, peak))


def _further(place: State, lacunarity: Float) -> State:
    """The place of the next octave: multiplied again each time, since its rounding is part of the texture."""
    return tuple(x * lacunarity for x in place)


def multifractal(point: Point, f: Fractal) -> Float:
    """A product of octaves around one."""

    def step(weight: Float, amp: Float, value: Float, *place: Float) -> State:
        noise = signed_noise(place)
        return amp * f.roughness, value * dr.fma(weight * amp, noise, 1.0), *_further(place, f.lacunarity)

    one = Float(1.0)
    return f.octaves.run(step, (one, one, *point))[1]


def hetero_terrain(point: Point, f: Fractal) -> Float:
    """Octaves scaled by the height reached so far."""

    def step(weight: Float, amp: Float, value: Float, *place: Float) -> State:
        rise = raised_noise(place, f.offset) * amp
        whole = dr.fma(rise, value, value)
        part = dr.fma(weight, rise * value, value)
        return amp * f.roughness, dr.select(weight == 1.0, whole, part), *_further(place, f.lacunarity)

    start = raised_noise(point, f.offset)
    return f.octaves.run(step, (f.roughness, start, *_further(tuple(point), f.lacunarity)), first=1)[1]


def hybrid_multifractal(point: Point, f: Fractal) -> Float:
    """Octaves weighted by the signal before them; lanes whose weight has died keep their value."""

    def step(weight: Float, amp: Float, value: Float, trust: Float, *place: Float) -> State:
        alive = trust > 0.001
        capped = minimum(trust, 1.0)
        signal = raised_noise(place, f.offset) * amp
        return (
            amp * f.roughness,
            dr.select(alive, dr.fma(weight * capped, signal, value), value),
            dr.select(alive, capped * (f.gain * signal), trust),
            *_further(place, f.lacunarity),
        )

    one = Float(1.0)
    return f.octaves.run(step, (one, Float(0.0), one, *point))[1]


def ridged_multifractal(point: Point, f: Fractal) -> Float:
    """Creases where the noise crosses zero; this kind alone ignores the fraction of Detail."""

    def ridge(at: Point) -> Float:
        signal = f.offset - absolute(signed_noise(at))
        return signal * signal

    def step(_: Float, amp: Float, value: Float, signal: Float, *place: Float) -> State:
        signal = ridge(place) * saturate(signal * f.gain)
        return amp * f.roughness, dr.fma(signal, amp, value), signal, *_further(place, f.lacunarity)

    start = ridge(point)
    state = (f.roughness, start, start, *_further(tuple(point), f.lacunarity))
    return f.octaves.run(step, state, first=1, partial=False)[1]


KINDS: dict[str, Callable[[Point, Fractal], Float]] = {
    "FBM": fbm,
    "MULTIFRACTAL": multifractal,
    "HETERO_TERRAIN": hetero_terrain,
    "HYBRID_MULTIFRACTAL": hybrid_multifractal,
    "RIDGED_MULTIFRACTAL": ridged_multifractal,
}
