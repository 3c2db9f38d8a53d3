"""Tables: suggestions for gaps, physical limits with their sources, and what halves a budget."""

from evaluators.data.tables import load_table

__all__ = ["load_table"]
