"""Actors: who proposes actions. Each reads the context and nothing else."""

from material_agent.actors.base import Accountable, Actor, ActorFactory, AttemptSetup, Reflector, Turn
from material_agent.actors.scripted import Script, ScriptedActor, ScriptedReflector, load_script, script_from_json

__all__ = [
    "Accountable",
    "Actor",
    "ActorFactory",
    "AttemptSetup",
    "Reflector",
    "Script",
    "ScriptedActor",
    "ScriptedReflector",
    "Turn",
    "load_script",
    "script_from_json",
]
