"""Graphs, bans and locks as JSON with a version, and back.

`from_json` refuses what it cannot read with the place and the reason; it does not judge the material: that is
`validate`. `load_graph` also moves the graph to another Blender version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from graph_api.bans import Ban, Endpoint
from graph_api.catalog import available_versions
from graph_api.depth import DEEPEST, too_deep
from graph_api.errors import BanInvalid, MalformedGraph
from graph_api.migrate import Migrated, migrate
from graph_api.model import Graph, Link, Node, Value
from graph_api.rules import Lock
from graph_api.values_json import as_list, as_object, as_text, value_from_json, value_to_json, wrong

FORMAT = "material-agent/graph"
FORMAT_VERSION = 1

Json = dict[str, Any]


def to_json(graph: Graph) -> Json:
    """The graph as a JSON object; keys in a fixed order, empty parts of nodes left out."""
    nodes = []
    for node in graph.nodes.values():
        entry: Json = {"id": node.id, "type": node.type}
        for name in ("role", "label"):
            if getattr(node, name):
                entry[name] = getattr(node, name)
        for name in ("properties", "inputs", "outputs"):
            values: Mapping[str, Value] = getattr(node, name)
            if values:
                entry[name] = {key: value_to_json(values[key]) for key in sorted(values)}
        nodes.append(entry)
    links = [[link.src, link.src_socket, link.dst, link.dst_socket] for link in graph.links]
    head = {"format": FORMAT, "version": FORMAT_VERSION, "blender_version": graph.blender_version}
    return {**head, "nodes": nodes, "links": links}


def dumps(graph: Graph) -> str:
    """The graph as JSON text, one line for each node and link."""
    raw = to_json(graph)

    def lines(items: list[Any]) -> str:
        return (
            "[" + ",".join(f"\n    {json.dumps(item, ensure_ascii=False, allow_nan=False)}" for item in items) + "\n  ]"
        )

    head = "".join(f"  {json.dumps(k)}: {json.dumps(raw[k])},\n" for k in ("format", "version", "blender_version"))
    return f'{{\n{head}  "nodes": {lines(raw["nodes"])},\n  "links": {lines(raw["links"])}\n}}\n'


def parse(data: str | bytes | Mapping[str, Any]) -> Mapping[str, Any]:
    """A JSON document as an object."""
    if isinstance(data, str | bytes):
        try:
            data = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise MalformedGraph("document", "JSON", str(error)) from None
    if too_deep(data):
        raise MalformedGraph("document", f"at most {DEEPEST} levels", "a deeper one")
    return as_object(data, "document")


def from_json(data: str | bytes | Mapping[str, Any]) -> Graph:
    """The graph of a document, for the Blender version it was written for; raises `MalformedGraph`."""
    raw = parse(data)
    if raw.get("format") != FORMAT:
        raise wrong("format", repr(FORMAT), raw.get("format"))
    if raw.get("version") != FORMAT_VERSION:
        raise wrong("version", str(FORMAT_VERSION), raw.get("version"))
    blender_version = as_text(raw.get("blender_version"), "blender_version")
    if blender_version not in available_versions():
        raise wrong("blender_version", f"one of {', '.join(available_versions())}", blender_version)
    nodes: dict[str, Node] = {}
    for index, entry in enumerate(as_list(raw.get("nodes"), "nodes")):
        node = _node(as_object(entry, f"nodes[{index}]"), f"nodes[{index}]")
        if node.id in nodes:
            raise wrong(f"nodes[{index}].id", "an id that no other node has", node.id)
        nodes[node.id] = node
    links = []
    for index, entry in enumerate(as_list(raw.get("links"), "links")):
        where = f"links[{index}]"
        link = Link(*(as_text(part, where) for part in as_list(entry, where, 4)))
        for name in (link.src, link.dst):
            if name not in nodes:
                raise wrong(where, "the id of a node of the document", name)
        links.append(link)
    return Graph(blender_version, nodes, tuple(links))


def _node(raw: Mapping[str, Any], where: str) -> Node:
    values: dict[str, dict[str, Value]] = {}
    for part in ("properties", "inputs", "outputs"):
        entries = as_object(raw.get(part, {}), f"{where}.{part}")
        values[part] = {str(k): value_from_json(v, f"{where}.{part}.{k}") for k, v in entries.items()}
    unknown = sorted(set(raw) - {"id", "type", "role", "label", *values})
    if unknown:
        raise wrong(where, "id, type, role, label, properties, inputs, outputs", ", ".join(unknown))
    texts = {name: as_text(raw.get(name, ""), f"{where}.{name}") for name in ("id", "type", "role", "label")}
    if not texts["id"] or not texts["type"]:
        raise wrong(where, "an id and a type", dict(raw))
    made: Json = {**texts, **values}
    return Node(**made)


def load_graph(data: str | bytes | Mapping[str, Any], version: str | None = None) -> Migrated:
    """The graph of a document for Blender `version` (None: the document's own), with what had to change."""
    graph = from_json(data)
    return migrate(graph, version or graph.blender_version)


def _compact(value: object) -> Json:
    """A dataclass as JSON without what has its default."""
    found: Json = {}
    for field in fields(value):  # type: ignore[arg-type]
        content = getattr(value, field.name)
        if field.default is MISSING or content != field.default:
            found[field.name] = content
    return found


def ban_to_json(ban: Ban) -> Json:
    """A ban as a JSON object; what is empty is left out."""
    raw = _compact(ban)
    if "values" in raw:
        raw["values"] = list(ban.values)
    if "targets" in raw:
        raw["targets"] = [_compact(end) for end in ban.targets]
    return raw


def _fields(raw: object, kind: type[Ban | Endpoint | Lock], what: str) -> Mapping[str, Any]:
    known = [field.name for field in fields(kind)]
    if too_deep(raw):
        raise BanInvalid(f"{what} of at most {DEEPEST} levels", "a deeper one")
    if not isinstance(raw, Mapping):
        raise BanInvalid(f"an object as {what}", repr(raw)[:80], known)
    unknown = [str(key) for key in raw if key not in known]
    if unknown:
        raise BanInvalid(f"fields of {what}", ", ".join(unknown), known)
    return raw


def _typed(raw: Mapping[str, Any], kind: type[Ban | Endpoint | Lock], what: str) -> Json:
    """The simple fields, each of its type."""
    found: Json = {}
    for field in fields(kind):
        if field.name not in raw or field.name in ("values", "targets"):
            continue
        value = raw[field.name]
        if field.name in ("low", "high"):
            good = value is None or (isinstance(value, int | float) and not isinstance(value, bool))
            value = float(value) if good and value is not None else value
        elif field.name in ("low_open", "high_open"):
            good = isinstance(value, bool)
        else:
            good = isinstance(value, str) or (value is None and field.default is None)
        if not good:
            raise BanInvalid(f"a value of its type as {field.name} of {what}", repr(raw[field.name])[:80])
        found[field.name] = value
    missing = [field.name for field in fields(kind) if field.default is MISSING and field.name not in found]
    if missing:
        raise BanInvalid(f"{', '.join(missing)} in {what}", "nothing")
    return found


def ban_from_json(data: object) -> Ban:
    """The ban of a JSON object; raises `BanInvalid`. Whether it is a good one, `check_ban` says."""
    raw = _fields(data, Ban, "a ban")
    values, targets = raw.get("values", ()), raw.get("targets", ())
    if not isinstance(values, list | tuple) or not all(isinstance(v, bool | int | float | str) for v in values):
        raise BanInvalid("a list of numbers or text as values of a ban", repr(values)[:80])
    if not isinstance(targets, list | tuple):
        raise BanInvalid("a list as targets of a ban", repr(targets)[:80])
    ends = tuple(Endpoint(**_typed(_fields(end, Endpoint, "a target"), Endpoint, "a target")) for end in targets)
    return Ban(**_typed(raw, Ban, "a ban"), values=tuple(values), targets=ends)


def lock_to_json(lock: Lock) -> Json:
    """A lock as a JSON object."""
    return _compact(lock)


def lock_from_json(data: object) -> Lock:
    """The lock of a JSON object; raises `BanInvalid`."""
    return Lock(**_typed(_fields(data, Lock, "a lock"), Lock, "a lock"))
