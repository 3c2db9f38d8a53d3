"""Errors of the agent.

What an actor can correct is never an exception here: it is an `Observation` with status "rejected" or "error". The
errors below end an attempt or a run, or say that the input cannot be used.
"""

from __future__ import annotations


class MaterialAgentError(Exception):
    """Base of everything that this package raises on purpose."""


class BadInput(MaterialAgentError):
    """The caller's input cannot be used: a file, a setting, a turn list (exit code 2 of the command line)."""


class BudgetExhausted(MaterialAgentError):
    """A limit of the ledger was reached. It ends the run; the best result so far is kept.

    `resource` is the kind of limit, `value` what would have been spent, `limit` what was allowed.
    """

    def __init__(self, resource: str, value: float, limit: float) -> None:
        super().__init__(f"budget of {resource} exhausted: expected at most {limit:g}, got {value:g}")
        self.resource = resource
        self.value = value
        self.limit = limit


class Terminated(KeyboardInterrupt):
    """The system asked the run to stop (SIGTERM); handled as Ctrl-C is."""


class ActorError(MaterialAgentError):
    """An actor or a reflector cannot go on; the attempt ends with this reason."""


class ActorGone(ActorError):
    """An actor will not answer in a later attempt either (a model refuses or cannot be reached): it ends the run."""


class MissingExtra(MaterialAgentError):
    """An optional part is not installed (exit code 3 of the command line); `extra` names it."""

    def __init__(self, extra: str, what: str) -> None:
        super().__init__(f'expected the extra "{extra}" for {what}, got none; pip install "material-agent[{extra}]"')
        self.extra = extra


class ReflectionRefused(MaterialAgentError):
    """A reflection did not pass validation; `problems` says why, one sentence each."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems
