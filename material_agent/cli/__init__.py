"""The command line, `material-agent`."""

from __future__ import annotations

from material_agent.cli.app import main

__all__ = ["main"]
