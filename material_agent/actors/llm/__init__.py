"""Language models as actor and reflector, over one provider-neutral library (extra `llm`)."""

from material_agent.actors.llm.actor import LLMActor, LLMActors
from material_agent.actors.llm.client import Client
from material_agent.actors.llm.reflector import LLMReflector

__all__ = ["Client", "LLMActor", "LLMActors", "LLMReflector"]
