"""The report of a run: one HTML file, made from the run folder alone."""

from __future__ import annotations

from material_agent.reports.html import report_html, write_report

__all__ = ["report_html", "write_report"]
