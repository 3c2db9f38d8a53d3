"""Recording and replay: every call, failed ones included, as a line of JSON; a replay must ask the very same things."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse

from material_agent.actors.llm.wire import CallFailed, Request, Transport
from material_agent.errors import ActorGone, BadInput

SCHEMA = "material-agent/tape/1"
# What differs between two runs that ask the same.
_PASSING_FIELDS = frozenset({"timestamp", "run_id", "conversation_id"})


class Recorder:
    """Passes calls on and writes each to a file, flushed line by line.

    A picture is written once, where it first occurs, under its SHA-256; messages name it by that.
    """

    def __init__(self, inner: Transport, path: Path) -> None:
        """Raises `BadInput` when the file cannot be written."""
        self._inner = inner
        self.replayed = inner.replayed
        self.sees = inner.sees
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("w", encoding="utf-8")
        except OSError as error:
            raise BadInput(f"expected a file to record to, got {path}: {error.strerror}") from error
        self._pictures: set[str] = set()
        self._line({"schema": SCHEMA, "sees": inner.sees})

    def send(self, request: Request, timeout_s: float) -> ModelResponse:
        """One call; raises `CallFailed`."""
        pictures: dict[str, str] = {}
        asked = plain_request(request, pictures)
        for digest, data in pictures.items():
            if digest not in self._pictures:
                self._pictures.add(digest)
                self._line({"picture": digest, "data": data})
        try:
            reply = self._inner.send(request, timeout_s)
        except CallFailed as failure:
            said = {"kind": failure.kind, "message": failure.message, "status": failure.status,
                    "retry_after_s": failure.retry_after_s}  # fmt: skip
            self._line({"request": asked, "failure": said})
            raise
        self._line({"request": asked, "reply": ModelMessagesTypeAdapter.dump_python([reply], mode="json")[0]})
        return reply

    def close(self) -> None:
        """Close the file and what is behind it."""
        self._file.close()
        self._inner.close()

    def _line(self, data: dict[str, Any]) -> None:
        self._file.write(json.dumps(data, ensure_ascii=True, sort_keys=True) + "\n")
        self._file.flush()


class Player:
    """Answers from a recording, call by call, without any network."""

    replayed = True

    def __init__(self, path: Path) -> None:
        """Raises `BadInput` for what is no recording."""
        try:
            lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        except (OSError, ValueError) as error:
            raise BadInput(f"expected a recording, got {path}: {error}") from error
        if not lines or not all(isinstance(line, dict) for line in lines) or lines[0].get("schema") != SCHEMA:
            raise BadInput(f"expected a recording with {SCHEMA} in its first line, got {path}")
        self._calls = [line for line in lines[1:] if "request" in line]
        self.sees = bool(lines[0].get("sees", True))
        self._path = path
        self._next = 0

    def send(self, request: Request, timeout_s: float) -> ModelResponse:
        """The recorded answer. Raises `CallFailed` as recorded, `ActorGone` when another thing is asked."""
        number = self._next + 1
        if self._next >= len(self._calls):
            raise ActorGone(f"expected at most {len(self._calls)} calls, as recorded in {self._path}, got one more")
        call = self._calls[self._next]
        self._next += 1
        asked = json.loads(json.dumps(plain_request(request, {})))
        if asked != call["request"]:
            where = _difference(call["request"], asked)
            raise ActorGone(f"expected call {number} as recorded in {self._path}, got another request: {where}")
        if "failure" in call:
            said = call["failure"]
            raise CallFailed(said["kind"], said["message"], said["status"], said["retry_after_s"])
        try:
            reply = ModelMessagesTypeAdapter.validate_python([call["reply"]])[0]
        except (KeyError, ValidationError) as error:
            raise BadInput(f"expected a reply in call {number} of {self._path}, got {error}") from error
        if not isinstance(reply, ModelResponse):
            raise BadInput(f"expected a reply in call {number} of {self._path}, got a request")
        return reply

    def close(self) -> None:
        """Nothing is held."""


def plain_request(request: Request, pictures: dict[str, str]) -> dict[str, Any]:
    """A request as JSON with pictures by SHA-256; their data (base64) is put into `pictures`."""
    messages = ModelMessagesTypeAdapter.dump_python(list(request.messages), mode="json")
    tools = [
        {"name": t.name, "description": t.description, "parameters": t.parameters_json_schema} for t in request.tools
    ]
    return {"messages": _plain(messages, pictures), "tools": tools, "settings": dict(request.settings)}


def _plain(value: Any, pictures: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_plain(item, pictures) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _plain(item, pictures) for key, item in value.items() if key not in _PASSING_FIELDS}
    if kept.get("kind") == "binary" and isinstance(kept.get("data"), str):
        data = kept["data"]
        digest = hashlib.sha256(base64.urlsafe_b64decode(data + "=" * (-len(data) % 4))).hexdigest()
        pictures[digest] = data
        kept["data"] = digest
    return kept


def _difference(recorded: Any, asked: Any, where: str = "") -> str:
    """The first place where two JSON values differ, in words."""
    if isinstance(recorded, dict) and isinstance(asked, dict):
        for key in sorted({*recorded, *asked}):
            if recorded.get(key) != asked.get(key):
                return _difference(recorded.get(key), asked.get(key), f"{where}.{key}".lstrip("."))
    if isinstance(recorded, list) and isinstance(asked, list) and len(recorded) == len(asked):
        for index, (old, new) in enumerate(zip(recorded, asked, strict=True)):
            if old != new:
                return _difference(old, new, f"{where}[{index}]")
    return f"{where} was {str(recorded)[:120]!r}, is {str(asked)[:120]!r}"
