"""Undo and redo. Graphs never change, so undo is exact: it gives back the very graph that was."""

from __future__ import annotations

from dataclasses import dataclass

from graph_api.model import Graph


@dataclass(frozen=True)
class History:
    """The present graph, those before it (oldest first) and those undone (next to redo last)."""

    present: Graph
    past: tuple[Graph, ...] = ()
    future: tuple[Graph, ...] = ()

    def push(self, graph: Graph) -> History:
        """Make `graph` the present; what was undone is forgotten. The same graph again changes nothing."""
        return self if graph is self.present else History(graph, (*self.past, self.present))

    def undo(self) -> History:
        """One step back; at the beginning nothing changes."""
        return History(self.past[-1], self.past[:-1], (*self.future, self.present)) if self.past else self

    def redo(self) -> History:
        """One step forward again; at the end nothing changes."""
        return History(self.future[-1], (*self.past, self.present), self.future[:-1]) if self.future else self
