"""Memory: reflections, what came of them, and how they are found again."""

from material_agent.memory.codec import reflection_from_json, reflection_to_json
from material_agent.memory.features import reference_features
from material_agent.memory.figures import Figures, agrees, figures, observation_figures
from material_agent.memory.reflection import Attribution, Evidence, GraphChange, Reflection, Scale
from material_agent.memory.store import Memory, Origin, OutcomeRecord, Remembered, Window

__all__ = [
    "Attribution",
    "Evidence",
    "Figures",
    "GraphChange",
    "Memory",
    "Origin",
    "OutcomeRecord",
    "Reflection",
    "Remembered",
    "Scale",
    "Window",
    "agrees",
    "figures",
    "observation_figures",
    "reference_features",
    "reflection_from_json",
    "reflection_to_json",
]
