"""What differs between two graphs: nodes, values and links, matched by id first and by likeness then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from graph_api.canonical import plain
from graph_api.catalog import load_catalog
from graph_api.model import Graph, Link, Node, Value
from graph_api.summary import brief, node_values


@dataclass(frozen=True)
class Change:
    """One value of a node that differs; texts as in the summary, empty for the default."""

    node: str
    key: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.node}.{self.key}: {self.before or 'default'} -> {self.after or 'default'}"


@dataclass(frozen=True)
class Difference:
    """From one graph to another. Nodes bear the ids of the second graph, removed ones that of the first.

    `renamed`: id in the first graph to id in the second, where they differ.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[Change, ...]
    linked: tuple[str, ...]
    unlinked: tuple[str, ...]
    renamed: Mapping[str, str]

    @property
    def empty(self) -> bool:
        """Whether the two graphs are the same material."""
        return not (self.added or self.removed or self.changed or self.linked or self.unlinked)

    def lines(self) -> list[str]:
        """For people: one line for each difference."""
        if self.empty:
            return ["no difference"]
        return [
            *(f"+ node {name}" for name in self.added),
            *(f"- node {name}" for name in self.removed),
            *(f"~ {change}" for change in self.changed),
            *(f"+ link {text}" for text in self.linked),
            *(f"- link {text}" for text in self.unlinked),
        ]

    def marks(self, *, after: bool) -> dict[str, str]:
        """Rings for a drawing of the second graph (`after`) or of the first: see `graph_api.svg.to_svg`."""
        back = {} if after else {new: old for old, new in self.renamed.items()}
        found = {back.get(change.node, change.node): "changed" for change in self.changed}
        return found | dict.fromkeys(self.added if after else self.removed, "added" if after else "removed")


def compare(before: Graph, after: Graph) -> Difference:
    """The difference from `before` to `after`, which may belong to different Blender versions."""
    names = _matched(before, after)
    first = _under(before, names)
    old, new = set(first.nodes), set(after.nodes)
    changed = [change for name in after.nodes if name in old for change in _changes(name, first, after)]
    links = {_text(link) for link in first.links}, {_text(link) for link in after.links}
    back = {new: old for old, new in names.items()}
    return Difference(
        added=tuple(name for name in after.nodes if name not in old),
        removed=tuple(back.get(name, name) for name in first.nodes if name not in new),
        changed=tuple(changed),
        linked=tuple(_text(link) for link in after.links if _text(link) not in links[0]),
        unlinked=tuple(_text(link) for link in first.links if _text(link) not in links[1]),
        renamed={old: new for old, new in names.items() if old != new and new in after.nodes},
    )


def _matched(before: Graph, after: Graph) -> dict[str, str]:
    """Each node of `before` to its partner in `after`, or to a name that `after` does not have."""
    names = {n: n for n, node in before.nodes.items() if n in after.nodes and after.nodes[n].type == node.type}
    free = [name for name in after.nodes if name not in names.values()]
    for name, node in before.nodes.items():
        if name in names:
            continue
        alike = [one for one in free if after.nodes[one].type == node.type]
        if alike:
            best = max(alike, key=lambda one: _likeness(node, after.nodes[one], before, after))
            free.remove(best)
            names[name] = best
        else:
            names[name] = name if name not in after.nodes else f"{name} (before)"
    return names


def _likeness(a: Node, b: Node, before: Graph, after: Graph) -> float:
    """How much two nodes of one type have in common."""
    values = sum(plain(a.inputs.get(key)) == plain(value) for key, value in b.inputs.items())
    values += sum(plain(a.properties.get(key)) == plain(value) for key, value in b.properties.items())
    fed = {link.dst_socket for link in before.links_to(a.id)} & {link.dst_socket for link in after.links_to(b.id)}
    return 2.0 * (a.role == b.role) + 2.0 * (a.label == b.label) + values + len(fed)


def _under(graph: Graph, names: Mapping[str, str]) -> Graph:
    """The graph with its nodes under other ids."""
    links = tuple(Link(names[one.src], one.src_socket, names[one.dst], one.dst_socket) for one in graph.links)
    return replace(graph, nodes={names[n]: replace(node, id=names[n]) for n, node in graph.nodes.items()}, links=links)


def _changes(name: str, before: Graph, after: Graph) -> list[Change]:
    a, b = before.nodes[name], after.nodes[name]
    old = node_values(a, before, load_catalog(before.blender_version))
    new = node_values(b, after, load_catalog(after.blender_version))
    found = [
        Change(name, key, _shown(old.get(key)), _shown(new.get(key)))
        for key in dict.fromkeys((*old, *new))
        if plain(old.get(key)) != plain(new.get(key))
    ]
    return found + [
        Change(name, key, x, y) for key, x, y in (("role", a.role, b.role), ("label", a.label, b.label)) if x != y
    ]


def _shown(value: Value | None) -> str:
    return "" if value is None else brief(value)


def _text(link: Link) -> str:
    return f"{link.src}.{link.src_socket} -> {link.dst}.{link.dst_socket}"
