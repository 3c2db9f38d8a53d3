"""A real HTTP server on loopback that speaks OpenAI's chat protocol and plays a scripted model."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-loopback-0123456789abcdef"


@dataclass
class Answer:
    """What the server says to one request.

    `calls` are (tool, arguments): text is sent as it is, anything else as JSON. `ids` replaces the calls' ids.
    """

    text: str | None = None
    calls: Sequence[tuple[str, Any]] = ()
    ids: Sequence[str] = ()
    status: int = 200
    error: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    raw: bytes | None = None
    usage: dict[str, int] | None = field(
        default_factory=lambda: {"prompt_tokens": 900, "completion_tokens": 60, "total_tokens": 960}
    )


Play = Callable[[dict[str, Any], int], Answer]


class ModelServer:
    """The server with what it was asked: `asked` holds every body, `headers` every request's headers."""

    def __init__(self, play: Play) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                """Quiet."""

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append(body)
                outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                outer.times.append(time.monotonic())
                answer = play(body, len(outer.asked) - 1)
                if answer.delay_s:
                    time.sleep(answer.delay_s)
                with suppress(BrokenPipeError, ConnectionResetError):  # the client did not wait
                    self._send(answer, body)

            def _send(self, answer: Answer, body: dict[str, Any]) -> None:
                data = (
                    answer.raw if answer.raw is not None else json.dumps(_body(answer, body, len(outer.asked))).encode()
                )
                self.send_response(answer.status)
                for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def results(self) -> dict[str, str]:
        """Call id → result, as the last request told."""
        return {m["tool_call_id"]: m["content"] for m in self.asked[-1]["messages"] if m["role"] == "tool"}

    @property
    def words(self) -> str:
        """Everything in words that the last request holds."""
        return text_of(self.asked[-1])


def _body(answer: Answer, body: dict[str, Any], number: int) -> dict[str, Any]:
    if answer.error is not None:
        return {"error": answer.error}
    calls = [
        {
            "id": answer.ids[index] if index < len(answer.ids) else f"call_{number}_{index}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for index, (name, given) in enumerate(answer.calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": message}
    made = {"id": f"r{number}", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice]}
    return made if answer.usage is None else {**made, "usage": answer.usage}


def text_of(body: dict[str, Any]) -> str:
    parts = []
    for message in body["messages"]:
        content = message.get("content") or ""
        parts += [content] if isinstance(content, str) else [item.get("text", "") for item in content]
    return "\n".join(parts)


def images_in(body: dict[str, Any]) -> int:
    return sum(
        item.get("type") == "image_url"
        for message in body["messages"]
        if isinstance(message.get("content"), list)
        for item in message["content"]
    )


def calls(*actions: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Actions in JSON as calls."""
    return [(one["op"], {key: value for key, value in one.items() if key != "op"}) for one in actions]


def in_turn(*answers: Answer) -> Play:
    """Plays answers in order; the last one again beyond the end."""
    return lambda body, number: answers[min(number, len(answers) - 1)]


@contextmanager
def serving(play: Play) -> Iterator[ModelServer]:
    with ModelServer(play) as server:
        yield server
