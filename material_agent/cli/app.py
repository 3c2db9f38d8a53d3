"""The entry point: parses, runs one command, and turns errors into one line and an exit code."""

from __future__ import annotations

import functools
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import typer

from material_agent.cli.commands import COMMANDS
from material_agent.cli.exits import Exit, code_of, message_of
from material_agent.cli.output import Reply, reserved_stdout, say

P = ParamSpec("P")
_HELP = "Looks at one picture of a material and builds an editable Blender shader graph that renders like it."
# Typer's own base of usage errors moved between releases; its public subclass leads to it in every one of them.
USAGE_ERROR: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


class _Stopped(Exception):
    """Ctrl-C on its way through Typer, which would turn the `KeyboardInterrupt` itself into a silent exit code."""


def _printing(body: Callable[P, Reply]) -> Callable[P, int]:
    """The command that prints what `body` replies, as JSON when its `json` option is set."""

    @functools.wraps(body)
    def run(*args: P.args, **kwargs: P.kwargs) -> int:
        try:
            with reserved_stdout() as stream:
                reply = body(*args, **kwargs)
                text = reply.as_json() if kwargs.get("json") else reply.text
                if text:
                    stream.write(text.rstrip("\n") + "\n")
        except KeyboardInterrupt as error:
            raise _Stopped from error
        return int(reply.code)

    return run


def application() -> typer.Typer:
    """The Typer application with every command."""
    app = typer.Typer(help=_HELP, add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)

    @app.callback()
    def root() -> None:
        """Looks at one picture of a material and builds an editable Blender shader graph that renders like it."""

    for name, body in COMMANDS.items():
        app.command(name)(_printing(body))
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command line (without the program's name); returns the exit code and never raises for bad input."""
    # Threads that spin while they wait starve Blender's workers; read when torch loads its OpenMP.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # It misses a plotting library that nothing here uses.
    warnings.filterwarnings("ignore", module="cma")
    try:
        command: Any = typer.main.get_command(application())
        result = command(args=list(arguments), prog_name="material-agent", standalone_mode=False)
    except (typer.Abort, _Stopped):
        return _fail(KeyboardInterrupt(), Exit.INTERRUPTED, arguments)
    except USAGE_ERROR as error:
        return _fail(ValueError(_usage(error)), Exit.BAD_INPUT, arguments)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the process's boundary: every error becomes an exit code
        return _fail(error, code_of(error), arguments)
    return result if isinstance(result, int) else Exit.SUCCESS


def main() -> None:
    """Run `sys.argv` and exit."""
    sys.exit(run(sys.argv[1:]))


def _usage(error: Exception) -> str:
    message = str(getattr(error, "format_message", error.__str__)())
    return message if message.strip() else "expected a command; see material-agent --help"


def _fail(error: BaseException, code: Exit | None, arguments: Sequence[str]) -> int:
    if code is None:
        traceback.print_exception(error)
        say("error: this is a fault of material-agent, not of your input; please report it with the lines above")
        code = Exit.INTERNAL
    message = message_of(error)
    say(f"error: {message}" if code is not Exit.INTERRUPTED else message)
    if "--json" in arguments:
        reply = Reply("error", {"error": {"kind": type(error).__name__, "code": int(code), "message": message}})
        sys.stdout.write(reply.as_json() + "\n")
    return int(code)
