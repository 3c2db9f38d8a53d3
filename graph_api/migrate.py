"""A graph of one Blender version as a graph of another: renamed nodes, sockets and properties, and moved defaults."""

from __future__ import annotations

from dataclasses import dataclass, replace

from graph_api.catalog import Catalog, NodeAlias, SocketState, load_aliases, load_catalog
from graph_api.model import Graph, Link, Node, Value
from graph_api.resolve import Notice, find_property, find_socket


@dataclass(frozen=True)
class Migrated:
    """The graph for the new version, and what was renamed, pinned or lost on the way."""

    graph: Graph
    notices: tuple[Notice, ...] = ()


def migrate(graph: Graph, version: str) -> Migrated:
    """Move a graph to the catalog of `version`; the same version gives the same graph back.

    Names follow the alias table. A value that was left at its default is pinned where the new version's default
    differs. What the new version does not have is dropped with a notice; a node type without successor is kept, so
    that validation names it.
    """
    if graph.blender_version == version:
        return Migrated(graph)
    old, new = load_catalog(graph.blender_version), load_catalog(version)
    notices: list[Notice] = []
    nodes: dict[str, Node] = {}
    renames: dict[tuple[str, str, bool], str | None] = {}
    for node in graph.nodes.values():
        nodes[node.id] = _node(node, old, new, notices, renames)
    links = []
    for link in graph.links:
        src = renames.get((link.src, link.src_socket, True), link.src_socket)
        dst = renames.get((link.dst, link.dst_socket, False), link.dst_socket)
        if src is None or dst is None:
            text = f"the link {link.src}.{link.src_socket} -> {link.dst}.{link.dst_socket} has no place in {version}"
            notices.append(Notice("link_died", text, link.dst, link.dst_socket))
        else:
            links.append(Link(link.src, src, link.dst, dst))
    return Migrated(Graph(version, nodes, tuple(links)), tuple(notices))


def _node(
    node: Node, old: Catalog, new: Catalog, notices: list[Notice], renames: dict[tuple[str, str, bool], str | None]
) -> Node:
    alias = load_aliases().nodes.get(node.type)
    if node.type in new:
        alias = None
    elif alias is None or alias.new not in new:
        notices.append(Notice("unknown_node_type", f"Blender {new.version} has no {node.type}", node.id))
        return node
    node_type = node.type if alias is None or alias.new is None else alias.new
    fresh = Node(node.id, node_type, role=node.role, label=node.label)
    if alias is not None:
        text = f"{node.type} is {node_type} since Blender {alias.since}"
        notices.append(Notice("alias", text + (f": {alias.hint}" if alias.hint else ""), node.id))
        fresh = replace(fresh, properties=dict(alias.properties), inputs=dict(alias.values))
    fresh = replace(fresh, properties={**fresh.properties, **_properties(node, fresh, alias, old, new, notices)})
    return _values(node, fresh, alias, (old, new), notices, renames)


def _properties(
    node: Node, fresh: Node, alias: NodeAlias | None, old: Catalog, new: Catalog, notices: list[Notice]
) -> dict[str, Value]:
    """The properties that are set, and those whose default moved."""
    before, after = old.node(node.type), new.node(fresh.type)
    assert after is not None, "the caller looked it up"
    kept: dict[str, Value] = {}
    for name, value in node.properties.items():
        prop = find_property(fresh, alias.renamed.get(name, name) if alias else name, new, notices)
        if prop is None:
            notices.append(Notice("property_lost", f"{fresh.type} of {new.version} has no {name}", node.id, name))
            continue
        now = load_aliases().item(fresh.type, prop.name, str(value)) if value not in prop.items and prop.items else None
        if now is not None:
            notices.append(Notice("alias", f"{prop.name} {value!r} is now {now!r}", node.id, prop.name))
        kept[prop.name] = value if now is None else now
    for name, prop in before.properties.items() if before is not None and alias is None else ():
        later = after.properties.get(name)
        if later is not None and name not in kept and prop.default != later.default:
            known = not later.items or prop.default in later.items
            former = prop.default if known else load_aliases().item(fresh.type, name, str(prop.default))
            if former is not None:
                kept[name] = former
                notices.append(Notice("pinned", f"{name} keeps its former default {former!r}", node.id, name))
    return kept


def _state(node: Node, catalog: Catalog) -> SocketState | None:
    kind = catalog.node(node.type)
    return kind.state(node.properties) if kind is not None else None


def _values(
    node: Node,
    fresh: Node,
    alias: NodeAlias | None,
    catalogs: tuple[Catalog, Catalog],
    notices: list[Notice],
    renames: dict[tuple[str, str, bool], str | None],
) -> Node:
    """The values under their new identifiers; `renames` learns where each socket went."""
    old, new = catalogs
    before, after = _state(node, old), _state(fresh, new)
    if after is None:
        return replace(fresh, inputs=dict(node.inputs), outputs=dict(node.outputs))
    moved: list[dict[str, Value]] = [dict(fresh.inputs), dict(fresh.outputs)]
    for output, values in ((False, node.inputs), (True, node.outputs)):
        sockets = before.side(output) if before is not None else {}
        mapping = (alias.outputs if output else alias.inputs) if alias is not None else {}
        for identifier in dict.fromkeys((*sockets, *values)):
            target: str | None = mapping.get(identifier, identifier)
            if target not in after.side(output):
                found = find_socket(fresh, str(target), new, notices, output=output)
                target = found.identifier if found is not None else None
            renames[(node.id, identifier, output)] = target
            if target is None:
                if identifier in values:
                    text = f"{fresh.type} of {new.version} has no {identifier}"
                    notices.append(Notice("socket_lost", text, node.id, identifier))
                continue
            if identifier in values:
                moved[output][target] = values[identifier]
            elif alias is None and identifier in sockets:
                default, later = sockets[identifier].default, after.side(output)[target].default
                if default != later and default is not None and later is not None:
                    moved[output][target] = default
                    text = f"{target} keeps its former default {default!r}"
                    notices.append(Notice("pinned", text, node.id, target))
    return replace(fresh, inputs=moved[0], outputs=moved[1])
