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
from material_agent.actors.llm.tokens import picture_tokens, tokens_of
from material_agent.actors.pictures import comparison_png, reference_png
from material_agent.actors.words import observation_words, quoted, state_words, task_words
from material_agent.context import Context
from material_agent.observation import FloatArray, Observation

NOT_DONE = "not done: the turn ended before this call"
NOTED = "noted"
SILENT = "Your last reply held no action. Propose at least one: nothing else changes the graph."
KEPT_TURNS = 1
"""The newest turns that are never left out."""


@dataclass(frozen=True)
class Exchange:
    """One turn: what the model said, and what came of each of its calls (None for a call that was not done)."""

    read: Read
    answers: tuple[Observation | None, ...] = ()


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
            content.append(BinaryContent(self.picture, media_type="image/png"))
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
    images: bool,
    pictures: int,
    budget: int,
) -> tuple[ModelMessage, ...]:
    """The messages for one turn, in at most `budget` tokens where that is possible.

    `pictures` bounds the renders that are shown, newest first; none without `images`.
    """
    blocks = [_block(exchange, context.task.image_srgb, images=images) for exchange in exchanges]
    blocks = _with_newest_pictures(blocks, pictures if images else 0)
    opening: list[UserContent] = [task_words(context)]
    if images:
        opening += ["The reference:", BinaryContent(reference_png(context.task.image_srgb), media_type="image/png")]
    closing = state_words(context)
    dropped = 0
    while True:
        messages = _assembled(opening, blocks[dropped:], closing, instructions, dropped)
        over = tokens_of(messages) - budget
        if over <= 0:
            return tuple(messages)
        oldest = next((i for i, one in enumerate(blocks) if i >= dropped and one.picture is not None), None)
        if oldest is not None and oldest < len(blocks) - 1:
            blocks[oldest] = replace(blocks[oldest], picture=None)
        elif dropped < len(blocks) - KEPT_TURNS:
            dropped += 1
        elif oldest is not None and over < picture_tokens(blocks[oldest].picture or b""):
            blocks[oldest] = replace(blocks[oldest], picture=None)
        else:
            return tuple(messages)


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


def _block(exchange: Exchange, reference: FloatArray, *, images: bool) -> _Block:
    read = exchange.read
    answers = [
        NOTED if call.proposed.op == "note" else NOT_DONE if seen is None else observation_words(seen)
        for call, seen in zip(read.calls, exchange.answers, strict=False)
    ]
    rendered = [seen for seen in exchange.answers if seen is not None and seen.images]
    drawn = comparison_png(reference, rendered[-1]) if rendered and images else None
    picture, panels = drawn if drawn is not None else (None, ())
    if read.native:
        results = tuple(
            ToolReturnPart(call.proposed.op, answer, tool_call_id=call.id)
            for call, answer in zip(read.calls, answers, strict=True)
        )
        named = _renamed(results, read)
        return _Block(read.echo, named, "", picture, panels)
    said = "\n".join(f"{index}. {answer}" for index, answer in enumerate(answers, start=1))
    return _Block(read.echo, (), said or SILENT, picture, panels)


def _renamed(results: tuple[ToolReturnPart, ...], read: Read) -> tuple[ToolReturnPart, ...]:
    """Results under the names that were called, which is what providers match them by."""
    names = {part.tool_call_id: part.tool_name for part in (read.echo.tool_calls if read.echo else [])}
    return tuple(replace(result, tool_name=names.get(result.tool_call_id, result.tool_name)) for result in results)


def _with_newest_pictures(blocks: Sequence[_Block], number: int) -> list[_Block]:
    shown = [index for index, block in enumerate(blocks) if block.picture is not None]
    kept = set(shown[-number:]) if number else set()
    return [block if index in kept else replace(block, picture=None) for index, block in enumerate(blocks)]


__all__ = ["Exchange", "build", "quoted"]
