"""A language model as the actor: the same context, the same actions, the same loop as the built-in policy."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from graph_api.actions import Note
from graph_api.model import Graph
from material_agent.actors.base import AttemptSetup, Turn
from material_agent.actors.llm.calls import LONGEST_NOTE, Call, Read, read_reply, tool_definitions
from material_agent.actors.llm.client import Abilities, Client
from material_agent.actors.llm.tokens import tokens_of
from material_agent.actors.llm.transcript import Exchange, build, exchange
from material_agent.actors.llm.wire import Request
from material_agent.actors.pictures import reference_png
from material_agent.actors.words import prompt, task_words
from material_agent.budget import Ledger
from material_agent.context import Context
from material_agent.events import Log
from material_agent.observation import Bench, Observation
from material_agent.proposals import Proposed

_TEXTURES = "ShaderNodeTex"
INSTRUCTIONS = {"expert": "act", "generic": "act_generic"}
"""Prompt files by the name of the instruction."""


class LLMActor:
    """One attempt of a model. What it knows of earlier attempts is `context.memory`."""

    def __init__(self, client: Client, attempt: int = 1) -> None:
        self.name = client.spec.label
        self._client = client
        self._attempt = attempt
        self._exchanges: list[Exchange] = []
        self._open: Read | None = None
        self._seen = 0
        self._reference: bytes | None = None
        self._opening = ""

    def act(self, context: Context, bench: Bench) -> Turn:
        """Ask the model for its next calls. Raises `BudgetExhausted`, `ActorGone`, `ActorError`."""
        self._opening = self._opening or task_words(context)
        self._take_in(context)
        reply = self._client.ask(lambda abilities: self._request(context, abilities), "act", self._attempt)
        read = read_reply(reply, context.state.step, tune=context.constraints.tune)
        self._open = read
        notes = (Note(read.said[:LONGEST_NOTE]),) if read.said else ()
        proposed: tuple[Proposed, ...] = (*notes, *(call.proposed for call in read.calls))
        return Turn(proposed, _reason(read), _structure(context.state.graph))

    def _request(self, context: Context, abilities: Abilities) -> Request:
        settings = self._client.settings
        tools = tool_definitions(tune=context.constraints.tune)
        instructions = prompt(INSTRUCTIONS[context.instruction]).substitute(
            protocol=_protocol(tools, native=abilities.tools),
            sight=prompt("seeing" if abilities.images else "blind").substitute(),
        )
        offered = tools if abilities.tools else ()
        messages = build(
            context,
            self._exchanges,
            instructions=instructions.strip(),
            opening=self._opening,
            reference=self._shown(context) if abilities.images else None,
            pictures=settings.pictures,
            budget=abilities.context_tokens - tokens_of((), offered),
        )
        return Request(messages, offered, ModelSettings())

    def _take_in(self, context: Context) -> None:
        """Match what the context's history brought since the last turn with that turn's calls."""
        fresh = [step.observation for step in context.history[self._seen :]]
        self._seen = len(context.history)
        if self._open is None:
            return
        answers: list[Observation | None] = []
        for call in self._open.calls:
            answers.append(fresh.pop(0) if _leaves_a_step(call) and fresh else None)
        image, sees = context.task.image_srgb, self._client.abilities.images
        self._exchanges.append(exchange(self._open, answers, image, images=sees))
        self._open = None

    def _shown(self, context: Context) -> bytes:
        """The reference as a PNG, drawn once."""
        if self._reference is None:
            self._reference = reference_png(context.task.image_srgb)
        return self._reference


class LLMActors:
    """Makes an actor for each attempt, all with one client; an `ActorFactory` that keeps accounts."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __call__(self, setup: AttemptSetup) -> LLMActor:
        """A fresh actor, which remembers nothing."""
        return LLMActor(self._client, setup.attempt)

    def begin(self, ledger: Ledger, log: Log) -> None:
        """See `Accountable`."""
        self._client.begin(ledger, log)


def _leaves_a_step(call: Call) -> bool:
    return not isinstance(call.proposed, Note)


def _protocol(tools: Sequence[ToolDefinition], *, native: bool) -> str:
    return prompt("tools").substitute() if native else prompt("text").substitute(actions=_listing(tools))


def _listing(tools: Sequence[ToolDefinition]) -> str:
    """The actions in words, for a model that is not offered them as tools."""
    lines = []
    for tool in tools:
        properties = tool.parameters_json_schema["properties"]
        fields = {name: kind.get("enum", kind.get("type", "value")) for name, kind in properties.items()}
        lines.append(f"- {tool.name} {json.dumps(fields)}: {tool.description}")
    return "\n".join(lines)


def _reason(read: Read) -> str:
    counts = Counter(call.proposed.op for call in read.calls)
    calls = ", ".join(f"{op} ×{number}" if number > 1 else op for op, number in counts.items())
    first = read.said.strip().splitlines()[0][:200] if read.said.strip() else ""
    return ": ".join(part for part in (first, calls) if part) or "an empty reply"


def _structure(graph: Graph) -> str:
    """What is being built, by the texture that carries the large scale."""
    textures = [node for node in graph.nodes.values() if node.type.startswith(_TEXTURES)]
    macro = next((node for node in textures if node.role == "macro"), textures[0] if textures else None)
    return "" if macro is None else macro.type.removeprefix(_TEXTURES).lower()
