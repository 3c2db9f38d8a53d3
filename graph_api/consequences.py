"""What a changed property does to the rest of the graph: links that die, values that lapse, outputs that switch off."""

from __future__ import annotations

from dataclasses import replace

from graph_api.catalog import Catalog, SocketState
from graph_api.model import Graph, Link, Node, Value
from graph_api.resolve import Notice, shown, state_of
from graph_api.wiring import accepts, input_types, output_type

ACTIVE = "is_active_output"


def link_text(graph: Graph, catalog: Catalog, link: Link) -> str:
    """A link in the names that people see."""

    def name(node_id: str, socket: str, output: bool) -> str:
        found = state_of(graph.nodes[node_id], catalog).side(output).get(socket)
        return f"{node_id}.{shown(found) if found else socket}"

    return f"{name(link.src, link.src_socket, True)} -> {name(link.dst, link.dst_socket, False)}"


def without_retyped_values(node: Node, old: SocketState, new: SocketState) -> tuple[Node, list[Notice]]:
    """Forget the values of sockets whose type changed: Blender makes such sockets anew, with their default."""
    kept: list[dict[str, Value]] = []
    notices: list[Notice] = []
    for output, values in ((False, node.inputs), (True, node.outputs)):
        was, now = old.side(output), new.side(output)
        lost = [name for name in values if name in was and name in now and was[name].type != now[name].type]
        for name in lost:
            text = f"{name} was a {was[name].type} and is a {now[name].type} now: its value is the default again"
            notices.append(Notice("value_reset", text, node.id, name))
        kept.append({name: value for name, value in values.items() if name not in lost})
    return (replace(node, inputs=kept[0], outputs=kept[1]) if notices else node), notices


def with_one_active(graph: Graph, node: Node) -> tuple[Graph, tuple[str, ...]]:
    """Switch off the other outputs of the node's type, as Blender does; also says which."""
    others = [one for one in graph.nodes.values() if one.type == node.type and one.id != node.id]
    off = {one.id: replace(one, properties={**one.properties, ACTIVE: False}) for one in others}
    return replace(graph, nodes={**graph.nodes, **off}), tuple(f"{name}.{ACTIVE}: False" for name in off)


def without_dead_links(graph: Graph, node: Node, catalog: Catalog) -> tuple[Graph, tuple[str, ...]]:
    """Remove the node's links whose sockets are disabled or no longer fit, and say which.

    Blender would keep them, marked invalid, and say nothing.
    """
    state = state_of(node, catalog)

    def dead(link: Link) -> bool:
        ends = [state.outputs.get(link.src_socket)] if link.src == node.id else []
        ends += [state.inputs.get(link.dst_socket)] if link.dst == node.id else []
        if any(end is None or not end.enabled for end in ends):
            return True
        flows = output_type(graph, link.src, link.src_socket, catalog)
        wanted = input_types(graph, link.dst, link.dst_socket, catalog)
        return any(not accepts(flows, kind, catalog) for _, _, kind in wanted)

    lost = [link for link in graph.links if node.id in (link.src, link.dst) and dead(link)]
    if not lost:
        return graph, ()
    kept = tuple(link for link in graph.links if link not in lost)
    return replace(graph, links=kept), tuple(link_text(graph, catalog, link) for link in lost)
