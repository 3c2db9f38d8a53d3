"""Errors of the graph API: those that mean *try again* and those that mean *stop* are different classes."""

from __future__ import annotations

from collections.abc import Sequence

SHOWN = 12


class GraphError(Exception):
    """Anything the graph API refuses. `recoverable` says whether another action may do better."""

    recoverable: bool = False


def known_text(known: Sequence[str]) -> str:
    """Names for a message: the first few and how many more there are."""
    text = ", ".join(known[:SHOWN])
    return text if len(known) <= SHOWN else f"{text}, and {len(known) - SHOWN} more"


class ActionRejected(GraphError):
    """An action that cannot be done; the graph is as it was.

    `code` is a stable word for programs. `known` lists what would be accepted, closest first; `suggestion` is the one
    most likely meant. The message reads "expected X, got Y; known: …".
    """

    recoverable = True

    def __init__(
        self,
        code: str,
        expected: str,
        got: str,
        *,
        known: Sequence[str] = (),
        suggestion: str | None = None,
        node: str | None = None,
        socket: str | None = None,
    ) -> None:
        self.code = code
        self.expected = expected
        self.got = got
        self.known = tuple(known)
        self.suggestion = suggestion
        self.node = node
        self.socket = socket
        super().__init__(self.message)

    @property
    def message(self) -> str:
        """One line for people and models."""
        text = f"expected {self.expected}, got {self.got}"
        if self.suggestion:
            text += f"; did you mean {self.suggestion}?"
        return text + (f"; known: {known_text(self.known)}" if self.known else "")

    def to_json(self) -> dict[str, object]:
        """The error as data."""
        return {
            "code": self.code,
            "message": self.message,
            "expected": self.expected,
            "got": self.got,
            "known": list(self.known),
            "suggestion": self.suggestion,
            "node": self.node,
            "socket": self.socket,
        }


class TerminalGraphError(GraphError):
    """Nothing that an actor could do would help."""


class CatalogMissing(TerminalGraphError):
    """There is no catalog for a Blender version."""

    def __init__(self, version: str, known: Sequence[str]) -> None:
        self.version, self.known = version, tuple(known)
        super().__init__(f"expected a Blender version with a catalog, got {version!r}; known: {', '.join(known)}")


class MalformedGraph(TerminalGraphError):
    """A stored graph, ban or lock that cannot be read; `where` is the path inside the document."""

    def __init__(self, where: str, expected: str, got: str) -> None:
        self.where, self.expected, self.got = where, expected, got
        super().__init__(f"{where}: expected {expected}, got {got}")


class BanInvalid(GraphError):
    """A ban that is empty, names what does not exist, or closes every road; another ban may do."""

    recoverable = True

    def __init__(self, expected: str, got: str, known: Sequence[str] = ()) -> None:
        self.expected, self.got, self.known = expected, got, tuple(known)
        text = f"expected {expected}, got {got}"
        super().__init__(text + (f"; known: {known_text(self.known)}" if known else ""))
