"""Nodes that do not pay: parts of the graph whose absence the judge hardly sees are removed before the end."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from graph_api.actions import Connect, Edit, RemoveNode
from graph_api.model import Graph, Link
from material_agent.actors.builtin.search import Searcher
from material_agent.context import Evaluation

COMBINERS = frozenset({"ShaderNodeMath", "ShaderNodeVectorMath", "ShaderNodeMix"})
"""Node types that bring branches together: with one input in its place, such a node and the other branches are gone."""
SHARES = frozenset({"Factor", "Factor_Float", "Factor_Vector", "Fac"})
"""Inputs that say how much of a branch counts; what feeds them is no branch."""

MOST = 8
"""At most so many cuts are tried at a time, those of most nodes first."""


@dataclass(frozen=True)
class Cut:
    """Edits that put one input of `node` in its place, the nodes that this removes, and the reward of what is left."""

    node: str
    edits: tuple[Edit, ...]
    gone: tuple[str, ...]
    reward: float = 0.0


def cuts(graph: Graph, keep: Collection[str], whole: Collection[str] = ()) -> Iterator[Cut]:
    """Every way to put one linked input of a combining node in its place.

    Nodes of `keep` are never removed, though they may be left without a use; nodes of `whole` stay in use.
    """
    used = _used(graph, graph.links)
    for node in graph.nodes.values():
        if node.type not in COMBINERS:
            continue
        leaving = graph.links_from(node.id)
        for link in graph.links_to(node.id):
            if link.dst_socket in SHARES or not leaving:
                continue
            wires = tuple(Connect(f"{link.src}.{link.src_socket}", out.dst, out.dst_socket) for out in leaving)
            rewired = tuple(
                Link(link.src, link.src_socket, other.dst, other.dst_socket) if other in leaving else other
                for other in graph.links
            )
            lost = used - _used(graph, rewired)
            gone = tuple(sorted(lost - set(keep)))
            if node.id in gone and not lost & set(whole):
                yield Cut(node.id, (*wires, *(RemoveNode(name) for name in gone)), gone)


def _used(graph: Graph, links: Collection[Link]) -> set[str]:
    """Nodes from which links lead to a node that nothing follows in the whole graph: the output."""
    sources: dict[str, list[str]] = {}
    for link in links:
        sources.setdefault(link.dst, []).append(link.src)
    followed = {link.src for link in graph.links}
    found = {name for name in graph.nodes if name not in followed}
    queue = list(found)
    while queue:
        for source in sources.get(queue.pop(), []):
            if source not in found:
                found.add(source)
                queue.append(source)
    return found


def prune(
    searcher: Searcher,
    graph: Graph,
    verdict: Evaluation,
    keep: Collection[str],
    whole: Collection[str],
    least: float,
) -> Cut | None:
    """The first cut, of those of most nodes, that leaves a reward over `least` as Blender renders it; None for none.

    A success stays one. `keep` and `whole` as for `cuts`.
    """
    # The preview would compile a kernel for each; Blender draws any graph at once.
    found = sorted(cuts(graph, keep, whole), key=lambda cut: -len(cut.gone))[:MOST]
    for cut, trial in zip(found, searcher.drawn([cut.edits for cut in found]), strict=False):
        evaluation = trial.evaluation
        if evaluation is not None and trial.score > least and evaluation.success >= verdict.success:
            return Cut(cut.node, cut.edits, cut.gone, trial.score)
    return None
