"""The commands by name, in the order in which help lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from material_agent.cli.analyze import analyze
from material_agent.cli.batch import batch
from material_agent.cli.calibrate import calibrate
from material_agent.cli.doctor import doctor
from material_agent.cli.evaluate import evaluate
from material_agent.cli.experiment import experiment
from material_agent.cli.export import export
from material_agent.cli.fit import fit
from material_agent.cli.inspect import inspect
from material_agent.cli.mcp import mcp
from material_agent.cli.output import Reply
from material_agent.cli.render import render
from material_agent.cli.report import report

COMMANDS: Mapping[str, Callable[..., Reply]] = {
    "fit": fit,
    "batch": batch,
    "analyze": analyze,
    "render": render,
    "evaluate": evaluate,
    "experiment": experiment,
    "calibrate": calibrate,
    "inspect": inspect,
    "export": export,
    "report": report,
    "mcp": mcp,
    "doctor": doctor,
}
