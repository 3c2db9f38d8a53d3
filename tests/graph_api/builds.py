"""Graphs made from edits, and edits that are refused, for the tests of this package."""

from __future__ import annotations

import pytest

from graph_api import ActionRejected, Graph, Rules, apply, start_graph
from graph_api.actions import Edit

NO_RULES = Rules()


def build(*actions: Edit, version: str = "5.0", rules: Rules = NO_RULES) -> Graph:
    """The start graph after these edits."""
    graph = start_graph(version)
    for action in actions:
        graph = apply(graph, action, rules=rules).graph
    return graph


def refuse(graph: Graph, action: Edit, code: str) -> ActionRejected:
    """The refusal, after checking that the graph is as it was, to the last value."""
    before = repr(graph)
    with pytest.raises(ActionRejected) as caught:
        apply(graph, action)
    assert caught.value.code == code, caught.value
    assert repr(graph) == before
    assert str(caught.value).startswith("expected ")
    assert caught.value.recoverable
    return caught.value
