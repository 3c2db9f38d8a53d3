"""The conversation that a model is sent: built anew for each turn from the context, within a budget of tokens.

When it is too long, the oldest pictures go first, then the oldest turns; task, state and reference stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)

from material_agent.actors.llm.calls import Read
from material_agent.actors.llm.tokens import tokens_of
from material_agent.actors.pictures import Drawn, comparison
from material_agent.actors.words import observation_words, state_words
from material_agent.context import Context
from material_agent.observation import FloatArray, Observation

NOT_DONE = "not done: the turn ended before this call"
NOTED = "noted"
SILENT = "Your last reply held no action. Propose at least one: nothing else changes the graph."
KEPT_TURNS = 1
"""The newest turns that are never left out."""


@dataclass(frozen=True)
class Exchange:
    """One turn: what the model said, and what came of each of its calls (None for a call that was not done).

    `words` are the answers as they are told; `drawn` is the last render beside the reference, for a model that sees.
    """

    read: Read
    words: tuple[str, ...] = ()
    drawn: Drawn | None = None


def exchange(read: Read, answers: Sequence[Observation | None], reference: FloatArray, *, images: bool) -> Exchange:
    """An exchange put into words and drawn, once for all the requests that show it."""
    words = tuple(
        NOTED if call.proposed.op == "note" else NOT_DONE if seen is None else observation_words(seen)
        for call, seen in zip(read.calls, answers, strict=True)
    )
    rendered = [seen for seen in answers if seen is not None and seen.images]
    drawn = comparison(reference, rendered[-1]) if rendered and images else None
    return Exchange(read, words, drawn)


@dataclass(frozen=True)
class _Block:
    """An exchange as messages: the reply, its results, and the picture of its last render with the panels' names."""

    reply: ModelResponse | None
    results: tuple[ToolReturnPart, ...]
    words: str
    picture: bytes | None = None
    panels: tuple[str, ...] = ()

    def messages(self) -> list[ModelMessage]:
        parts: list[ModelRequestPart] = list(self.results)
        content: list[UserContent] = [self.words] if self.words else []
        if self.picture is not None:
            content.append(f"The last render, from left to right: {', '.join(self.panels)}.")
            content.append(BinaryContent(self.picture, media_type="image/jpeg"))
        elif self.panels:
            content.append("[an older picture was left out]")
        if content:
            parts.append(UserPromptPart(content if len(content) > 1 or self.picture else str(content[0])))
        replies: list[ModelMessage] = [self.reply] if self.reply is not None else []
        return [*replies, ModelRequest(parts=parts)] if parts else replies


def build(
    context: Context,
    exchanges: Sequence[Exchange],
    *,
    instructions: str,
    opening: str,
    reference: bytes | None,
    pictures: int,
    budget: int,
) -> tuple[ModelMessage, ...]:
    """The messages for one turn, in at most `budget` tokens where that is possible.

    `opening` is what stays the same in an attempt (`words.task_words`). `reference` is the PNG that is shown, None to a
    model that does not see; then no render is shown either. `pictures` bounds the renders, newest first.
    """
    blocks = [_block(exchange) for exchange in exchanges]
    blocks = _with_newest_pictures(blocks, pictures if reference is not None else 0)
    begin: list[UserContent] = [opening]
    if reference is not None:
        begin += ["The reference:", BinaryContent(reference, media_type="image/png")]
    closing = state_words(context)
    frame = tokens_of(_assembled(begin, (), closing, instructions, len(blocks)))
    blocks, dropped = _fitted(blocks, budget - frame)
    return tuple(_assembled(begin, blocks[dropped:], closing, instructions, dropped))


def _fitted(blocks: list[_Block], room: int) -> tuple[list[_Block], int]:
    """The blocks without the pictures that are too many, and how many of the oldest must go to fit into `room`."""
    costs = [tokens_of(block.messages()) for block in blocks]
    over, fitted = sum(costs) - room, list(blocks)

    def hide(index: int) -> int:
        fitted[index] = replace(fitted[index], picture=None)
        saved = costs[index] - tokens_of(fitted[index].messages())
        costs[index] -= saved
        return saved

    shown = [index for index, block in enumerate(fitted) if block.picture is not None]
    newest = len(fitted) - 1
    for index in shown:
        if over > 0 and index != newest:
            over -= hide(index)
    dropped = 0
    while over > 0 and dropped < len(fitted) - KEPT_TURNS:
        over -= costs[dropped]
        dropped += 1
    if over > 0 and shown and shown[-1] == newest:
        hide(newest)
    return fitted, dropped


def _assembled(
    opening: list[UserContent], blocks: Sequence[_Block], closing: str, instructions: str, dropped: int
) -> list[ModelMessage]:
    gone = [f"[{dropped} earlier turns were left out; what they did is in the graph below]"] if dropped else []
    messages: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart([*opening, *gone])])]
    for block in blocks:
        messages += block.messages()
    merged = _merged(messages)
    last = merged[-1]
    if isinstance(last, ModelRequest):
        merged[-1] = replace(last, parts=[*last.parts, UserPromptPart(closing)], instructions=instructions)
    else:
        merged.append(ModelRequest(parts=[UserPromptPart(closing)], instructions=instructions))
    return merged


def _merged(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """With neighbours of one side made into one message: some providers insist that the sides take turns."""
    merged: list[ModelMessage] = []
    for message in messages:
        last = merged[-1] if merged else None
        if isinstance(last, ModelRequest) and isinstance(message, ModelRequest):
            merged[-1] = replace(last, parts=[*last.parts, *message.parts])
        else:
            merged.append(message)
    return merged


def _block(exchange: Exchange) -> _Block:
    read = exchange.read
    picture, panels = exchange.drawn if exchange.drawn is not None else (None, ())
    if read.native:
        results = tuple(
            ToolReturnPart(call.proposed.op, answer, tool_call_id=call.id)
            for call, answer in zip(read.calls, exchange.words, strict=True)
        )
        named = _renamed(results, read)
        return _Block(read.echo, named, "", picture, panels)
    said = "\n".join(f"{index}. {answer}" for index, answer in enumerate(exchange.words, start=1))
    return _Block(read.echo, (), said or SILENT, picture, panels)


def _renamed(results: tuple[ToolReturnPart, ...], read: Read) -> tuple[ToolReturnPart, ...]:
    """Results under the names that were called, which is what providers match them by."""
    names = {part.tool_call_id: part.tool_name for part in (read.echo.tool_calls if read.echo else [])}
    return tuple(replace(result, tool_name=names.get(result.tool_call_id, result.tool_name)) for result in results)


def _with_newest_pictures(blocks: Sequence[_Block], number: int) -> list[_Block]:
    shown = [index for index, block in enumerate(blocks) if block.picture is not None]
    kept = set(shown[-number:]) if number else set()
    return [block if index in kept else replace(block, picture=None) for index, block in enumerate(blocks)]


__all__ = ["Exchange", "build", "exchange"]
