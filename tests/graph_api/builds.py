"""Graphs made from edits, for the tests of this package."""

from __future__ import annotations

from graph_api import Graph, Rules, apply, start_graph
from graph_api.actions import Edit

NO_RULES = Rules()


def build(*actions: Edit, version: str = "5.0", rules: Rules = NO_RULES) -> Graph:
    """The start graph after these edits."""
    graph = start_graph(version)
    for action in actions:
        graph = apply(graph, action, rules=rules).graph
    return graph
