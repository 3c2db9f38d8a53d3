"""Color ramps and curves as actors write them: the dataclasses, or the dicts and lists of a model's JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

from graph_api.catalog import Catalog, Property
from graph_api.coerce import Target, clamped, color, components, number, parsed, to_bool
from graph_api.model import ColorRamp, ColorStop, CurveMapping, CurvePoint, Node, Value

MAX_STOPS = 32  # MAXCOLORBAND of Blender; its API leaves the first 32 when the 33rd is refused
RAMP_FIELDS = tuple(f.name for f in fields(ColorRamp))
CURVE_FIELDS = tuple(f.name for f in fields(CurveMapping))


def item(value: object, name: str, known: tuple[str, ...], target: Target) -> str:
    """One enum of a ramp or curve, whatever its case."""
    same = [one for one in known if isinstance(value, str) and one == value.strip().upper().replace(" ", "_")]
    if not same:
        raise target.refuse("bad_enum", f"an item of {name}", value, known)
    return same[0]


def stop(raw: object, target: Target) -> ColorStop:
    """One stop: ColorStop, {"position", "color"}, or [position, color]."""
    if isinstance(raw, ColorStop):
        pair: tuple[object, object] = (raw.position, raw.color)
    elif isinstance(raw, Mapping):
        position = raw.get("position", raw.get("pos"))
        if position is None or "color" not in raw:
            raise target.refuse("bad_value", 'a stop {"position": number, "color": [r, g, b, a]}', raw)
        pair = (position, raw["color"])
    elif isinstance(raw, list | tuple) and len(raw) == 2:
        pair = (raw[0], raw[1])
    elif isinstance(raw, list | tuple) and len(raw) in (4, 5):
        pair = (raw[0], raw[1:])
    else:
        raise target.refuse("bad_value", 'a stop {"position": number, "color": [r, g, b, a]}', raw)
    return ColorStop(clamped(number(pair[0], target), 0.0, 1.0, target), color(pair[1], target))


def stops(raw: object, target: Target) -> tuple[ColorStop, ...]:
    """All stops, sorted; refused whole when there are none or more than 32."""
    if not isinstance(raw, list | tuple):
        raise target.refuse("bad_value", "a list of stops", raw)
    if not 1 <= len(raw) <= MAX_STOPS:
        expected = f"1 to {MAX_STOPS} color stops"
        raise target.refuse("stop_count", expected, f"{len(raw)} stops")
    made = tuple(stop(one, target) for one in raw)
    ordered = tuple(sorted(made, key=lambda one: one.position))
    if ordered != made:
        target.notice("sorted", f"{target.key}: the stops were sorted by position")
    return ordered


def ramp(value: object, current: ColorRamp, catalog: Catalog, target: Target) -> ColorRamp:
    """A color ramp; a dict changes only the fields it names."""
    raw = parsed(value, target)
    if isinstance(raw, ColorRamp):
        raw = {name: getattr(raw, name) for name in RAMP_FIELDS}
    elif isinstance(raw, list | tuple):
        raw = {"stops": raw}
    if not isinstance(raw, Mapping) or not raw:
        raise target.refuse("bad_value", "a color ramp", value, RAMP_FIELDS)
    raw = {("stops" if key == "elements" else key): entry for key, entry in raw.items()}
    unknown = [str(key) for key in raw if key not in RAMP_FIELDS]
    if unknown:
        raise target.refuse("bad_value", "fields of a color ramp", ", ".join(unknown), RAMP_FIELDS)
    items = catalog.struct_items["ColorRamp"]
    changes: dict[str, object] = {name: item(raw[name], name, items[name], target) for name in items if name in raw}
    if "stops" in raw:
        changes["stops"] = stops(raw["stops"], target)
    return replace(current, **changes)  # type: ignore[arg-type]


def point(raw: object, handles: tuple[str, ...], target: Target) -> CurvePoint:
    """One point: CurvePoint, {"x", "y", "handle"}, or [x, y] with an optional handle."""
    if isinstance(raw, CurvePoint):
        raw = (raw.x, raw.y, raw.handle)
    elif isinstance(raw, Mapping) and "x" in raw and "y" in raw:
        raw = (raw["x"], raw["y"], raw.get("handle", "AUTO"))
    if not isinstance(raw, list | tuple) or len(raw) not in (2, 3):
        raise target.refuse("bad_value", "a curve point [x, y]", raw)
    handle = item(raw[2], "handle", handles, target) if len(raw) == 3 else "AUTO"
    return CurvePoint(number(raw[0], target), number(raw[1], target), handle)


def curves(raw: object, count: int, handles: tuple[str, ...], target: Target) -> tuple[tuple[CurvePoint, ...], ...]:
    """The curves of a mapping, each sorted by x; one list of points is enough where there is one curve."""
    if not isinstance(raw, list | tuple) or not raw:
        raise target.refuse("bad_value", f"{count} curves", raw)
    if count == 1 and not (
        isinstance(raw[0], list | tuple) and raw[0] and isinstance(raw[0][0], list | tuple | Mapping | CurvePoint)
    ):
        raw = [raw]
    if len(raw) != count:
        raise target.refuse("curve_count", f"{count} curves", f"{len(raw)} curves")
    made = []
    for one in raw:
        if not isinstance(one, list | tuple) or len(one) < 2:
            raise target.refuse("bad_value", "a curve of at least 2 points", one)
        made.append(tuple(sorted((point(p, handles, target) for p in one), key=lambda p: p.x)))
    return tuple(made)


def curve_mapping(value: object, current: CurveMapping, catalog: Catalog, target: Target) -> CurveMapping:
    """A curve mapping; a dict changes only the fields it names."""
    raw = parsed(value, target)
    if isinstance(raw, CurveMapping):
        raw = {name: getattr(raw, name) for name in CURVE_FIELDS}
    elif isinstance(raw, list | tuple):
        raw = {"curves": raw}
    unknown = [str(key) for key in raw if key not in CURVE_FIELDS] if isinstance(raw, Mapping) else ["value"]
    if unknown or not isinstance(raw, Mapping) or not raw:
        raise target.refuse("bad_value", "fields of a curve", value, CURVE_FIELDS)
    items = catalog.struct_items["CurveMapping"]
    changes: dict[str, object] = {n: item(raw[n], n, items[n], target) for n in ("extend", "tone") if n in raw}
    if "curves" in raw:
        changes["curves"] = curves(raw["curves"], len(current.curves), items["handle"], target)
    if "use_clip" in raw:
        changes["use_clip"] = to_bool(raw["use_clip"], target)
    for name, size in (("clip", 4), ("black_level", 3), ("white_level", 3)):
        if name in raw:
            found = components(raw[name], size, target, f"{size} numbers")
            if len(found) != size:
                raise target.refuse("bad_value", f"{size} numbers in {name}", raw[name])
            changes[name] = tuple(found)
    return replace(current, **changes)  # type: ignore[arg-type]


def structure(value: object, prop: Property, node: Node, catalog: Catalog, target: Target) -> Value:
    """The new value of a `ramp` or `curve` property."""
    current = node.properties.get(prop.name, prop.default)
    if isinstance(current, ColorRamp):
        return ramp(value, current, catalog, target)
    assert isinstance(current, CurveMapping), f"{prop.name}: a property of type {prop.type} holds one of the two"
    return curve_mapping(value, current, catalog, target)
