"""The commands by name, in the order in which help lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from material_agent.cli.doctor import doctor
from material_agent.cli.evaluate import evaluate
from material_agent.cli.output import Reply
from material_agent.cli.render import render
from material_agent.cli.report import report

COMMANDS: Mapping[str, Callable[..., Reply]] = {
    "render": render,
    "evaluate": evaluate,
    "report": report,
    "doctor": doctor,
}
