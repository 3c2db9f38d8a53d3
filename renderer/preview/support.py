"""What of a graph the preview draws, and the plan of one that it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from graph_api.catalog import load_catalog
from graph_api.catalog.schema import NodeType, SocketState
from graph_api.model import Graph, Node
from renderer.preview import backend
from renderer.preview.structure import OUTPUT, REROUTE, Linked, Plan, Planner, output_node
from renderer.protocol import CHANNELS

if TYPE_CHECKING:
    from renderer.preview.evaluation import NodeSpec

Reason = tuple[str, str, str]


def plan(graph: Graph) -> Plan:
    """The plan of a supported graph."""
    from renderer.preview.nodes import NODES  # noqa: PLC0415

    output = output_node(graph)
    assert output is not None, "checked by unsupported"
    return Planner(graph, {name: spec.fixed for name, spec in NODES.items()}).plan(output)


def unsupported(graph: Graph, channels: Sequence[str] = CHANNELS, view: str = "flat") -> tuple[Reason, ...]:
    """Why the preview does not draw these channels of a graph in this view.

    One (node, type, reason) for each obstacle, empty when there is none. Nodes that do not reach the output do not
    count. A missing Dr.Jit or LLVM is an obstacle of every graph, named under an empty node.
    """
    missing = backend.missing()
    if missing is not None:
        return (("", "", missing),)
    if view != "flat":
        return (("", "", f"expected the view flat, got {view}: the preview has no world light"),)
    backend.require()
    output = output_node(graph)
    if output is None:
        return (("", OUTPUT, "expected a Material Output, got none"),)
    return tuple(_Check(graph, channels).obstacles(output))


class _Check:
    """One walk over what reaches the output."""

    def __init__(self, graph: Graph, channels: Sequence[str]) -> None:
        self.graph = graph
        self.beauty = "beauty" in channels
        self.catalog = load_catalog(graph.blender_version)
        self.incoming: dict[str, list[tuple[str, str, str]]] = {}
        for link in graph.links:
            self.incoming.setdefault(link.dst, []).append((link.dst_socket, link.src, link.src_socket))

    def obstacles(self, output: Node) -> Iterator[Reason]:
        order = self._reachable(output)
        if order is None:
            yield output.id, output.type, "expected a graph without cycles"
            return
        if not any(socket == "Surface" for socket, _, _ in self.incoming.get(output.id, ())):
            yield output.id, output.type, "nothing is linked to Surface"
        for node in order:
            yield from self._node(node)

    def _reachable(self, output: Node) -> list[Node] | None:
        """Every node that feeds `output`, once; None for a cycle or a link from nowhere."""
        done: dict[str, bool] = {}
        order: list[Node] = []
        stack: list[tuple[str, bool]] = [(output.id, False)]
        while stack:
            name, leaving = stack.pop()
            if leaving:
                done[name] = True
                order.append(self.graph.nodes[name])
                continue
            if name not in self.graph.nodes or done.get(name) is False:
                return None
            if name in done:
                continue
            done[name] = False
            stack.append((name, True))
            stack += [(source, False) for _, source, _ in self.incoming.get(name, ()) if not done.get(source)]
        return order

    def _node(self, node: Node) -> Iterator[Reason]:
        from renderer.preview.nodes import NODES  # noqa: PLC0415
        from renderer.preview.surface import SHADER_TREE  # noqa: PLC0415

        kind = self.catalog.node(node.type)
        if kind is None:
            yield node.id, node.type, f"Blender {self.graph.blender_version} has no such node"
            return
        if node.type in (OUTPUT, REROUTE):
            return
        spec = NODES.get(node.type)
        if spec is None and node.type not in SHADER_TREE:
            yield node.id, node.type, "the preview does not draw this node"
            return
        state = kind.state(node.properties)
        if state is None:
            yield node.id, node.type, "these properties do not go together"
            return
        yield from self._links(node, state)
        yield from self._data(node, kind)
        if spec is not None:
            yield from self._options(node, kind, spec)
        elif self.beauty:
            yield from self._plain(node, state)

    def _data(self, node: Node, kind: NodeType) -> Iterator[Reason]:
        """Properties that name something outside the graph."""
        for name, prop in kind.properties.items():
            if prop.type in ("datablock", "string") and node.properties.get(name, prop.default) not in (
                "",
                prop.default,
            ):
                yield node.id, node.type, f"{name} {node.properties[name]!r} names data that the preview does not have"

    def _options(self, node: Node, kind: NodeType, spec: NodeSpec) -> Iterator[Reason]:
        """Options, outputs and links that the node's function does not cover."""
        linked = {socket for socket, _, _ in self.incoming.get(node.id, ())}
        for name in spec.unlinkable:
            if name in linked:
                yield node.id, node.type, f"a link into {name} is left to Blender"
        for name, items in spec.options.items():
            if name not in kind.properties:
                continue
            value = node.properties.get(name, kind.properties[name].default)
            if value not in items:
                yield node.id, node.type, f"{name} {value} is left to Blender; drawn are {', '.join(items)}"
        if spec.outputs is not None:
            for link in self.graph.links_from(node.id):
                if link.src_socket not in spec.outputs:
                    yield node.id, node.type, f"output {link.src_socket} is left to Blender"

    def _links(self, node: Node, state: SocketState) -> Iterator[Reason]:
        for socket, source, output in self.incoming.get(node.id, ()):
            if socket not in state.inputs or not state.inputs[socket].enabled:
                yield node.id, node.type, f"{source}.{output} is linked to {socket}, which is not an enabled input"

    def _plain(self, node: Node, state: SocketState) -> Iterator[Reason]:
        """Inputs of a shader that must keep the value that switches their effect off, for beauty."""
        from renderer.preview.surface import required_inputs  # noqa: PLC0415

        linked = {socket for socket, _, _ in self.incoming.get(node.id, ())}
        for name, value in required_inputs(node.type).items():
            if name not in state.inputs:
                continue
            if name in linked or node.inputs.get(name, state.inputs[name].default) != value:
                yield node.id, node.type, f"beauty with {name} other than {value:g} is left to Blender"


def constraints(graph_plan: Plan) -> Mapping[int, tuple[float, str]]:
    """For beauty: rows of the parameter table that must hold a value, with the parameter's name."""
    from renderer.preview.surface import required_inputs  # noqa: PLC0415

    types = dict(zip(graph_plan.nodes, (step.type for step in graph_plan.structure.steps), strict=True))
    return {
        parameter.row: (required[parameter.key], f"{parameter.node}.{parameter.key}")
        for parameter in graph_plan.parameters
        if parameter.key in (required := required_inputs(types[parameter.node]))
    }


def linked_constraints(graph_plan: Plan) -> list[str]:
    """For beauty: inputs that must hold a value and are linked instead."""
    from renderer.preview.surface import required_inputs  # noqa: PLC0415

    return [
        f"a link into {node}.{name}"
        for node, step in zip(graph_plan.nodes, graph_plan.structure.steps, strict=True)
        for name, _, source in step.inputs
        if isinstance(source, Linked) and name in required_inputs(step.type)
    ]


__all__ = ["Reason", "constraints", "linked_constraints", "plan", "unsupported"]
