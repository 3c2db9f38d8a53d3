"""What leaves the agent for other programs."""

from material_agent.export.wish import Wish
from material_agent.export.writers import ENDINGS, FORMATS, export_graph

__all__ = ["ENDINGS", "FORMATS", "Wish", "export_graph"]
