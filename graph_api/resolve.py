"""From the names an actor uses to the catalog's: node types, sockets, properties; with what was understood."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graph_api.catalog import Catalog, NodeAlias, NodeType, Property, Socket, SocketState, load_aliases
from graph_api.errors import ActionRejected
from graph_api.model import Graph, Node

FOREIGN = {
    "GeometryNode": "a geometry node",
    "CompositorNode": "a compositor node",
    "TextureNode": "a texture node",
    "FunctionNode": "a function node",
}
# Nodes whose value is the default of an output; the outputs of all others are computed.
OUTPUT_VALUES = frozenset({"ShaderNodeValue", "ShaderNodeRGB", "ShaderNodeNormal"})


@dataclass(frozen=True)
class Notice:
    """Something done that was not asked for in so many words: an alias, a conversion, a clamp, a lost link."""

    code: str
    message: str
    node: str | None = None
    socket: str | None = None


def squash(name: str) -> str:
    """A name without case, spaces and underscores, for near misses."""
    return "".join(c for c in name.casefold() if c.isalnum())


def closest(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """`known`, the most similar first; names that differ only in case or spacing before all others."""
    wanted = squash(name)
    names = list(dict.fromkeys(known))
    ratio = {n: 2.0 if squash(n) == wanted else difflib.SequenceMatcher(None, wanted, squash(n)).ratio() for n in names}
    return tuple(sorted(names, key=lambda n: -ratio[n]))


def suggest(name: str, known: Iterable[str]) -> str | None:
    """The name most likely meant, if one is near enough."""
    names = closest(name, known)
    if names and (
        squash(names[0]) == squash(name) or difflib.SequenceMatcher(None, squash(name), squash(names[0])).ratio() > 0.6
    ):
        return names[0]
    return None


def node_type(name: str, catalog: Catalog) -> tuple[NodeType, NodeAlias | None]:
    """The node type to make for `name`, and the alias that led there; near misses are refused with a suggestion."""
    alias = load_aliases().nodes.get(name)
    if alias is not None and alias.new in catalog and alias.exact:
        found = catalog.node(alias.new or "")
        assert found is not None
        return found, alias
    if (known := catalog.node(name)) is not None:
        return known, None
    if alias is not None:
        suggestion = None if alias.new is None else f"{alias.new} ({alias.hint})" if alias.hint else alias.new
        got = f"{name!r}, gone since Blender {alias.since}" + (f" ({alias.hint})" if alias.new is None else "")
        raise ActionRejected("node_type_replaced", f"a node of Blender {catalog.version}", got, suggestion=suggestion)
    kind = next((text for prefix, text in FOREIGN.items() if name.strip().startswith(prefix)), None)
    expected = "a shader node type such as ShaderNodeTexNoise"
    candidates = closest_types(name, catalog)
    got = f"{name!r}" + (f" ({kind})" if kind else "")
    near = suggest_type(name, catalog, candidates)
    raise ActionRejected("unknown_node_type", expected, got, known=candidates, suggestion=near)


def closest_types(name: str, catalog: Catalog) -> tuple[str, ...]:
    """Node types by likeness of identifier or label, without their prefixes."""
    bare = squash(name)
    for prefix in ("shadernode", *(squash(prefix) for prefix in FOREIGN)):
        bare = bare.removeprefix(prefix)
    labels = {kind: [squash(kind).removeprefix("shadernode")] for kind in catalog.types}
    for kind in catalog.types:
        known = catalog.node(kind)
        assert known is not None
        labels[kind].append(squash(known.label))

    def likeness(kind: str) -> float:
        if squash(kind) == squash(name):
            return 3.0
        return max(difflib.SequenceMatcher(None, bare, text).ratio() for text in labels[kind])

    return tuple(sorted(catalog.types, key=lambda kind: -likeness(kind)))[:12]


def suggest_type(name: str, catalog: Catalog, candidates: tuple[str, ...]) -> str | None:
    """The best candidate when it is near: same but for case and spacing, or most of its letters."""
    best = candidates[0]
    old = next((a for key, a in load_aliases().nodes.items() if squash(key) == squash(name) and a.new in catalog), None)
    if old is not None:
        return old.new
    known = catalog.node(best)
    assert known is not None
    bare = squash(name).removeprefix("shadernode")
    texts = (squash(best).removeprefix("shadernode"), squash(known.label))
    near = max(difflib.SequenceMatcher(None, bare, text).ratio() for text in texts)
    return best if near > 0.6 or squash(best) == squash(name) else None


def known_node(graph: Graph, node_id: str) -> Node:
    """The node with this id."""
    node = graph.nodes.get(node_id) if isinstance(node_id, str) else None
    if node is None:
        ids = tuple(graph.nodes)
        raise ActionRejected(
            "unknown_node",
            "the id of a node of the graph",
            repr(node_id),
            known=closest(str(node_id), ids),
            suggestion=suggest(str(node_id), ids),
        )
    return node


def type_of(node: Node, catalog: Catalog) -> NodeType:
    """The catalog's entry for a node of the graph."""
    found = catalog.node(node.type)
    if found is None:
        raise ActionRejected(
            "unknown_node_type", f"a node type of Blender {catalog.version}", repr(node.type), node=node.id
        )
    return found


def state_of(node: Node, catalog: Catalog) -> SocketState:
    """The sockets that the node has with its properties."""
    state = type_of(node, catalog).state(node.properties)
    if state is None:
        raise ActionRejected(
            "refused_combination", "properties that Blender accepts together", str(dict(node.properties)), node=node.id
        )
    return state


def match(name: str, sockets: tuple[Socket, ...]) -> Socket | None:
    """The socket of this name, else of this identifier, else of this label."""
    for attribute in ("name", "identifier", "label") if name else ():
        for socket in sockets:
            if getattr(socket, attribute) == name:
                return socket
    return None


def find_socket(
    node: Node, name: str, catalog: Catalog, notices: list[Notice], *, output: bool = False
) -> Socket | None:
    """The enabled socket that `name` means, following aliases and near misses, each with a notice; else None."""
    state = state_of(node, catalog)
    enabled = state.enabled_outputs if output else state.enabled_inputs
    found = match(name, enabled)
    # An identifier is exact: where it names a hidden socket, the visible one of that name is not what was meant.
    hidden = state.side(output).get(name)
    if found is not None and (hidden is None or hidden.enabled or found.identifier == name):
        if name not in (found.name, found.label) and found.name in load_aliases().socket_names(node.type, name):
            text = f"{name!r} is named {shown(found)!r} in Blender {catalog.version}"
            notices.append(Notice("alias", text, node.id, found.identifier))
        return found
    if hidden is not None and not hidden.enabled:
        return None
    for other in load_aliases().socket_names(node.type, name):
        found = match(other, enabled)
        if found is not None:
            text = f"{name!r} is {shown(found)!r} in Blender {catalog.version}"
            notices.append(Notice("alias", text, node.id, found.identifier))
            return found
    wanted = squash(name)
    near = [
        socket for socket in enabled if wanted in (squash(socket.name), squash(socket.identifier), squash(socket.label))
    ]
    if wanted and len(near) == 1:
        notices.append(Notice("near_name", f"{name!r} was read as {shown(near[0])!r}", node.id, near[0].identifier))
        return near[0]
    return None


def shown(socket: Socket) -> str:
    """The name to tell people: the label where the interface shows one."""
    return socket.label or socket.name


def names_of(sockets: Iterable[Socket]) -> tuple[str, ...]:
    """Names for `known`; where several share one name, the identifier."""
    listed = list(sockets)
    names = [shown(socket) for socket in listed]
    return tuple(socket.identifier if names.count(shown(socket)) > 1 else shown(socket) for socket in listed)


def reject_socket(
    node: Node, name: str, catalog: Catalog, *, output: bool = False, known: Iterable[str] = ()
) -> ActionRejected:
    """Why there is no such enabled socket: it is disabled now, was removed, or never was."""
    kind, state = type_of(node, catalog), state_of(node, catalog)
    side = "output" if output else "input"
    enabled = names_of(state.enabled_outputs if output else state.enabled_inputs)
    hidden = [s for s in state.side(output).values() if not s.enabled and name in (s.name, s.identifier, s.label)]
    if hidden:
        rules = kind.enabled_when(hidden[0].identifier, output=output)
        how = " and ".join(f"{key} is {' or '.join(map(str, values[:6]))}" for key, values in rules.items())
        expected = (
            f"an enabled {side} of {node.type} ({hidden[0].identifier} is enabled when {how or 'never by a property'})"
        )
        return ActionRejected("socket_disabled", expected, repr(name), known=enabled, node=node.id, socket=name)
    gone = load_aliases().removal(node.type, name)
    if gone:
        return ActionRejected(
            "socket_removed", f"an {side} of {node.type}", f"{name!r}, {gone}", known=enabled, node=node.id
        )
    options = (*enabled, *known)
    expected = f"an {side}{' or property' if known else ''} of {node.type}"
    return ActionRejected(
        "unknown_socket" if not known else "unknown_key",
        expected,
        repr(name),
        known=closest(str(name), options),
        suggestion=suggest(str(name), options),
        node=node.id,
        socket=str(name),
    )


def find_property(node: Node, key: str, catalog: Catalog, notices: list[Notice]) -> Property | None:
    """The property that `key` means, following aliases and near misses, each with a notice; else None."""
    properties: Mapping[str, Property] = type_of(node, catalog).properties
    if key in properties:
        return properties[key]
    new = load_aliases().property_name(node.type, key)
    if new is not None and new in properties:
        notices.append(Notice("alias", f"{key!r} is {new!r} in Blender {catalog.version}", node.id, new))
        return properties[new]
    near = [prop for name, prop in properties.items() if squash(name) == squash(key)]
    if len(near) == 1:
        notices.append(Notice("near_name", f"{key!r} was read as {near[0].name!r}", node.id, near[0].name))
        return near[0]
    return None
