"""How many tokens something costs, by an estimate that needs no model: enough to keep a budget."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from functools import singledispatch

from PIL import Image
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.tools import ToolDefinition

CHARACTERS = 3.5
"""Characters a token, for English and JSON; tokenizers of today lie between 3 and 4.5."""
PIXELS = 750
"""Pixels a token of a picture: Anthropic's published rule of thumb; other providers charge less for our sizes."""
OVERHEAD = 8


def text_tokens(text: str) -> int:
    """Tokens of a text."""
    return int(len(text) / CHARACTERS) + 1


def picture_tokens(data: bytes) -> int:
    """Tokens of a picture file, from its size in pixels."""
    width, height = Image.open(io.BytesIO(data)).size  # reads the header only
    return int(width * height / PIXELS) + 1


def tokens_of(messages: Sequence[ModelMessage], tools: Sequence[ToolDefinition] = ()) -> int:
    """Tokens of messages and the tools that are offered with them."""
    total = sum(text_tokens(f"{t.name}{t.description}{json.dumps(t.parameters_json_schema)}") + OVERHEAD for t in tools)
    for message in messages:
        total += sum(_part_tokens(part) for part in message.parts) + OVERHEAD
        if isinstance(message, ModelRequest) and message.instructions:
            total += text_tokens(message.instructions)
    return total


@singledispatch
def _part_tokens(part: object) -> int:
    return OVERHEAD


@_part_tokens.register
def _(part: UserPromptPart) -> int:
    if isinstance(part.content, str):
        return text_tokens(part.content)
    return sum(
        picture_tokens(item.data) if isinstance(item, BinaryContent) else text_tokens(str(item))
        for item in part.content
    )


@_part_tokens.register
def _(part: ToolReturnPart) -> int:
    return text_tokens(str(part.content)) + OVERHEAD


@_part_tokens.register
def _(part: TextPart) -> int:
    return text_tokens(part.content)


@_part_tokens.register
def _(part: ThinkingPart) -> int:
    return text_tokens(part.content)


@_part_tokens.register
def _(part: ToolCallPart) -> int:
    return text_tokens(f"{part.tool_name}{part.args}") + OVERHEAD
