"""Values of a graph as JSON and back. Numbers that JSON cannot say (NaN, infinities) are `{"float": "nan"}`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from graph_api.errors import MalformedGraph
from graph_api.model import ColorRamp, ColorStop, CurveMapping, CurvePoint, Value

SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def value_to_json(value: Value) -> Any:
    """A value as JSON: tuples as lists, ramps and curves as objects with a `kind`."""
    if isinstance(value, ColorRamp):
        stops = [{"position": value_to_json(s.position), "color": value_to_json(s.color)} for s in value.stops]
        return {"kind": "color_ramp", **asdict(value), "stops": stops}
    if isinstance(value, CurveMapping):
        curves = [[[value_to_json(p.x), value_to_json(p.y), p.handle] for p in curve] for curve in value.curves]
        vectors = {name: value_to_json(getattr(value, name)) for name in ("clip", "black_level", "white_level")}
        return {"kind": "curves", **asdict(value), "curves": curves, **vectors}
    if isinstance(value, tuple):
        return [value_to_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    return value


def wrong(where: str, expected: str, got: object) -> MalformedGraph:
    """An error about one place of a document."""
    text = repr(got)
    return MalformedGraph(where, expected, text if len(text) <= 80 else text[:77] + "...")


def as_object(raw: object, where: str) -> Mapping[str, Any]:
    """A JSON object."""
    if not isinstance(raw, Mapping):
        raise wrong(where, "an object", raw)
    return raw


def as_list(raw: object, where: str, size: int | None = None) -> list[Any]:
    """A JSON list, of a certain length if wanted."""
    if not isinstance(raw, list | tuple) or (size is not None and len(raw) != size):
        raise wrong(where, "a list" if size is None else f"a list of {size}", raw)
    return list(raw)


def as_text(raw: object, where: str) -> str:
    """A JSON string."""
    if not isinstance(raw, str):
        raise wrong(where, "text", raw)
    return raw


def as_number(raw: object, where: str) -> float:
    """A number, also one that JSON cannot say."""
    if isinstance(raw, Mapping) and raw.get("float") in SPECIAL:
        return SPECIAL[raw["float"]]
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise wrong(where, "a number", raw)
    try:
        return float(raw)
    except OverflowError:
        raise wrong(where, "a number that a float can hold", "a larger one") from None


def as_numbers(raw: object, where: str, size: int | None = None) -> tuple[float, ...]:
    """A list of numbers."""
    return tuple(as_number(item, f"{where}[{i}]") for i, item in enumerate(as_list(raw, where, size)))


def _ramp(raw: Mapping[str, Any], where: str) -> ColorRamp:
    stops = []
    for i, entry in enumerate(as_list(raw.get("stops"), f"{where}.stops")):
        place = f"{where}.stops[{i}]"
        stop = as_object(entry, place)
        red, green, blue, alpha = as_numbers(stop.get("color"), f"{place}.color", 4)
        stops.append(ColorStop(as_number(stop.get("position"), f"{place}.position"), (red, green, blue, alpha)))
    names = ("color_mode", "interpolation", "hue_interpolation")
    return ColorRamp(tuple(stops), **{n: as_text(raw[n], f"{where}.{n}") for n in names if n in raw})


def _curves(raw: Mapping[str, Any], where: str) -> CurveMapping:
    curves = []
    for i, entry in enumerate(as_list(raw.get("curves"), f"{where}.curves")):
        points = []
        for j, point in enumerate(as_list(entry, f"{where}.curves[{i}]")):
            place = f"{where}.curves[{i}][{j}]"
            x, y, handle = as_list(point, place, 3)
            points.append(CurvePoint(as_number(x, place), as_number(y, place), as_text(handle, place)))
        curves.append(tuple(points))
    made: dict[str, Any] = {n: as_text(raw[n], f"{where}.{n}") for n in ("extend", "tone") if n in raw}
    for name, size in (("clip", 4), ("black_level", 3), ("white_level", 3)):
        if name in raw:
            made[name] = as_numbers(raw[name], f"{where}.{name}", size)
    return CurveMapping(tuple(curves), use_clip=bool(raw.get("use_clip", True)), **made)


_KINDS: dict[str, Callable[[Mapping[str, Any], str], Value]] = {"color_ramp": _ramp, "curves": _curves}


def value_from_json(raw: object, where: str) -> Value:
    """The value that JSON stands for; raises `MalformedGraph` with the place."""
    if isinstance(raw, bool | str):
        return raw
    if isinstance(raw, int) and abs(raw) < 2**63:
        return raw
    if isinstance(raw, int | float):
        return as_number(raw, where)
    if isinstance(raw, list | tuple):
        return as_numbers(raw, where)
    if isinstance(raw, Mapping):
        if "float" in raw:
            return as_number(raw, where)
        reader = _KINDS.get(str(raw.get("kind")))
        if reader is not None:
            return reader(raw, where)
    raise wrong(where, f"a number, text, list, or an object of kind {' or '.join(_KINDS)}", raw)
