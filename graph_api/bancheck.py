"""Whether a ban can be taken into memory: it must name something, name it rightly, and leave a road open."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise

from graph_api.bans import KINDS, OUTPUT_TYPE, Ban, Endpoint
from graph_api.catalog import Catalog, load_aliases, load_catalog
from graph_api.errors import BanInvalid
from graph_api.model import ROLES, Node
from graph_api.resolve import closest, closest_types, find_property, find_socket, type_of

# Without these nothing reaches the renderer.
ESSENTIAL_TYPES = frozenset({OUTPUT_TYPE})
ESSENTIAL_ROLES = frozenset({"output"})


def check_ban(ban: Ban, catalog: Catalog | None = None) -> None:
    """Raise `BanInvalid` when a ban is empty, names what does not exist, or closes every road."""
    catalog = catalog or load_catalog()
    if ban.kind not in KINDS:
        raise BanInvalid("one of the kinds", repr(ban.kind), KINDS)
    for node_type in (ban.type, ban.to_type, *(end.type for end in ban.targets)):
        if node_type and node_type not in catalog and node_type not in load_aliases().nodes:
            raise BanInvalid(
                f"a node type of Blender {catalog.version}", repr(node_type), closest_types(node_type, catalog)
            )
    for role in (ban.role, ban.to_role, *(end.role for end in ban.targets)):
        if role not in ROLES:
            raise BanInvalid("a role", repr(role), [one for one in ROLES if one])
    _CHECKS[ban.kind](ban, catalog)


def _named(ban: Ban) -> None:
    if not ban.type and not ban.role:
        raise BanInvalid(f"a type or a role in a ban of kind {ban.kind}", "neither")


def _node(ban: Ban, _: Catalog) -> None:
    _named(ban)
    if ban.type in ESSENTIAL_TYPES or (ban.role in ESSENTIAL_ROLES and not ban.type):
        raise BanInvalid("a ban that leaves a road open", f"one of {ban.type or ban.role}, which every material needs")


def _remove(ban: Ban, _: Catalog) -> None:
    _named(ban)


def _socket(socket: str, node_type: str, catalog: Catalog, *, output: bool = False, properties: bool = False) -> None:
    """Refuse a name that the type has under no setting of its properties."""
    kind = catalog.node(node_type) if node_type else None
    if kind is None or not socket:
        return
    names: list[str] = []
    for state in kind.states:
        names += [name for one in state.side(output).values() for name in (one.name, one.identifier, one.label) if name]
    if socket in names or any(other in names for other in load_aliases().socket_names(node_type, socket)):
        return
    fresh = Node("check", node_type)
    if find_socket(fresh, socket, catalog, [], output=output) or (
        properties
        and (find_property(fresh, socket, catalog, []) or find_socket(fresh, socket, catalog, [], output=True))
    ):
        return
    known = closest(socket, [*names, *(kind.properties if properties else ())])
    raise BanInvalid(f"an {'output' if output else 'input'} of {node_type}", repr(socket), known)


def _link(ban: Ban, catalog: Catalog) -> None:
    if not (ban.type or ban.role or ban.output):
        if ban.to_type in ESSENTIAL_TYPES or ban.to_role in ESSENTIAL_ROLES:
            raise BanInvalid("a ban that leaves a road open", "one of every link into the output")
        if not (ban.to_type or ban.to_role) or not ban.socket:
            raise BanInvalid("a link ban that names a source, or a target and its socket", "one of nearly every link")
    if not (ban.to_type or ban.to_role or ban.socket):
        raise BanInvalid("a link ban that names a target", "one of every link from the source")
    _socket(ban.output, ban.type, catalog, output=True)
    _socket(ban.socket, ban.to_type, catalog)


def _param(ban: Ban, catalog: Catalog) -> None:
    if not ban.socket:
        raise BanInvalid("an input or property in a ban of kind param", "none")
    if not ban.values and ban.low is None and ban.high is None:
        raise BanInvalid("values or a bound in a ban of kind param", "neither")
    bounds = [one for one in (ban.low, ban.high) if one is not None]
    if any(math.isnan(one) for one in bounds) or (ban.low == -math.inf and ban.high in (None, math.inf)):
        raise BanInvalid("a range that leaves values open", f"[{ban.low}, {ban.high}]")
    if len(bounds) == 2 and (bounds[0] > bounds[1] or (bounds[0] == bounds[1] and (ban.low_open or ban.high_open))):
        raise BanInvalid("a range that holds something", f"from {ban.low} to {ban.high}")
    _socket(ban.socket, ban.type, catalog, properties=True)
    if leaves_nothing([ban], catalog):
        raise BanInvalid("a ban that leaves values open", ban.describe())


def leaves_nothing(bans: Iterable[Ban], catalog: Catalog) -> bool:
    """Whether param bans on one input or property of one type leave no value that the node could have."""
    listed = [ban for ban in bans if ban.kind == "param"]
    if not listed or not listed[0].type or catalog.node(listed[0].type) is None:
        return False
    node = Node("check", listed[0].type)
    prop = find_property(node, listed[0].socket, catalog, [])
    if prop is not None and prop.type in ("enum", "bool"):
        items: set[object] = set(prop.items) if prop.type == "enum" else {True, False}
        return items <= {value for ban in listed for value in ban.values}
    states = type_of(node, catalog).states
    found = find_socket(node, listed[0].socket, catalog, []) or next(
        (one for state in states for one in state.inputs.values() if listed[0].socket in (one.name, one.identifier)),
        None,
    )
    low = found.min if found is not None else prop.min if prop is not None else None
    high = found.max if found is not None else prop.max if prop is not None else None
    # Bounds, the middles between them and the ends of the declared range: one of these is free if any value is.
    ends = [-1e30 if low is None else low, 1e30 if high is None else high]
    bounds = [bound for ban in listed for bound in (ban.low, ban.high) if bound is not None]
    marks = sorted({*ends, *(bound for bound in bounds if ends[0] <= bound <= ends[1])})
    probes = [*marks, *((a + b) / 2 for a, b in pairwise(marks))]
    return all(any((ban.low is not None or ban.high is not None) and ban.holds(p) for ban in listed) for p in probes)


def _share(ban: Ban, catalog: Catalog) -> None:
    if len(ban.targets) != 2 or ban.targets[0] == ban.targets[1]:
        raise BanInvalid("two different targets in a ban of kind share", str(len(set(ban.targets))))
    for end in ban.targets:
        if not isinstance(end, Endpoint) or not end.socket:
            raise BanInvalid("targets that name their sockets", str(end))
        _socket(end.socket, end.type, catalog)


_CHECKS = {"node": _node, "link": _link, "param": _param, "remove": _remove, "share": _share}
