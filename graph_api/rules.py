"""What an attempt may not do: bans from reflections, locks from the user, a limit on the number of nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby

from graph_api.bancheck import check_ban, leaves_nothing
from graph_api.bans import OUTPUT_TYPE, Ban, Endpoint, Hit
from graph_api.catalog import Catalog, load_catalog
from graph_api.errors import ActionRejected, BanInvalid
from graph_api.model import Graph, Node
from graph_api.resolve import find_property, find_socket
from graph_api.wiring import active_output

__all__ = ["Ban", "Endpoint", "Hit", "Lock", "Rules"]


@dataclass(frozen=True)
class Lock:
    """A node that must stay as it is; with `socket` only that input or property of it."""

    node: str
    socket: str | None = None

    def broken(self, before: Graph, after: Graph, catalog: Catalog) -> bool:
        """Whether the step changes what is locked: the node, a value, or a link into it.

        A lock on the output that renders is also broken by another output that takes over.
        """
        old, new = before.nodes.get(self.node), after.nodes.get(self.node)
        if old is None:
            return False
        if new is None or (_renders(before, self.node) and not _renders(after, self.node)):
            return True
        if self.socket is None:
            return (old is not new and old != new) or before.links_to(self.node) != after.links_to(self.node)
        name = self._name(old, catalog)
        values = [node.inputs.get(name, node.properties.get(name, node.outputs.get(name))) for node in (old, new)]
        return values[0] != values[1] or before.link_into(self.node, name) != after.link_into(self.node, name)

    def _name(self, node: Node, catalog: Catalog) -> str:
        """The identifier or property that `socket` means."""
        assert self.socket is not None, "asked only of locks on a socket"
        for output in (False, True):
            found = find_socket(node, self.socket, catalog, [], output=output)
            if found is not None:
                return found.identifier
        prop = find_property(node, self.socket, catalog, [])
        return prop.name if prop is not None else self.socket

    def describe(self) -> str:
        """One line for people and models."""
        return f"{self.node}{f'.{self.socket}' if self.socket else ''} is locked"


def _renders(graph: Graph, name: str) -> bool:
    """Whether the node is the output that Cycles renders."""
    if graph.nodes[name].type != OUTPUT_TYPE:
        return False
    output = active_output(graph)
    return output is not None and output.id == name


@dataclass(frozen=True)
class Rules:
    """Bans, locks and the most nodes a graph may have (None: no limit)."""

    bans: tuple[Ban, ...] = ()
    locks: tuple[Lock, ...] = ()
    max_nodes: int | None = None

    def check(self, before: Graph, after: Graph, catalog: Catalog) -> None:
        """Raise `ActionRejected` when the step from `before` to `after` breaks a rule."""
        if self.max_nodes is not None and len(after.nodes) > max(self.max_nodes, len(before.nodes)):
            raise ActionRejected("node_limit", f"at most {self.max_nodes} nodes", f"{len(after.nodes)} nodes")
        for lock in self.locks:
            if lock.broken(before, after, catalog):
                raise ActionRejected(
                    "locked", "an edit of what is not locked", lock.describe(), node=lock.node, socket=lock.socket
                )
        for ban in self.bans:
            hits = ban.violations(before, after, catalog)
            if hits:
                first = min(hits, key=repr)
                got = f"a step that brings about {first}, banned: {ban.describe()}"
                raise ActionRejected("banned", "an edit that no ban forbids", got)

    def with_ban(self, ban: Ban, catalog: Catalog | None = None) -> Rules:
        """These rules and one more ban; raises `BanInvalid` when it is invalid or leaves nothing beside the others."""
        catalog = catalog or load_catalog()
        check_ban(ban, catalog)

        def place(one: Ban) -> tuple[str, str, str]:
            return (one.type, one.role, one.socket)

        bans = (*self.bans, ban)
        for _, group in groupby(sorted((one for one in bans if one.kind == "param"), key=place), key=place):
            if leaves_nothing(list(group), catalog):
                raise BanInvalid("a ban that leaves values open beside the others", ban.describe())
        return replace(self, bans=bans)
