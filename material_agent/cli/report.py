"""`material-agent report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from material_agent.cli.options import Json
from material_agent.cli.output import Reply


def report(run: Annotated[Path, typer.Argument(help="A run folder.")], json: Json = False) -> Reply:
    """Rebuild report.html from a run's events and pictures."""
    from material_agent.reports import write_report

    path = write_report(run)
    return Reply("report", {"report": path}, str(path))
