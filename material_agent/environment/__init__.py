"""The environment: where actions meet the world."""

from material_agent.environment.best import PROGRESS, Best, Recorder
from material_agent.environment.environment import Environment
from material_agent.environment.scene import Judge, Settings
from material_agent.observation import Bench, Observation, Trial

__all__ = ["PROGRESS", "Bench", "Best", "Environment", "Judge", "Observation", "Recorder", "Settings", "Trial"]
