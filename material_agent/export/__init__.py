"""What leaves the agent for other programs."""

from material_agent.export.wish import Wish
from material_agent.export.writers import FORMATS, export_graph

__all__ = ["FORMATS", "Wish", "export_graph"]
