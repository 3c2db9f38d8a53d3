"""One call to a model: our request out, the library's reply or a typed failure back. No retries, no money, no log."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Protocol, Self

from anyio.from_thread import BlockingPortal, start_blocking_portal
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRequestTimeout,
    ModelTimeoutError,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers import Provider, infer_provider_class
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from material_agent.actors.llm.keys import find_key, redactor
from material_agent.actors.models import ModelSpec
from material_agent.errors import BadInput

FailureKind = Literal[
    "timeout", "connection", "rate_limit", "quota", "server", "refused", "no_tools", "no_images", "too_long",
    "bad_request", "bad_reply",
]  # fmt: skip
PASSING: frozenset[FailureKind] = frozenset({"timeout", "connection", "rate_limit", "server", "bad_reply"})
"""What may be gone at the next try."""

_NO_TOOLS = re.compile(r"\b(tools?|tool_choice|function.?call\w*)\b", re.IGNORECASE)
_NO_IMAGES = re.compile(r"\b(image|vision|multi-?modal|mmproj|image_url|content part)", re.IGNORECASE)
_TOO_LONG = re.compile(r"context.{0,20}(size|length|window)|too many tokens|prompt is too long", re.IGNORECASE)
_DENIED = re.compile(
    r"\bnot? (?:support|available|enable|implement)|unsupported|n.t support|requires? |invalid|unknown", re.IGNORECASE
)
_SAID = 400


@dataclass(frozen=True)
class Request:
    """What is sent: messages, tools (empty: none offered) and the bound of the answer."""

    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolDefinition, ...] = ()
    settings: ModelSettings = field(default_factory=ModelSettings)


class CallFailed(Exception):
    """A call that brought no reply. `retry_after_s` is what the server asked for, if it did."""

    def __init__(
        self, kind: FailureKind, message: str, status: int | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
        self.retry_after_s = retry_after_s


class Transport(Protocol):
    """Where requests go."""

    replayed: bool
    sees: bool

    def send(self, request: Request, timeout_s: float) -> ModelResponse:
        """One call; raises `CallFailed`."""
        ...

    def close(self) -> None:
        """Let go of connections; safe to call twice."""
        ...


class ProviderTransport:
    """Calls a provider through the library, one try at a time.

    The library is asynchronous; it runs on a thread of its own, so that a caller with an event loop can use it too.
    """

    replayed = False

    def __init__(self, spec: ModelSpec) -> None:
        """Raises `BadInput` for a provider that is unknown, not installed, or without its key."""
        key = find_key(spec)
        self._redact: Callable[[str], str] = redactor(key)
        self._model = _open(spec, key, self._redact)
        self.sees = bool(self._model.profile.get("supports_image_input", True))
        self._holder: AbstractContextManager[BlockingPortal] | None = None
        self._portal: BlockingPortal | None = None

    def send(self, request: Request, timeout_s: float) -> ModelResponse:
        """One call; raises `CallFailed`."""
        if self._portal is None:
            self._holder = start_blocking_portal()
            self._portal = self._holder.__enter__()
        settings = ModelSettings(**request.settings, max_retries=0, request_timeout=timeout_s, timeout=timeout_s)
        offered = ModelRequestParameters(function_tools=list(request.tools))

        async def call() -> ModelResponse:
            return await model_request(
                self._model, list(request.messages), model_settings=settings, model_request_parameters=offered
            )

        future = self._portal.start_task_soon(call)
        try:
            return self._cleaned(future.result())
        except (ModelAPIError, UnexpectedModelBehavior, UserError) as error:
            raise self._failure(error) from error
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            # What the library makes of a body that is JSON, but not of the protocol.
            raise CallFailed("bad_reply", f"an answer that is none ({type(error).__name__}: {error})") from error
        except BaseException:
            future.cancel()  # the user's interruption reaches the call too
            raise

    def close(self) -> None:
        """Stop the thread."""
        if self._holder is not None:
            self._holder.__exit__(None, None, None)
            self._holder = self._portal = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _cleaned(self, reply: ModelResponse) -> ModelResponse:
        """The reply without our secrets, should a server repeat them: it goes into logs and recordings."""
        text = ModelMessagesTypeAdapter.dump_json([reply]).decode()
        clean = self._redact(text)
        if clean == text:
            return reply
        again = ModelMessagesTypeAdapter.validate_json(clean)[0]
        assert isinstance(again, ModelResponse), "a reply stays a reply"
        return again

    def _failure(self, error: Exception) -> CallFailed:
        status = error.status_code if isinstance(error, ModelHTTPError) else None
        after = error.retry_after if isinstance(error, ModelAPIError) else None
        text = self._redact(_words(error))[:_SAID]
        return CallFailed(_kind(error, status, text), text, status, after)


def _words(error: Exception) -> str:
    """What the server said, without the library's own words where the body has some."""
    body = error.body if isinstance(error, ModelAPIError) else None
    if isinstance(body, dict):
        inner = body.get("error", body)
        said = inner.get("message", inner) if isinstance(inner, dict) else inner
        return " ".join(str(said).split())
    return " ".join(str(error).split())


def _kind(error: Exception, status: int | None, text: str) -> FailureKind:
    found: FailureKind = "bad_reply"
    if isinstance(error, ModelRequestTimeout | ModelTimeoutError):
        found = "timeout"
    elif isinstance(error, ModelQuotaExceededError):
        found = "quota"
    elif isinstance(error, ModelContextWindowExceededError):
        found = "too_long"
    elif isinstance(error, ModelHTTPError) and status is not None:
        found = _kind_of_status(status, text)
    elif isinstance(error, UserError):
        found = "refused"
    elif isinstance(error, ModelAPIError) and not isinstance(error.__cause__, ValueError):
        found = "connection"
    return found


def _kind_of_status(status: int, text: str) -> FailureKind:
    if status in (401, 403, 404):
        return "refused"
    if status == 429:
        return "rate_limit"
    # Servers say it with a 400, a 422 or a 500: the words decide.
    if _DENIED.search(text):
        if _NO_IMAGES.search(text):
            return "no_images"
        if _NO_TOOLS.search(text):
            return "no_tools"
    if _TOO_LONG.search(text):
        return "too_long"
    return "server" if status >= 500 or status in (408, 409, 425) else "bad_request"


def _open(spec: ModelSpec, key: str | None, redact: Callable[[str], str]) -> Model[Any]:
    try:
        if spec.base_url and spec.provider in ("openai", "openai-chat"):
            provider = OpenAICompatibleProvider("openai-compatible", base_url=spec.base_url, api_key=key)
            return OpenAIChatModel(spec.name, provider=provider)
        return infer_model(spec.label, lambda name: _provider(name, spec, key))
    except (UserError, ValueError, ImportError, TypeError) as error:
        raise BadInput(f"expected a model that can be asked, got {spec.label}: {redact(str(error))}") from error


def _provider(name: str, spec: ModelSpec, key: str | None) -> Provider[Any]:
    kind = infer_provider_class(name)
    accepted = inspect.signature(kind.__init__).parameters
    given: dict[str, str] = {}
    if key is not None and "api_key" in accepted:
        given["api_key"] = key
    if spec.base_url:
        url = next((word for word in ("base_url", "api_base") if word in accepted), None)
        if url is None:
            raise BadInput(f"expected a provider that takes a base URL, got {name}; openai:MODEL takes any")
        given[url] = spec.base_url
    return kind(**given)
