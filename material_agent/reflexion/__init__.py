"""The outer loop (Reflexion): attempts, reflections and what came of them."""

from material_agent.reflexion.loop import Ended, Outer, Plan, Progress
from material_agent.reflexion.uptake import Uptake, measure_uptake
from material_agent.reflexion.validate import Ground, check_reflection

__all__ = ["Ended", "Ground", "Outer", "Plan", "Progress", "Uptake", "check_reflection", "measure_uptake"]
