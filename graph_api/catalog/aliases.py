"""Names that changed between Blender 2.8 and now: nodes, sockets, properties, enum items. The table is a data file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from graph_api.model import Value


@dataclass(frozen=True)
class NodeAlias:
    """A node type that another one replaced (`new` None: nothing did).

    `exact`: with `properties` and `values` set, the new node does what the old one did. `inputs`, `outputs` map the
    old socket names to the new identifiers, `renamed` the old properties to the new ones. `hint` says what else to do.
    """

    old: str
    new: str | None
    since: str
    exact: bool
    properties: Mapping[str, Value] = field(default_factory=dict)
    values: Mapping[str, Value] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)
    hint: str = ""


@dataclass(frozen=True)
class Aliases:
    """The whole table. Socket groups are names of one thing, so that they work from old to new and back."""

    nodes: Mapping[str, NodeAlias]
    sockets: Mapping[str, tuple[tuple[str, ...], ...]]
    properties: Mapping[str, Mapping[str, str]]
    items: Mapping[str, Mapping[str, Mapping[str, str]]]
    removed: Mapping[str, Mapping[str, str]]

    def socket_names(self, node_type: str, name: str) -> Iterator[str]:
        """Other names of socket `name` of a node type, most specific first."""
        for key in (node_type, "*"):
            for group in self.sockets.get(key, ()):
                if name in group:
                    yield from (other for other in group if other != name)

    def property_name(self, node_type: str, name: str) -> str | None:
        """The present name of a property."""
        return self.properties.get(node_type, {}).get(name)

    def item(self, node_type: str, prop: str, name: str) -> str | None:
        """The present name of an enum item."""
        return self.items.get(node_type, {}).get(prop, {}).get(name)

    def removal(self, node_type: str, name: str) -> str | None:
        """Why a socket is gone without a successor."""
        return self.removed.get(node_type, {}).get(name)


@cache
def load_aliases() -> Aliases:
    """The packaged table."""
    text = resources.files("graph_api.catalog").joinpath("data", "aliases.json").read_text(encoding="utf-8")
    raw = json.loads(text)
    return Aliases(
        nodes={entry["old"]: NodeAlias(**entry) for entry in raw["nodes"]},
        sockets={key: tuple(tuple(group) for group in groups) for key, groups in raw["sockets"].items()},
        properties=raw["properties"],
        items=raw["items"],
        removed=raw["removed"],
    )
