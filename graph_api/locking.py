"""Locks in a user's words: `NODE`, `NODE.SOCKET`, the name of a channel, or everything but a channel.

A channel is what feeds certain inputs of the shaders that reach the output (`data/channels.json`). Locking one keeps
those inputs, their links and every node behind them; "only" one keeps everything else, so that nodes may be added,
changed and removed for that channel alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib import resources

from graph_api.catalog import Catalog, load_catalog
from graph_api.errors import ActionRejected
from graph_api.faces import kind_of
from graph_api.model import Graph, Node
from graph_api.resolve import find_property, find_socket, known_node, reject_socket, state_of, type_of
from graph_api.rules import Lock
from graph_api.wiring import active_output, upstream

_MIXES = ("ShaderNodeMixShader", "ShaderNodeAddShader")


@cache
def channels() -> Mapping[str, tuple[str, ...]]:
    """The channels that can be locked, with the shader inputs that carry each."""
    text = resources.files("graph_api").joinpath("data", "channels.json").read_text(encoding="utf-8")
    return {name: tuple(sockets) for name, sockets in json.loads(text).items()}


def locks_for(graph: Graph, locked: Iterable[str] = (), only: Iterable[str] = ()) -> tuple[Lock, ...]:
    """The locks that these words mean on this graph.

    `locked`: node ids, `node.Socket`, or channels; `only`: channels, of which alone something may change. A word that
    is both a node's id and a channel means the node. Raises `ActionRejected` naming what is known.
    """
    catalog = load_catalog(graph.blender_version)
    found: dict[Lock, None] = {}
    for word in locked:
        found |= dict.fromkeys(_locks(graph, word.strip(), catalog))
    wanted = tuple(only)
    for word in wanted:
        if word not in channels():
            raise ActionRejected("unknown_channel", "a channel", repr(word), known=tuple(channels()))
    if wanted:
        found |= dict.fromkeys(_all_but(graph, wanted, catalog))
    return tuple(found)


def _locks(graph: Graph, word: str, catalog: Catalog) -> list[Lock]:
    if word in graph.nodes:
        return [Lock(word)]
    if word in channels():
        return _channel(graph, word)
    name, dot, socket = word.partition(".")
    if not dot:
        known = (*graph.nodes, *channels())
        raise ActionRejected("unknown_node", "a node, node.Socket or a channel to lock", repr(word), known=known)
    node = known_node(graph, name)
    sides = (find_socket(node, socket, catalog, [], output=side) for side in (False, True))
    if not any(sides) and find_property(node, socket, catalog, []) is None:
        raise reject_socket(node, socket, catalog, known=tuple(type_of(node, catalog).properties))
    return [Lock(node.id, socket)]


def _shaders(graph: Graph) -> tuple[list[Node], list[Node]]:
    """The shaders that reach the output, and what mixes them on the way."""
    output = active_output(graph)
    used = upstream(graph, [output.id]) if output is not None else frozenset()
    nodes = [node for node in graph.nodes.values() if node.id in used and kind_of(node.type) == "SHADER"]
    return [n for n in nodes if n.type not in _MIXES], [n for n in nodes if n.type in _MIXES]


def _ends(graph: Graph, channel: str) -> list[tuple[Node, str]]:
    """The inputs, by identifier, that carry a channel."""
    catalog = load_catalog(graph.blender_version)
    output = active_output(graph)
    found = []
    for node in (*_shaders(graph)[0], *([output] if output is not None else [])):
        for socket in state_of(node, catalog).enabled_inputs:
            if socket.name in channels()[channel]:
                found.append((node, socket.identifier))
    return found


def _channel(graph: Graph, channel: str) -> list[Lock]:
    """The channel's inputs, all behind them, and the way from the shaders to the output."""
    locks: list[Lock] = []
    behind: set[str] = set()
    for node, socket in _ends(graph, channel):
        locks.append(Lock(node.id, socket))
        link = graph.link_into(node.id, socket)
        behind |= upstream(graph, [link.src]) if link is not None else set()
    output = active_output(graph)
    way = [] if output is None else [Lock(output.id, key) for key in ("Surface", "target", "mute")]
    mixed = [Lock(node.id) for node in _shaders(graph)[1]]
    kept = [Lock(name) for name in graph.nodes if name in behind]
    muted = [Lock(node.id, "mute") for node in _shaders(graph)[0]]
    return [*locks, *way, *muted, *mixed, *kept]


def _all_but(graph: Graph, free: tuple[str, ...], catalog: Catalog) -> list[Lock]:
    """Everything except the inputs of `free` channels and the nodes that serve nothing else."""
    ends = {(node.id, socket) for channel in free for node, socket in _ends(graph, channel)}
    feeding = {link.src for link in graph.links if (link.dst, link.dst_socket) in ends}
    candidates = upstream(graph, feeding)
    # A node that also feeds something locked is locked, and with it all that feeds it.
    rest = replace(graph, links=tuple(one for one in graph.links if (one.dst, one.dst_socket) not in ends))
    others = [link.src for link in rest.links if link.dst not in candidates]
    loose = candidates - upstream(rest, others)
    locks: list[Lock] = []
    holders = {name for name, _ in ends}
    for node in graph.nodes.values():
        if node.id in loose:
            continue
        if node.id not in holders:
            locks.append(Lock(node.id))
            continue
        kind = type_of(node, catalog)
        keys = [socket.identifier for socket in state_of(node, catalog).enabled_inputs]
        locks += [Lock(node.id, key) for key in keys if (node.id, key) not in ends]
        locks += [Lock(node.id, name) for name in kind.properties]
    return locks
