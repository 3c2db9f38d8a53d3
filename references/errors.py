"""What can be wrong with a reference."""

from __future__ import annotations


class ReferenceFault(ValueError):
    """A reference that cannot be used; the message is one line that names the file and the reason."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = " ".join(reason.split())
        super().__init__(f"{name}: {self.reason}")
