"""The report of a run: one HTML file, made from the run folder alone; and the picture that compares two engines."""

from __future__ import annotations

from material_agent.reports.engines import side_by_side
from material_agent.reports.html import report_html, write_report

__all__ = ["report_html", "side_by_side", "write_report"]
