"""Exit codes, and which error ends with which."""

from __future__ import annotations

import json
import sys
from enum import IntEnum


class Exit(IntEnum):
    """What the command line tells its caller."""

    SUCCESS = 0
    NOT_ACCEPTED = 1
    BAD_INPUT = 2
    ENVIRONMENT = 3
    INTERNAL = 70
    INTERRUPTED = 130


# By name, because an error can only have come from a module that is loaded, and naming it must not load it. The first
# class that fits decides, so the narrow ones stand before their bases.
_CODES: tuple[tuple[str, str, Exit], ...] = (
    ("material_agent.errors", "MissingExtra", Exit.ENVIRONMENT),
    ("material_agent.batch.ray_engine", "RayUnavailable", Exit.ENVIRONMENT),
    ("material_agent.cli.launch", "BlenderAbsent", Exit.ENVIRONMENT),
    ("material_agent.errors", "MaterialAgentError", Exit.BAD_INPUT),
    ("renderer.blendfile", "BlendFileError", Exit.BAD_INPUT),
    ("renderer.errors", "RendererError", Exit.ENVIRONMENT),
    ("evaluators.errors", "WeightsUnavailableError", Exit.ENVIRONMENT),
    ("evaluators.errors", "EvaluatorError", Exit.BAD_INPUT),
    ("references.errors", "ReferenceFault", Exit.BAD_INPUT),
    ("graph_api.errors", "GraphError", Exit.BAD_INPUT),
)


def code_of(error: BaseException) -> Exit | None:
    """The exit code for `error`, or None when nobody raises it on purpose."""
    if isinstance(error, KeyboardInterrupt):
        return Exit.INTERRUPTED
    for module, name, code in _CODES:
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and isinstance(error, kind):
            return code
    if isinstance(error, OSError | json.JSONDecodeError | UnicodeDecodeError):
        return Exit.BAD_INPUT
    return None


def message_of(error: BaseException) -> str:
    """One line that says what is wrong."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'file'}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__
