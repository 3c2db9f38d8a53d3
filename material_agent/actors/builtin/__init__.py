"""The built-in policy: no language model, a search between two actions."""

from material_agent.actors.builtin.actor import BuiltinActor, Options
from material_agent.actors.builtin.reflector import BuiltinReflector

__all__ = ["BuiltinActor", "BuiltinReflector", "Options"]
