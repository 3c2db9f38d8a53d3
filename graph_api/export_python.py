"""A graph as a Python script that rebuilds the material in plain Blender, without this package."""

from __future__ import annotations

from importlib import resources
from pprint import pformat
from typing import Any

from graph_api.arrange import arrange
from graph_api.catalog import Catalog, load_catalog
from graph_api.model import ColorRamp, CurveMapping, Graph, Node, Value


def to_python(graph: Graph, name: str = "Material") -> str:
    """The script: run it in Blender's text editor or with `blender --python`; it makes a material called `name`.

    It works in Blender 4.5 and later as long as names agree with the graph's version; what a Blender does not have is
    printed as a warning. Images are taken by name from the open file.
    """
    catalog = load_catalog(graph.blender_version)
    template = resources.files("graph_api").joinpath("data", "rebuild.py.txt").read_text(encoding="utf-8")
    places = arrange(graph).places
    nodes = [_node(node, places[node.id], catalog) for node in graph.nodes.values()]
    links = [(link.src, link.src_socket, link.dst, link.dst_socket) for link in graph.links]
    for key, value in (("NAME", name), ("VERSION", graph.blender_version), ("NODES", nodes), ("LINKS", links)):
        template = template.replace(f"@{key}@", pformat(value, width=116, sort_dicts=False))
    return template


def _node(node: Node, place: tuple[float, float], catalog: Catalog) -> dict[str, Any]:
    """One entry of NODES."""
    kind = catalog.node(node.type)
    entry: dict[str, Any] = {"id": node.id, "type": node.type}
    if node.label:
        entry["label"] = node.label
    entry["location"] = node.properties.get("location", place)
    properties = {key: value for key, value in node.properties.items() if key != "location"}
    # Properties that decide about sockets first: the others may only fit under their values.
    deciding = list(kind.deciding) if kind is not None else []
    ordered = sorted(properties, key=lambda key: (deciding.index(key) if key in deciding else len(deciding), key))
    for part, values in (("properties", properties), ("inputs", node.inputs), ("outputs", node.outputs)):
        keys = ordered if part == "properties" else list(values)
        if keys:
            entry[part] = {key: _value(values[key]) for key in keys}
    data = {k: kind.properties[k].datablock for k in properties if kind is not None and k in kind.properties}
    if any(data.values()):
        entry["data"] = {key: what for key, what in data.items() if what}
    return entry


def _value(value: Value) -> Any:
    if isinstance(value, ColorRamp):
        stops = [(stop.position, stop.color) for stop in value.stops]
        names = ("color_mode", "interpolation", "hue_interpolation")
        return {**{name: getattr(value, name) for name in names}, "stops": stops}
    if isinstance(value, CurveMapping):
        fields = ("extend", "use_clip", "clip", "black_level", "white_level", "tone")
        curves = [[(point.x, point.y, point.handle) for point in curve] for curve in value.curves]
        return {**{name: getattr(value, name) for name in fields}, "curves": curves}
    return value
