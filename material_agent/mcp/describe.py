"""What a node type is: its purpose, its sockets with ranges, its properties with their items."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from graph_api import Catalog
from graph_api.catalog import NodeType, Property, Socket
from graph_api.model import ColorRamp, CurveMapping
from graph_api.resolve import node_type, shown
from graph_api.summary import LAYOUT, brief

_SILENT = LAYOUT | {"mute"}


@cache
def purposes() -> dict[str, str]:
    """What node types are for, by identifier."""
    found: dict[str, str] = json.loads(files("material_agent").joinpath("data/node_purposes.json").read_text("utf-8"))
    return found


def describe_node(name: str, catalog: Catalog) -> dict[str, Any]:
    """A node type as JSON. An alias or another spelling is understood; raises `ActionRejected` for what is none."""
    kind, _ = node_type(name, catalog)
    state = kind.default_state
    return {
        "type": kind.type,
        "label": kind.label,
        "purpose": purposes().get(kind.type, ""),
        "blender": catalog.version,
        "inputs": [_socket(one, kind, output=False) for one in state.inputs.values()],
        "outputs": [_socket(one, kind, output=True) for one in state.outputs.values()],
        "properties": [_property(one) for name, one in kind.properties.items() if name not in _SILENT],
    }


def _socket(socket: Socket, kind: NodeType, *, output: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"name": shown(socket), "identifier": socket.identifier, "type": socket.type}
    if socket.default is not None and not output:
        found["default"] = _plain(socket.default)
    if socket.min is not None or socket.max is not None:
        found["range"] = [socket.min, socket.max]
    if socket.hide_value:
        found["without_link"] = "takes what the geometry gives"
    if not socket.enabled:
        found["enabled_when"] = {
            name: [_plain(value) for value in values]
            for name, values in kind.enabled_when(socket.identifier, output=output).items()
        }
    return found


def _property(prop: Property) -> dict[str, Any]:
    found: dict[str, Any] = {"name": prop.name, "type": prop.type, "default": _plain(prop.default)}
    if prop.items:
        found["items"] = list(prop.items)
    if prop.min is not None or prop.max is not None:
        found["range"] = [prop.min, prop.max]
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, ColorRamp | CurveMapping):
        return brief(value)
    return list(value) if isinstance(value, tuple) else value
