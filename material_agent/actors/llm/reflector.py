"""A language model as the reflector: it writes the four fields, which are validated like anybody's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from graph_api import GraphError, action_schema, summary_text
from material_agent.actors.llm.client import Abilities, Client
from material_agent.actors.llm.wire import Request
from material_agent.actors.words import constraint_words, prompt, quoted, step_words, task_words, verdict_words
from material_agent.budget import Ledger
from material_agent.context import Context
from material_agent.errors import ActorError, ReflectionRefused
from material_agent.events import Log
from material_agent.memory import Reflection, observation_figures, reflection_from_json
from material_agent.observation import Observation

FIELDS = ("evidence", "scale", "graph_change", "forbidden_op")
SCALES = ("macro", "meso", "micro", "global")
CITED = 2
"""So many judged observations are shown with all their figures: the best and the last."""
STEPS = 60
"""So many of the last steps are told."""

_TEXT: dict[str, Any] = {"type": "string"}
_NUMBER: dict[str, Any] = {"type": "number"}


class LLMReflector:
    """Asks a model for a reflection. Its numbers and patterns are read strictly; what cannot be read is refused."""

    def __init__(self, client: Client) -> None:
        self.name = client.spec.label
        self._client = client

    def begin(self, ledger: Ledger, log: Log) -> None:
        """See `Accountable`."""
        self._client.begin(ledger, log)

    def reflect(self, context: Context, outcome: str, label: str) -> Reflection:
        """The four fields. Raises `ActorError` when nothing was judged, `ReflectionRefused` for what is none."""
        judged = [step.observation for step in context.history if step.observation.evaluation is not None]
        if not judged:
            raise ActorError("expected a judged render to reflect on, got none")
        words = _words(context, outcome, label, judged)
        reply = self._client.ask(lambda able: _request(words, able), "reflect", context.state.attempt)
        return _read(_fields(reply))


def _words(context: Context, outcome: str, label: str, judged: list[Observation]) -> str:
    steps = "\n".join(step_words(step) for step in context.history[-STEPS:])
    best = max(judged, key=lambda seen: seen.evaluation.reward if seen.evaluation else 0.0)
    shown = list({seen.id: seen for seen in (best, judged[-1])}.values())[:CITED]
    parts = [
        task_words(context),
        f"How the attempt ended:\n{quoted('outcome', outcome)}\nKind of failure: {label or 'none'}.",
        "What was done:\n" + quoted("steps", steps),
    ]
    for seen in shown:
        if seen.evaluation is not None:
            figures = {name: _short(values) for name, values in sorted(observation_figures(seen).items())}
            verdict = verdict_words(seen.evaluation, seen.evaluation.gaps)
            parts.append(
                f"Observation {seen.id}:\n{quoted('verdict', verdict)}\nIts figures:\n"
                + quoted("figures", json.dumps(figures))
            )
    graph = context.state.best_graph or context.state.graph
    parts += [
        "The best graph of the attempt:\n" + quoted("graph", summary_text(graph)),
        constraint_words(context.constraints),
    ]
    return "\n\n".join(parts)


def _short(values: tuple[float, ...]) -> float | list[float]:
    rounded = [float(f"{value:.4g}") for value in values]
    return rounded[0] if len(rounded) == 1 else rounded


def _request(words: str, abilities: Abilities) -> Request:
    protocol = prompt("reflect_tools" if abilities.tools else "reflect_text").substitute()
    instructions = prompt("reflect").substitute(protocol=protocol).strip()
    messages: tuple[ModelMessage, ...] = (ModelRequest(parts=[UserPromptPart(words)], instructions=instructions),)
    return Request(messages, (_tool(),) if abilities.tools else (), ModelSettings())


def _tool() -> ToolDefinition:
    """The four fields as a tool; the edits are those of the action schemas."""
    edits = [
        {
            **schema["parameters"],
            "properties": {"op": {"type": "string", "enum": [op]}, **schema["parameters"]["properties"]},
            "required": ["op", *schema["parameters"]["required"]],
        }
        for op, schema in action_schema().items()
        if op in ("add_node", "connect", "set_param", "remove_node", "disconnect")
    ]
    fact = _object({"observation": _TEXT, "figure": _TEXT, "value": _NUMBER, "text": _TEXT})
    scale = _object(
        {"scale": {"type": "string", "enum": list(SCALES)}, "channel": _TEXT, "cause": _TEXT, "scope": _TEXT}
    )
    pattern = {"type": "object", "description": "a pattern as described: kind and its fields"}
    change = {
        "type": "object",
        "properties": {"text": _TEXT, "actions": {"type": "array", "items": {"anyOf": edits}}, "pattern": pattern},
        "required": ["text"],
    }
    parameters = _object(
        {
            "evidence": {"type": "array", "items": fact, "minItems": 1},
            "scale": scale,
            "graph_change": change,
            "forbidden_op": pattern,
        }
    )
    return ToolDefinition(
        name="reflect",
        description="Hand in the reflection on the attempt.",
        parameters_json_schema=parameters,
        strict=False,
    )


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _fields(reply: ModelResponse) -> Mapping[str, Any]:
    """The object of a reply, from its call or from its text."""
    for part in reply.parts:
        if isinstance(part, ToolCallPart):
            data = _parsed(part.args) if isinstance(part.args, str) else part.args
            if isinstance(data, Mapping):
                return data
    text = "\n".join(part.content for part in reply.parts if isinstance(part, TextPart))
    decoder = json.JSONDecoder()
    for start in (at for at, char in enumerate(text) if char == "{"):
        try:
            data, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, Mapping) and "evidence" in data:
            return data
    raise ReflectionRefused((f"expected one JSON object with {', '.join(FIELDS)}, got {text[:120]!r}",))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _read(data: Mapping[str, Any]) -> Reflection:
    missing = [name for name in FIELDS if name not in data]
    if missing:
        raise ReflectionRefused(tuple(f"expected the field {name}, got none" for name in missing))
    change = data["graph_change"]
    if not isinstance(change, Mapping):
        raise ReflectionRefused((f"expected an object as graph_change, got {change!r:.80}",))
    whole = {
        "id": "",
        "evidence": data["evidence"],
        "scale": data["scale"],
        "graph_change": {
            "text": str(change.get("text", "")),
            "actions": change.get("actions") or [],
            "pattern": change.get("pattern") or None,
        },
        "forbidden_op": data["forbidden_op"],
    }
    try:
        made = reflection_from_json(whole)
    except (GraphError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise ReflectionRefused((f"expected the four fields, got {type(error).__name__}: {error}",)) from error
    if made.scale.scale not in SCALES:
        raise ReflectionRefused((f"expected a scale, got {made.scale.scale!r}; known: {', '.join(SCALES)}",))
    return made
