"""The built-in policy: no language model; a search between two actions where there is a bench."""

from material_agent.actors.builtin.actor import BuiltinActor, Options
from material_agent.actors.builtin.direct import Builtin, DirectActor
from material_agent.actors.builtin.reflector import BuiltinReflector

__all__ = ["Builtin", "BuiltinActor", "BuiltinReflector", "DirectActor", "Options"]
