"""What tools answer with: words, figures as data, pictures."""

from __future__ import annotations

import base64
import io
import json
import math
from collections.abc import Sequence
from typing import Any

from mcp_types import CallToolResult, ContentBlock, ImageContent, ResourceLink, TextContent
from PIL import Image

from material_agent.actors.pictures import comparison
from material_agent.actors.words import observation_words
from material_agent.events import evaluation_record
from material_agent.observation import FloatArray, Observation

PICTURE_PX = 512


def graph_uri(task: str) -> str:
    """The resource that is a task's graph."""
    return f"material://tasks/{task}/graph"


def graph_link(task: str) -> ResourceLink:
    """A link to a task's graph."""
    return ResourceLink(
        uri=graph_uri(task), name="graph", description="The graph as JSON", mime_type="application/json"
    )


def refusal(text: str) -> CallToolResult:
    """An answer that says what is wrong."""
    return CallToolResult(content=[TextContent(text=text)], is_error=True)


def answer(text: str, data: dict[str, Any], more: Sequence[ContentBlock] = ()) -> CallToolResult:
    """Words, the same as data, and whatever else."""
    clean = json.loads(json.dumps(_finite(data)))
    return CallToolResult(content=[TextContent(text=text), *more], structured_content=clean)


def observed(seen: Observation, reference: FloatArray) -> CallToolResult:
    """An observation: its words, its data, each rendered channel, and for the flat view a strip with the reference."""
    pictures: list[ContentBlock] = []
    for channel in seen.images:
        pictures += [TextContent(text=f"{seen.view} {channel}:"), picture(seen.picture(channel))]
    drawn = comparison(reference, seen) if seen.view == "flat" else None
    if drawn is not None:
        pictures += [
            TextContent(text=f"from left to right: {', '.join(drawn.panels)}"),
            _picture(drawn.jpeg, "image/jpeg"),
        ]
    made = answer(observation_words(seen), observation_data(seen), pictures)
    return made.model_copy(update={"is_error": seen.status != "ok"})


def observation_data(seen: Observation) -> dict[str, Any]:
    """An observation as JSON, without its pictures."""
    record = None if seen.evaluation is None else evaluation_record(seen.evaluation).model_dump(mode="json")
    return {
        "id": seen.id,
        "op": seen.op,
        "status": seen.status,
        "changed": list(seen.changed),
        "messages": list(seen.messages),
        "node": seen.node,
        "summary": seen.summary,
        "view": seen.view,
        "evaluation": record,
        "remaining": {name: amount for name, amount in seen.remaining.items() if name != "seconds"},
    }


def picture(bits: Any) -> ImageContent:
    """An 8-bit array, (H, W, 3) or (H, W), as a picture of at most `PICTURE_PX` a side."""
    image = Image.fromarray(bits)
    image.thumbnail((PICTURE_PX, PICTURE_PX), Image.Resampling.LANCZOS)
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return _picture(stream.getvalue(), "image/png")


def _picture(data: bytes, mime_type: str) -> ImageContent:
    return ImageContent(data=base64.b64encode(data).decode(), mime_type=mime_type)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value
