"""From a reply to proposals: one for each call, in order, whatever the model made of the arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.tools import ToolDefinition

from graph_api import ACTIONS, ActionRejected, action_from_json, action_schema
from graph_api.actions import Note
from graph_api.resolve import suggest
from material_agent.proposals import BadCall, Proposed, Tune, tune_from_json, tune_schema

MOST_CALLS = 48
"""Calls of one turn that are done; the ones beyond are refused together."""
LONGEST_NOTE = 2000
LONGEST_CALL = 400
_FENCED = re.compile(r"```(?:json|tool_call|tool_code)?\s*\n(.*?)```|<tool_call>(.*?)</tool_call>", re.DOTALL)


@dataclass(frozen=True)
class Call:
    """One call of a turn: its id (unique in the attempt) and what it proposes."""

    id: str
    proposed: Proposed


@dataclass(frozen=True)
class Read:
    """A reply as it was understood.

    `echo` is the reply as it may be sent back: every provider can take its arguments, each call has its own id.
    `native`: whether the calls came as calls, and not in the text.
    """

    said: str
    calls: tuple[Call, ...]
    echo: ModelResponse | None
    native: bool


@cache
def tool_definitions(*, tune: bool) -> tuple[ToolDefinition, ...]:
    """The typed actions as tools, made from their schemas."""
    schemas = [*action_schema().values(), *([tune_schema()] if tune else [])]
    return tuple(
        ToolDefinition(
            name=schema["name"],
            description=schema["description"],
            parameters_json_schema=schema["parameters"],
            strict=False,
        )
        for schema in schemas
    )


def read_reply(reply: ModelResponse, turn: int, *, tune: bool) -> Read:
    """Understand a reply; calls written into the text count when there are no others."""
    said = "\n".join(part.content.strip() for part in reply.parts if isinstance(part, TextPart)).strip()
    found = [part for part in reply.parts if isinstance(part, ToolCallPart)]
    if found:
        return _read_native(reply, found, said, turn, tune=tune)
    written = list(_written_calls(said))[: MOST_CALLS + 1]
    calls = tuple(
        Call(f"t{turn}.{index}", _from_object(data, tune=tune)) for index, data in enumerate(written[:MOST_CALLS])
    )
    if len(written) > MOST_CALLS:
        calls = (*calls, Call(f"t{turn}.{MOST_CALLS}", _too_many(len(written))))
    # An answer without any content may not be sent back.
    echo = replace(reply, parts=[part for part in reply.parts if not _is_empty(part)])
    return Read(_short_of_calls(said) if calls else said, calls, echo if echo.parts else None, False)


def _read_native(reply: ModelResponse, found: list[ToolCallPart], said: str, turn: int, *, tune: bool) -> Read:
    kept, calls, used = [], [], set()
    for index, part in enumerate(found[:MOST_CALLS]):
        name = part.tool_call_id if part.tool_call_id and part.tool_call_id not in used else f"call_{turn}_{index}"
        used.add(name)
        arguments, problem = _arguments(part.args)
        proposed = problem or _from_arguments(part.tool_name, arguments, tune=tune)
        if isinstance(proposed, BadCall):
            proposed = replace(proposed, op=_word(part.tool_name), text=str(part.args)[:LONGEST_CALL])
        calls.append(Call(name, proposed))
        kept.append(replace(part, tool_call_id=name, args=arguments, tool_name=_word(part.tool_name)))
    if len(found) > MOST_CALLS:
        last = calls[-1]
        calls[-1] = Call(last.id, _too_many(len(found)))
    rest = [part for part in reply.parts if not isinstance(part, ToolCallPart) and not _is_empty(part)]
    return Read(said, tuple(calls), replace(reply, parts=[*rest, *kept]), True)


def _too_many(count: int) -> BadCall:
    return BadCall(
        "calls", f"{count} calls", f"expected at most {MOST_CALLS} calls in a turn, got {count}; the rest was not done"
    )


def _is_empty(part: object) -> bool:
    return isinstance(part, TextPart) and not part.content.strip()


def _word(name: str) -> str:
    """A tool's name as providers accept it back."""
    return re.sub(r"[^\w-]", "_", name)[:64] or "unnamed"


def _arguments(raw: str | Mapping[str, Any] | None) -> tuple[dict[str, Any], BadCall | None]:
    """Arguments as an object, or what is wrong with them (then the object holds the text)."""
    if raw is None or raw == "":
        return {}, None
    if isinstance(raw, Mapping):
        return dict(raw), None
    try:
        data = json.loads(raw)
        data = json.loads(data) if isinstance(data, str) else data  # some models quote the object once more
    except (ValueError, RecursionError) as error:
        text = raw[:LONGEST_CALL]
        return {"unreadable": text}, BadCall("", text, f"expected arguments as JSON, got {text[:120]!r}: {error}")
    if not isinstance(data, dict):
        text = raw[:LONGEST_CALL]
        return {"unreadable": text}, BadCall("", text, f"expected arguments as a JSON object, got {text[:120]!r}")
    return data, None


def _from_arguments(name: str, arguments: Mapping[str, Any], *, tune: bool) -> Proposed:
    op = name.strip().rpartition(".")[2]  # "functions.add_node" is what some models call it
    known = [*ACTIONS, *([Tune.op] if tune else [])]
    if op not in known:
        near = suggest(op, known)
        hint = f"; did you mean {near}?" if near else ""
        error = f"expected a tool, got {name[:60]!r}; known: {', '.join(known)}{hint}"
        return BadCall(_word(name), "", error, "tool")
    try:
        if op == Tune.op:
            return tune_from_json({key: value for key, value in arguments.items() if key != "op"})
        action = action_from_json({**_without_nulls(arguments), "op": op})
    except ActionRejected as error:
        return BadCall(op, "", str(error))
    return Note(action.text[:LONGEST_NOTE]) if isinstance(action, Note) else action


def _without_nulls(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Without optional fields that a model filled with null."""
    return {key: value for key, value in arguments.items() if value is not None or key == "value"}


def _from_object(data: Mapping[str, Any], *, tune: bool) -> Proposed:
    """A call that was written into the text: `{"op": …}`, or a name with arguments."""
    name = data.get("op", data.get("name", data.get("tool", data.get("action"))))
    inner = data.get("arguments", data.get("parameters") if "op" not in data else None)
    if "op" in data or not isinstance(inner, dict | str):
        arguments = {key: value for key, value in data.items() if key not in ("op", "name", "tool", "action")}
        problem = None
    else:
        arguments, problem = _arguments(inner)
    proposed = problem or _from_arguments(str(name), arguments, tune=tune)
    if isinstance(proposed, BadCall):
        return replace(proposed, op=_word(str(name)), text=json.dumps(data, default=str)[:LONGEST_CALL])
    return proposed


def _written_calls(text: str) -> Iterator[Mapping[str, Any]]:
    """Objects with the name of a call in a text, in order: fenced ones first, else wherever JSON begins."""
    blocks = [first or second for first, second in _FENCED.findall(text)] or [text]
    for block in blocks:
        for value in _json_values(block):
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, Mapping) and any(
                    isinstance(item.get(k), str) for k in ("op", "name", "tool", "action")
                ):
                    yield item


def _json_values(text: str) -> Iterator[Any]:
    decoder, place = json.JSONDecoder(), 0
    while (start := _next_bracket(text, place)) >= 0:
        try:
            value, place = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            place = start + 1
            continue
        yield value


def _next_bracket(text: str, place: int) -> int:
    found = [at for at in (text.find("{", place), text.find("[", place)) if at >= 0]
    return min(found, default=-1)


def _short_of_calls(said: str) -> str:
    """The text without the calls that it holds."""
    return _FENCED.sub("", said).strip() if _FENCED.search(said) else ""
