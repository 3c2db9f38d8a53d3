"""Observations as the environment's callers import them; they are defined below the context, which holds them."""

from material_agent.observation import Bench, Observation, Status, Trial

__all__ = ["Bench", "Observation", "Status", "Trial"]
