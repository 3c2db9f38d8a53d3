"""What goes wrong when two pictures cannot be compared, or weights cannot be used."""

from __future__ import annotations


class EvaluatorError(ValueError):
    """A picture, channel or calibration that the evaluator cannot use; the message says what was expected and got."""

    def __init__(self, expected: str, got: str) -> None:
        self.expected = expected
        self.got = got
        super().__init__(f"expected {expected}, got {got}")


class WeightsUnavailableError(RuntimeError):
    """A network or its weights cannot be used; `fix` is the command or step that helps."""

    def __init__(self, what: str, why: str, fix: str) -> None:
        self.what = what
        self.why = why
        self.fix = fix
        super().__init__(f"{what} cannot be used: {why}; to fix it: {fix}")
