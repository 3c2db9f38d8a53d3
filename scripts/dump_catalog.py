"""Write `graph_api/catalog/data/VERSION.json` from the Blender that runs this script.

    python scripts/dump_catalog.py [--out FILE]      with any Python that imports bpy
    blender --background --factory-startup --python scripts/dump_catalog.py -- [--out FILE]

Every node that a material's tree accepts is created once and read: its properties, its sockets, and, by turning each
enum and boolean through its values (pairs too, since some act only beside others), which of them decide what sockets
are enabled and how they are labelled. Nothing is typed by hand, so the file is what Blender says.

Format, for each node type:
    fixed     properties of every node that this one does not let set
    props     settable properties, with the value of a fresh node
    inputs, outputs
              every socket in Blender's order: identifier, name, type, default, declared range
    by        properties that decide about sockets, with their values
    table     for each combination of those values (row-major), the index of its state; null: Blender refuses it
    states    `in` and `out`: one digit for each socket, 1 enabled; `set`: names, labels, types and defaults that differ
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import re
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy

ROOT = Path(__file__).resolve().parent.parent
FLOAT_MAX = 3.4e38
INT_MAX = 2**31 - 1
MAX_COMBINATIONS = 4096
# Layout and identity: what a node looks like in the editor, and `mute`, which every node has.
COMMON = ("mute", "hide", "location", "width", "use_custom_color", "color")
SIMPLE = {"ENUM": "enum", "BOOLEAN": "bool", "INT": "int", "FLOAT": "float", "STRING": "string"}
RANGE_SOCKETS = {"VALUE": "NodeSocketFloat", "VECTOR": "NodeSocketVector", "INT": "NodeSocketInt"}
DATABLOCKS = ("Image", "NodeTree", "Object", "Text", "Material", "Collection", "Texture")

Json = dict[str, Any]


def short(value: float) -> float | str:
    """The shortest decimal that is the same float32; infinities as text."""
    if not math.isfinite(value):
        return str(value)
    for digits in range(1, 10):
        text = float(f"{value:.{digits}g}")
        if struct.pack("f", text) == struct.pack("f", value):
            return int(text) if text == int(text) and abs(text) < 1e9 else text
    return value


def plain(value: Any) -> Any:
    """A socket or property value as JSON."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return short(value)
    if isinstance(value, bpy.types.bpy_struct):
        return None
    return [plain(item) for item in value]


def bound(value: float) -> float | None:
    """A limit, or None when it is no limit."""
    return None if abs(value) >= FLOAT_MAX or abs(value) >= INT_MAX else short(value)  # type: ignore[return-value]


def ramp(value: Any) -> Json:
    """A color ramp as JSON."""
    return {
        "stops": [[short(stop.position), [short(c) for c in stop.color]] for stop in value.elements],
        "color_mode": value.color_mode,
        "interpolation": value.interpolation,
        "hue_interpolation": value.hue_interpolation,
    }


def curve(value: Any) -> Json:
    """A curve mapping as JSON."""
    return {
        "curves": [
            [[short(p.location[0]), short(p.location[1]), p.handle_type] for p in c.points] for c in value.curves
        ],
        "extend": value.extend,
        "use_clip": value.use_clip,
        "clip": [short(v) for v in (value.clip_min_x, value.clip_min_y, value.clip_max_x, value.clip_max_y)],
        "black_level": plain(value.black_level),
        "white_level": plain(value.white_level),
        "tone": value.tone,
    }


STRUCTURES = {"ColorRamp": ("ramp", ramp), "CurveMapping": ("curve", curve)}


def enum_items(node: Any, prop: Any) -> list[str]:
    """Identifiers of an enum; where they are made at run time, those that Blender's own refusal lists."""
    items = [item.identifier for item in prop.enum_items]
    if items:
        return items
    try:
        setattr(node, prop.identifier, "?")
    except TypeError as error:
        found = re.search(r"not found in \((.*)\)", str(error))
        return re.findall(r"'([^']*)'", found.group(1)) if found else []
    return []


def read_pointer(name: str, prop: Any, value: Any) -> Json | None:
    """A ramp, a curve or the name of a data-block; None for other structures."""
    kind = prop.fixed_type.identifier
    if kind in STRUCTURES:
        what, read = STRUCTURES[kind]
        return {"name": name, "type": what, "default": read(value)}
    return {"name": name, "type": "datablock", "datablock": kind, "default": ""} if kind in DATABLOCKS else None


def read_property(node: Any, prop: Any) -> Json | None:
    """One property, or None for kinds that a graph cannot hold."""
    name, value = prop.identifier, getattr(node, prop.identifier)
    if prop.type == "POINTER":
        return read_pointer(name, prop, value)
    if prop.type not in SIMPLE or (prop.is_readonly and prop.type != "ENUM") or getattr(prop, "is_enum_flag", False):
        return None
    if prop.type == "ENUM":
        return {"name": name, "type": "enum", "items": enum_items(node, prop), "default": value}
    kind = "vector" if getattr(prop, "is_array", False) else SIMPLE[prop.type]
    entry: Json = {"name": name, "type": kind, "default": plain(value)}
    if prop.type in ("FLOAT", "INT"):
        limits = {"min": bound(prop.hard_min), "max": bound(prop.hard_max)}
        limits |= {"soft_min": bound(prop.soft_min), "soft_max": bound(prop.soft_max)}
        entry |= {key: limit for key, limit in limits.items() if limit is not None}
    return entry


def read_socket(node: Any, socket: Any, probe: Any) -> Json:
    """One socket; its declared range comes from a group interface made after it, the only place that shows it."""
    entry: Json = {"id": socket.identifier, "name": socket.name, "type": socket.type}
    default = plain(getattr(socket, "default_value", None))
    if default is not None:
        entry["default"] = default
    if socket.type in RANGE_SOCKETS and default is not None:
        item = probe.interface.new_socket("probe", in_out="INPUT", socket_type=RANGE_SOCKETS[socket.type])
        item.from_socket(node, socket)
        limits = {"min": bound(item.min_value), "max": bound(item.max_value)}
        entry |= {key: value for key, value in limits.items() if value is not None}
        if item.subtype != "NONE":
            entry["subtype"] = item.subtype
        probe.interface.remove(item)
    elif socket.type == "RGBA":
        entry["min"] = 0
    if socket.hide_value:
        entry["hide_value"] = True
    if socket.is_multi_input:
        entry["multi"] = True
    return entry


def label(socket: Any) -> str:
    """What the interface shows instead of the name; Blender before 4.5 has no such thing."""
    return getattr(socket, "label", "") or ""


def signature(node: Any) -> tuple[tuple[tuple[Any, ...], ...], tuple[tuple[Any, ...], ...]]:
    """What of the sockets may change: existence, enabled state, name, label, type, default."""

    def read(socket: Any) -> tuple[Any, ...]:
        default = plain(getattr(socket, "default_value", None))
        return socket.identifier, socket.enabled, socket.name, label(socket), socket.type, default

    return tuple(tuple(map(read, side)) for side in (node.inputs, node.outputs))  # type: ignore[return-value]


class Flipper:
    """Sets the enum and boolean properties of fresh nodes of one type and reads the sockets."""

    def __init__(self, tree: Any, kind: str, props: Sequence[Json]) -> None:
        self.tree, self.kind = tree, kind
        self.values: dict[str, list[Any]] = {
            p["name"]: p["items"] if p["type"] == "enum" else [False, True]
            for p in props
            if p["type"] in ("enum", "bool")
        }

    def read(self, setting: dict[str, Any]) -> Any | None:
        """Signature under `setting`, or None when Blender refuses the combination."""
        node = self.tree.nodes.new(self.kind)
        try:
            for name, value in setting.items():
                setattr(node, name, value)
        except TypeError:
            return None
        else:
            return signature(node)
        finally:
            self.tree.nodes.remove(node)

    def deciding(self) -> list[str]:
        """Properties whose value changes the sockets, alone or beside one value of another property."""
        base = self.read({})
        found = {
            name
            for name, values in self.values.items()
            if any(self.read({name: v}) not in (base, None) for v in values)
        }
        for first, second in itertools.permutations(self.values, 2):
            if second in found or len(self.values[first]) * len(self.values[second]) > MAX_COMBINATIONS:
                continue
            for value in self.values[first]:
                alone = self.read({first: value})
                rest = (self.read({first: value, second: other}) for other in self.values[second])
                if alone is not None and any(state not in (alone, None) for state in rest):
                    found.add(second)
                    break
        return [name for name in self.values if name in found]


def read_node(tree: Any, kind: str, probe: Any) -> Json:
    """Everything about one node type."""
    node = tree.nodes.new(kind)
    base = {p.identifier for p in bpy.types.Node.bl_rna.properties}
    props = [p for p in node.bl_rna.properties if p.identifier not in base]
    read = {p.identifier: read_property(node, p) for p in props}
    entry: Json = {"label": node.bl_label, "props": [p for p in read.values() if p]}
    node.mute = True
    if not node.mute:
        entry["fixed"] = ["mute"]
    node.mute = False
    flipper = Flipper(tree, kind, entry["props"])
    by = flipper.deciding()
    combinations = list(itertools.product(*(flipper.values[name] for name in by)))
    if len(combinations) > MAX_COMBINATIONS:
        raise SystemExit(f"{kind}: expected at most {MAX_COMBINATIONS} combinations, got {len(combinations)} of {by}")
    signatures = [flipper.read(dict(zip(by, values, strict=True))) for values in combinations]
    sockets: list[dict[str, Json]] = [{}, {}]
    for values, state in zip(combinations, signatures, strict=True):
        if state is None:
            continue
        other = tree.nodes.new(kind)
        for name, value in zip(by, values, strict=True):
            setattr(other, name, value)
        for side, found in zip((other.inputs, other.outputs), sockets, strict=True):
            for socket in side:
                if socket.identifier not in found and socket.type != "CUSTOM":
                    found[socket.identifier] = read_socket(other, socket, probe)
        tree.nodes.remove(other)
    tree.nodes.remove(node)
    entry["inputs"], entry["outputs"] = list(sockets[0].values()), list(sockets[1].values())
    if not entry["inputs"] and not entry["outputs"]:
        return entry
    states: list[Json] = []
    table: list[int | None] = []
    for state in signatures:
        if state is None:
            table.append(None)
            continue
        row = describe(state, sockets)
        if row not in states:
            states.append(row)
        table.append(states.index(row))
    entry["by"] = [{"name": name, "values": flipper.values[name]} for name in by]
    entry["table"], entry["states"] = table, states
    return entry


def describe(state: Any, sockets: Sequence[dict[str, Json]]) -> Json:
    """A signature as one row of `states`."""
    row: Json = {}
    changes: Json = {}
    for key, side, known in zip(("in", "out"), state, sockets, strict=True):
        present = {identifier: (enabled, *rest) for identifier, enabled, *rest in side}
        row[key] = "".join("1" if present.get(identifier, (False,))[0] else "0" for identifier in known)
        for index, (identifier, base) in enumerate(known.items()):
            if identifier not in present or not present[identifier][0]:
                continue
            _, name, text, kind, default = present[identifier]
            found = {"name": (name, base["name"]), "type": (kind, base["type"]), "label": (text, "")}
            found["default"] = (default, base.get("default"))
            change = {what: now for what, (now, before) in found.items() if now != before}
            if change:
                changes[f"{key}{index}"] = change
    return row | ({"set": changes} if changes else {})


def conversions(tree: Any, kinds: Sequence[str]) -> dict[str, list[str]]:
    """For every socket type, the types of input that Blender accepts a link from it into."""
    outputs: dict[str, Any] = {}
    inputs: dict[str, Any] = {}
    for kind in kinds:
        if kind == "NodeReroute":
            continue
        prop = bpy.types.Node.bl_rna_get_subclass_py(kind).bl_rna.properties.get("data_type")
        for data_type in [item.identifier for item in prop.enum_items] if prop else [None]:
            # Two nodes, because a node cannot feed itself.
            source, target = tree.nodes.new(kind), tree.nodes.new(kind)
            try:
                if data_type:
                    source.data_type = target.data_type = data_type
            except TypeError:
                continue
            for side, found in ((source.outputs, outputs), (target.inputs, inputs)):
                for socket in side:
                    if socket.enabled and socket.type != "CUSTOM":
                        found.setdefault(socket.type, socket)
    accepted: dict[str, list[str]] = {}
    for name, output in sorted(outputs.items()):
        accepted[name] = []
        for other, socket in sorted(inputs.items()):
            link = tree.links.new(output, socket)
            if link is not None and link.is_valid:
                accepted[name].append(other)
            if link is not None:
                tree.links.remove(link)
    return accepted


def node_types(tree: Any) -> list[str]:
    """Every node type that a material's tree accepts."""
    found = []
    for name in sorted(dir(bpy.types)):
        kind = getattr(bpy.types, name)
        if isinstance(kind, type) and issubclass(kind, bpy.types.Node):
            try:
                tree.nodes.remove(tree.nodes.new(name))
            except RuntimeError:
                continue
            found.append(name)
    return found


def enums(struct: Any) -> dict[str, list[str]]:
    """Items of the enums of a struct that graphs hold as one value."""
    return {p.identifier: [i.identifier for i in p.enum_items] for p in struct.bl_rna.properties if p.type == "ENUM"}


def dump() -> Json:
    """The whole catalog of this Blender."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    material = bpy.data.materials.new("catalog")
    if material.node_tree is None:
        material.use_nodes = True
    tree = material.node_tree
    tree.nodes.clear()
    probe = bpy.data.node_groups.new("probe", "ShaderNodeTree")
    kinds = node_types(tree)
    sample = tree.nodes.new("ShaderNodeValue")
    common = [read_property(sample, bpy.types.Node.bl_rna.properties[name]) for name in COMMON]
    structs = {"ColorRamp": enums(bpy.types.ColorRamp), "CurveMapping": enums(bpy.types.CurveMapping)}
    structs["CurveMapping"]["handle"] = enums(bpy.types.CurveMapPoint)["handle_type"]
    tree.nodes.clear()
    nodes = {kind: read_node(tree, kind, probe) for kind in kinds}
    tree.nodes.clear()
    return {
        "format": 1,
        "version": "{}.{}".format(*bpy.app.version),
        "blender": "{}.{}.{}".format(*bpy.app.version),
        "common": common,
        "structs": structs,
        "conversions": conversions(tree, kinds),
        "nodes": nodes,
    }


def write(catalog: Json, path: Path) -> None:
    """One line for each node: small, and a change shows as a change of that node."""
    head = {key: value for key, value in catalog.items() if key != "nodes"}
    lines = [f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in catalog["nodes"].items()]
    text = json.dumps(head, separators=(",", ":"))[:-1] + ',\n"nodes": {\n' + ",\n".join(lines) + "\n}}\n"
    path.write_text(text, encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Dump and write; 0 when the file is written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="default: the packaged file of this Blender's version")
    options = parser.parse_args(arguments)
    catalog = dump()
    path = options.out or ROOT / "graph_api" / "catalog" / "data" / f"{catalog['version']}.json"
    write(catalog, path)
    print(f"{path}: {len(catalog['nodes'])} node types, {path.stat().st_size / 1024:.0f} KB", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]))
