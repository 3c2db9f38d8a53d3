"""One edit of a graph: `apply(graph, action)` gives a new graph, or raises and leaves the old one as it is.

Atomic by construction: graphs are immutable, so the old one is the exact undo.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from graph_api.actions import AddNode, Connect, Disconnect, Edit, RemoveNode, SetParam
from graph_api.catalog import Catalog, Property, Socket, load_catalog
from graph_api.coerce import PROPERTY_COERCIONS, Target, short, socket_value, to_text
from graph_api.consequences import ACTIVE, link_text, with_one_active, without_dead_links, without_retyped_values
from graph_api.depth import DEEPEST, too_deep
from graph_api.errors import ActionRejected
from graph_api.ids import acceptable, fresh_id, safe_id
from graph_api.model import ROLES, Graph, Link, Node, Value
from graph_api.resolve import (
    OUTPUT_VALUES,
    Notice,
    closest,
    find_property,
    find_socket,
    known_node,
    match,
    node_type,
    reject_socket,
    shown,
    state_of,
    suggest,
    type_of,
)
from graph_api.rules import Rules
from graph_api.structures import CURVE_FIELDS, RAMP_FIELDS, structure
from graph_api.wiring import REROUTE, accepts, input_types, output_type, reaches

NO_RULES = Rules()


@dataclass(frozen=True)
class Applied:
    """The new graph, what changed in words, what was understood on the way, and the node concerned."""

    graph: Graph
    changes: tuple[str, ...]
    notices: tuple[Notice, ...] = ()
    node: str | None = None

    @property
    def changed(self) -> bool:
        """Whether the edit made a difference."""
        return bool(self.changes)


@dataclass
class _Work:
    """One edit in progress."""

    graph: Graph
    catalog: Catalog
    notices: list[Notice]

    def text(self, link: Link) -> str:
        """A link of the graph in words."""
        return link_text(self.graph, self.catalog, link)


def apply(graph: Graph, action: Edit, catalog: Catalog | None = None, rules: Rules = NO_RULES) -> Applied:
    """Apply one edit.

    `catalog` defaults to the graph's Blender version. Raises `ActionRejected` with a code, what was expected and what
    is known; the graph given is untouched whatever happens.
    """
    handler = _HANDLERS.get(type(action))
    if handler is None:
        expected = "one of the edits (render, inspect, finish and note belong to the environment)"
        raise ActionRejected("not_an_edit", expected, type(action).__name__, known=[kind.op for kind in _HANDLERS])
    work = _Work(graph, load_catalog(graph.blender_version) if catalog is None else catalog, [])
    result = handler(work, action)
    if result.graph is not graph:
        rules.check(graph, result.graph, work.catalog)
    return result


def _done(work: _Work, graph: Graph, node: str, *changes: str) -> Applied:
    return Applied(graph, changes, tuple(work.notices), node)


def _nothing(work: _Work, node: str, message: str) -> Applied:
    work.notices.append(Notice("no_change", message, node))
    return Applied(work.graph, (), tuple(work.notices), node)


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise ActionRejected("bad_argument", f"text as {what}", short(value))
    return value


def _add_node(work: _Work, action: AddNode) -> Applied:
    kind, alias = node_type(_text(action.type, "type"), work.catalog)
    taken = work.graph.nodes
    wanted = fresh_id(kind.label, taken) if action.id is None else _text(action.id, "id")
    if wanted in taken:
        free = fresh_id(wanted, taken)
        raise ActionRejected("id_taken", "an id that is not in use", repr(wanted), suggestion=free, node=wanted)
    if not acceptable(wanted):
        expected = 'an id of 1 to 64 printable characters without any of . / \\ : * ? " < > |'
        raise ActionRejected("bad_id", expected, short(wanted), suggestion=fresh_id(safe_id(wanted), taken))
    if action.role not in ROLES:
        roles = tuple(role for role in ROLES if role)
        raise ActionRejected(
            "bad_role", "a role", short(action.role), known=roles, suggestion=suggest(str(action.role), roles)
        )
    node = Node(wanted, kind.type, role=action.role)
    if alias is not None:
        properties = {name: value for name, value in alias.properties.items() if name in kind.properties}
        node = replace(node, properties=properties, inputs=dict(alias.values))
        settings = "".join(f", {name} {value}" for name, value in properties.items())
        text = f"{alias.old} is {kind.type}{settings} since Blender {alias.since}"
        work.notices.append(Notice("alias", text, wanted))
    if ACTIVE in kind.properties and any(one.type == kind.type for one in work.graph.nodes.values()):
        # As in Blender: the first output of a type is the active one, later ones wait until they are made active.
        node = replace(node, properties={**node.properties, ACTIVE: False})
    return _done(work, work.graph.with_node(node), wanted, f"added {wanted} ({kind.type})")


def _source(work: _Work, src: str) -> tuple[Node, Socket]:
    """The output that `node` or `node.Output` means; ids win over dots."""
    if src in work.graph.nodes:
        node, name = work.graph.nodes[src], ""
    else:
        cuts = [i for i, c in enumerate(src) if c == "." and src[:i] in work.graph.nodes]
        if not cuts:
            node, name = known_node(work.graph, src.partition(".")[0]), src.partition(".")[2]
        else:
            node, name = work.graph.nodes[src[: cuts[-1]]], src[cuts[-1] + 1 :]
    enabled = state_of(node, work.catalog).enabled_outputs
    if not enabled:
        raise ActionRejected("no_outputs", "a node that has outputs", f"{node.id} ({node.type})", node=node.id)
    if not name:
        return node, enabled[0]
    found = find_socket(node, name, work.catalog, work.notices, output=True)
    if found is None:
        raise reject_socket(node, name, work.catalog, output=True)
    return node, found


def _connect(work: _Work, action: Connect) -> Applied:
    source, output = _source(work, _text(action.src, "src"))
    target = known_node(work.graph, action.dst)
    slot = find_socket(target, _text(action.slot, "slot"), work.catalog, work.notices)
    if slot is None:
        raise reject_socket(target, action.slot, work.catalog)
    link = Link(source.id, output.identifier, target.id, slot.identifier)
    old = work.graph.link_into(target.id, slot.identifier)
    if old == link:
        return _nothing(work, target.id, f"{work.text(link)} is there already")
    circle = reaches(work.graph.links, target.id, source.id)
    if circle:
        got = " -> ".join((*circle, target.id))
        raise ActionRejected("cycle", "a link that closes no circle", got, node=target.id, socket=slot.name)
    _check_types(work, source, output, target, slot)
    kept = tuple(one for one in work.graph.links if one != old)
    changes = [f"linked {work.text(link)}"]
    if old is not None:
        changes.append(f"replaced {work.text(old)}")
        text = f"an input takes one link: {work.text(old)} was replaced"
        work.notices.append(Notice("link_replaced", text, target.id, slot.identifier))
    return _done(work, replace(work.graph, links=(*kept, link)), target.id, *changes)


def _check_types(work: _Work, source: Node, output: Socket, target: Node, slot: Socket) -> None:
    """Refuse what Blender does not convert, also behind reroutes."""
    flows = output_type(work.graph, source.id, output.identifier, work.catalog)
    if source.type == REROUTE and work.graph.links_to(source.id) == ():
        return
    for node, socket, wanted in input_types(work.graph, target.id, slot.identifier, work.catalog):
        if not accepts(flows, wanted, work.catalog):
            expected = f"a {wanted} output for {node}.{socket}"
            got = f"{source.id}.{shown(output)} ({flows})"
            hint = "ShaderNodeEmission or a BSDF between them" if wanted == "SHADER" else None
            raise ActionRejected("type_mismatch", expected, got, suggestion=hint, node=node, socket=socket)


def _set_param(work: _Work, action: SetParam) -> Applied:
    node = known_node(work.graph, action.node)
    key = _text(action.key, "key")
    if too_deep(action.value):
        raise Target(node.id, key).refuse("bad_value", f"a value of at most {DEEPEST} levels", "a deeper one")
    for find in _FINDERS:
        result = find(work, node, key, action.value)
        if result is not None:
            return result
    raise reject_socket(node, key, work.catalog, known=tuple(type_of(node, work.catalog).properties))


def _exact_input(work: _Work, node: Node, key: str, value: object) -> Applied | None:
    if match(key, state_of(node, work.catalog).enabled_inputs) is None:
        return None
    socket = find_socket(node, key, work.catalog, work.notices)
    return None if socket is None else _set_input(work, node, socket, value)


def _exact_property(work: _Work, node: Node, key: str, value: object) -> Applied | None:
    prop = type_of(node, work.catalog).properties.get(key)
    return None if prop is None else _set_property(work, node, prop, value)


def _exact_output(work: _Work, node: Node, key: str, value: object) -> Applied | None:
    if node.type not in OUTPUT_VALUES:
        return None
    output = match(key, state_of(node, work.catalog).enabled_outputs)
    return None if output is None else _set_output(work, node, output, value)


def _label(work: _Work, node: Node, key: str, value: object) -> Applied | None:
    if key != "label":
        return None
    label = to_text(value, Target(node.id, key))
    return _store(work, node, replace(node, label=label), key, node.label, label)


def _nested(work: _Work, node: Node, key: str, value: object) -> Applied | None:
    """`color_ramp.interpolation`, or `interpolation` alone: one field of a ramp or a curve."""
    head, _, tail = key.rpartition(".")
    for name, prop in type_of(node, work.catalog).properties.items():
        known = {"ramp": RAMP_FIELDS, "curve": CURVE_FIELDS}.get(prop.type, ())
        if tail in known and head in ("", name):
            return _set_property(work, node, prop, {tail: value})
    return None


def _meant_input(work: _Work, node: Node, key: str, value: object) -> Applied | None:
    socket = find_socket(node, key, work.catalog, work.notices)
    return None if socket is None else _set_input(work, node, socket, value)


def _meant_property(work: _Work, node: Node, key: str, value: object) -> Applied | None:
    prop = find_property(node, key, work.catalog, work.notices)
    return None if prop is None else _set_property(work, node, prop, value)


def _meant_output(work: _Work, node: Node, key: str, value: object) -> Applied | None:
    if node.type not in OUTPUT_VALUES:
        return None
    output = find_socket(node, key, work.catalog, work.notices, output=True)
    return None if output is None else _set_output(work, node, output, value)


# What a key may mean, in this order: exact names before aliases and near misses, so that none is shadowed.
_FINDERS = (
    _exact_input,
    _exact_property,
    _exact_output,
    _label,
    _nested,
    _meant_input,
    _meant_property,
    _meant_output,
)


def _changed(before: Mapping[str, Value], key: str, value: Value) -> dict[str, Value]:
    return {**before, key: value}


def _store(work: _Work, old: Node, new: Node, key: str, before: object, after: object) -> Applied:
    if before == after and type(before) is type(after):
        return _nothing(work, old.id, f"{old.id}.{key} is {short(after)} already")
    return _done(work, work.graph.with_node(new), old.id, f"{old.id}.{key}: {short(before)} -> {short(after)}")


def _set_input(work: _Work, node: Node, socket: Socket, value: object) -> Applied:
    if socket.hide_value and socket.default is not None:
        expected = f"a link into {socket.name}, whose own value Blender ignores"
        raise ActionRejected("no_value", expected, short(value), node=node.id, socket=socket.name)
    new, notices = socket_value(value, socket, node)
    work.notices.extend(notices)
    feed = work.graph.link_into(node.id, socket.identifier)
    if feed is not None:
        text = f"{work.text(feed)} feeds this input: the value has no effect while it is linked"
        work.notices.append(Notice("linked", text, node.id, socket.identifier))
    before = node.inputs.get(socket.identifier, socket.default)
    changed = replace(node, inputs=_changed(node.inputs, socket.identifier, new))
    return _store(work, node, changed, shown(socket), before, new)


def _set_output(work: _Work, node: Node, socket: Socket, value: object) -> Applied:
    new, notices = socket_value(value, socket, node)
    work.notices.extend(notices)
    before = node.outputs.get(socket.identifier, socket.default)
    changed = replace(node, outputs=_changed(node.outputs, socket.identifier, new))
    return _store(work, node, changed, shown(socket), before, new)


def _set_property(work: _Work, node: Node, prop: Property, value: object) -> Applied:
    target = Target(node.id, prop.name)
    reader = PROPERTY_COERCIONS.get(prop.type)
    new = structure(value, prop, node, work.catalog, target) if reader is None else reader(value, prop, node, target)
    work.notices.extend(target.notices)
    changed = replace(node, properties=_changed(node.properties, prop.name, new))
    kind = type_of(node, work.catalog)
    state = kind.state(changed.properties) if prop.name in kind.deciding else state_of(node, work.catalog)
    if state is None:
        others = {
            name: node.properties.get(name, kind.properties[name].default)
            for name in kind.deciding
            if name != prop.name
        }
        expected = f"a {prop.name} that goes with {', '.join(f'{n} {v}' for n, v in others.items())}"
        raise ActionRejected(
            "refused_combination", expected, short(new), known=prop.items, node=node.id, socket=prop.name
        )
    changed, notices = without_retyped_values(changed, state_of(node, work.catalog), state)
    work.notices.extend(notices)
    result = _store(work, node, changed, prop.name, node.properties.get(prop.name, prop.default), new)
    if not result.changed:
        return result
    if prop.name == ACTIVE and new is True:
        graph, changes = with_one_active(result.graph, changed)
        return replace(result, graph=graph, changes=(*result.changes, *changes))
    if prop.name in kind.deciding:
        graph, lost = without_dead_links(result.graph, changed, work.catalog)
        dead = [Notice("link_died", f"{text}: its socket is disabled now", node.id) for text in lost]
        changes = tuple(f"removed the link {text}" for text in lost)
        return Applied(graph, (*result.changes, *changes), (*result.notices, *dead), node.id)
    return result


def _remove_node(work: _Work, action: RemoveNode) -> Applied:
    node = known_node(work.graph, action.node)
    lost = [link for link in work.graph.links if node.id in (link.src, link.dst)]
    kept = tuple(link for link in work.graph.links if link not in lost)
    nodes = {name: one for name, one in work.graph.nodes.items() if name != node.id}
    changes = [
        f"removed {node.id} ({node.type})",
        *(f"removed the link {work.text(link)}" for link in lost),
    ]
    return _done(work, replace(work.graph, nodes=nodes, links=kept), node.id, *changes)


def _disconnect(work: _Work, action: Disconnect) -> Applied:
    target = known_node(work.graph, action.dst)
    name = _text(action.slot, "slot")
    slot = find_socket(target, name, work.catalog, work.notices)
    if slot is None:
        raise reject_socket(target, name, work.catalog)
    old = work.graph.link_into(target.id, slot.identifier)
    if old is None:
        linked = tuple(link.dst_socket for link in work.graph.links_to(target.id))
        expected = f"a linked input of {target.id}"
        raise ActionRejected(
            "not_linked", expected, repr(name), known=closest(name, linked), node=target.id, socket=slot.name
        )
    kept = tuple(link for link in work.graph.links if link != old)
    return _done(work, replace(work.graph, links=kept), target.id, f"removed the link {work.text(old)}")


_HANDLERS: dict[type[Any], Callable[[_Work, Any], Applied]] = {
    AddNode: _add_node,
    Connect: _connect,
    SetParam: _set_param,
    RemoveNode: _remove_node,
    Disconnect: _disconnect,
}
