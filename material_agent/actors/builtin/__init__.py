"""The built-in policy: no language model, a search between two actions."""

from material_agent.actors.builtin.actor import BuiltinActor, Options

__all__ = ["BuiltinActor", "Options"]
