"""The environment: where actions meet the world."""

from material_agent.environment.environment import Best, Environment, Recorder
from material_agent.environment.scene import Judge, Settings
from material_agent.observation import Bench, Observation, Trial

__all__ = ["Bench", "Best", "Environment", "Judge", "Observation", "Recorder", "Settings", "Trial"]
