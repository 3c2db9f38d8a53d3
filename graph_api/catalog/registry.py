"""Catalogs by Blender version, read from the packaged files.

A catalog parses its file at once and makes a `NodeType` when it is first asked for, so that loading stays below a few
milliseconds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import Any

from graph_api.catalog.schema import NodeType, Property, Socket, SocketState
from graph_api.errors import CatalogMissing
from graph_api.model import ColorRamp, ColorStop, CurveMapping, CurvePoint, Value

Json = dict[str, Any]


def version_key(version: str) -> tuple[int, ...]:
    """`"4.5"` as (4, 5), for comparing."""
    return tuple(int(part) for part in version.split("."))


@cache
def available_versions() -> tuple[str, ...]:
    """Blender versions with a catalog, oldest first."""
    names = (
        item.name.removesuffix(".json") for item in resources.files("graph_api.catalog").joinpath("data").iterdir()
    )
    return tuple(sorted((name for name in names if name[0].isdigit()), key=version_key))


def nearest_version(version: str) -> str:
    """The catalog to use for a Blender: its own, else the newest that is not newer, else the oldest."""
    wanted = version_key(".".join(version.split(".")[:2]))
    older = [known for known in available_versions() if version_key(known) <= wanted]
    return older[-1] if older else available_versions()[0]


@cache
def load_catalog(version: str = "5.0") -> Catalog:
    """The catalog of a Blender version such as `"5.0"`; raises `CatalogMissing` for versions without one."""
    if version not in available_versions():
        raise CatalogMissing(version, available_versions())
    text = resources.files("graph_api.catalog").joinpath("data", f"{version}.json").read_text(encoding="utf-8")
    return Catalog(json.loads(text))


class Catalog:
    """The node types of one Blender version."""

    def __init__(self, raw: Json) -> None:
        self.version: str = raw["version"]
        self.blender: str = raw["blender"]
        self.types: tuple[str, ...] = tuple(raw["nodes"])
        self.common: Mapping[str, Property] = {entry["name"]: make_property(entry) for entry in raw["common"]}
        self.conversions: Mapping[str, frozenset[str]] = {k: frozenset(v) for k, v in raw["conversions"].items()}
        self.struct_items: Mapping[str, Mapping[str, tuple[str, ...]]] = {
            struct: {name: tuple(items) for name, items in enums.items()} for struct, enums in raw["structs"].items()
        }
        self._raw: Json = raw["nodes"]
        self._nodes: dict[str, NodeType | None] = {}

    def __contains__(self, node_type: object) -> bool:
        return node_type in self._raw

    def __repr__(self) -> str:
        return f"Catalog({self.version}, {len(self.types)} node types)"

    def node(self, node_type: str) -> NodeType | None:
        """The node type, or None when this Blender has no such shader node."""
        try:
            return self._nodes[node_type]
        except KeyError:
            entry = self._raw.get(node_type)
            made = None if entry is None else make_node(node_type, entry, self.common)
            if made is not None:
                self._nodes[node_type] = made
            return made

    def converts(self, source: str, target: str) -> bool:
        """Whether Blender takes a link from a `source` output into a `target` input as valid."""
        return source == target or target in self.conversions.get(source, frozenset())


def as_value(raw: Any) -> Any:
    """A default of the file as a model value: lists become tuples, numbers of a vector floats."""
    return tuple(float(item) for item in raw) if isinstance(raw, list) else raw


def limit(raw: float | None) -> float | None:
    """Convert a bound of the file; absent means none."""
    return None if raw is None else float(raw)


def make_ramp(raw: Json) -> ColorRamp:
    """The JSON form of a color ramp, as catalogs have it, as a value."""
    stops = tuple(ColorStop(float(position), as_value(color)) for position, color in raw["stops"])
    return ColorRamp(stops, raw["color_mode"], raw["interpolation"], raw["hue_interpolation"])


def make_curve(raw: Json) -> CurveMapping:
    """The JSON form of a curve mapping, as catalogs have it, as a value."""
    return CurveMapping(
        curves=tuple(tuple(CurvePoint(float(x), float(y), handle) for x, y, handle in c) for c in raw["curves"]),
        extend=raw["extend"],
        use_clip=raw["use_clip"],
        clip=as_value(raw["clip"]),
        black_level=as_value(raw["black_level"]),
        white_level=as_value(raw["white_level"]),
        tone=raw["tone"],
    )


READERS: dict[str, Callable[[Any], Value]] = {"ramp": make_ramp, "curve": make_curve}


def make_property(entry: Json) -> Property:
    """One entry of `props`."""
    reader: Callable[[Any], Value] = READERS.get(entry["type"], as_value)
    default: Value = float(entry["default"]) if entry["type"] == "float" else reader(entry["default"])
    limits: dict[str, Any] = {name: limit(entry.get(name)) for name in ("min", "max", "soft_min", "soft_max")}
    items = tuple(entry.get("items", ()))
    return Property(entry["name"], entry["type"], default, items, datablock=entry.get("datablock", ""), **limits)


def make_socket(entry: Json, enabled: bool, change: Json) -> Socket:
    """One entry of `inputs` or `outputs` in one state."""
    kind = str(change.get("type", entry["type"]))
    default = as_value(change.get("default", entry.get("default")))
    # A declared range belongs to the type it was read for.
    ranged: Json = entry if kind == entry["type"] else {"min": 0} if kind == "RGBA" else {}
    return Socket(
        identifier=str(entry["id"]),
        name=str(change.get("name", entry["name"])),
        type=kind,
        default=float(default) if kind == "VALUE" and isinstance(default, int) else default,
        min=limit(ranged.get("min")),
        max=limit(ranged.get("max")),
        subtype=ranged.get("subtype", ""),
        label=change.get("label", ""),
        hide_value=entry.get("hide_value", False),
        multi=entry.get("multi", False),
        enabled=enabled,
    )


# Settings of the picture, not of its node, without which it would be read differently; empty: as Blender guesses.
IMAGE_SETTINGS = ("image_colorspace", "image_alpha")


def make_node(node_type: str, entry: Json, common: Mapping[str, Property]) -> NodeType:
    """One entry of `nodes`."""

    def side(state: Json, key: str, entries: list[Json]) -> dict[str, Socket]:
        changes = state.get("set", {})
        flags = zip(entries, state.get(key, ""), strict=True)
        return {e["id"]: make_socket(e, f == "1", changes.get(f"{key}{i}", {})) for i, (e, f) in enumerate(flags)}

    states = tuple(
        SocketState(side(state, "in", entry["inputs"]), side(state, "out", entry["outputs"]))
        for state in entry.get("states", [{}])
    )
    own = {prop["name"]: make_property(prop) for prop in entry["props"]}
    if any(prop.datablock == "Image" for prop in own.values()):
        own |= {name: Property(name, "string", "") for name in IMAGE_SETTINGS}
    fixed = entry.get("fixed", ())
    shared = {name: prop for name, prop in common.items() if name not in own and name not in fixed}
    return NodeType(
        type=node_type,
        label=entry["label"],
        properties={**own, **shared},
        deciding={item["name"]: tuple(item["values"]) for item in entry.get("by", ())},
        table=tuple(entry.get("table", (0,))),
        states=states,
    )
