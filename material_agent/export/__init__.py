"""What leaves a run: pictures for people, graphs and maps for other programs."""

from __future__ import annotations

from material_agent.export.pictures import Panel, compose, write_comparison

__all__ = ["Panel", "compose", "write_comparison"]
