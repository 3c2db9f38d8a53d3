"""Which model is asked, and how; without the library that asks it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from material_agent.errors import BadInput

BASE_URL_VARIABLE = "MATERIAL_AGENT_BASE_URL"


@dataclass(frozen=True)
class LLMSettings:
    """How a model is asked.

    `base_url`: of a server that speaks a provider's protocol, empty for the provider's own. `timeout_s` bounds one
    call, `tries` the calls for one answer (the first included), `max_wait_s` one wait that a server may ask for.
    `max_output_tokens` bounds an answer, `context_tokens` what is sent, by our estimate. `pictures` is how many of the
    newest renders are shown beside the reference. `vision` and `native_tools` None: found out by asking.
    `temperature` None: the model's default. `record` and `replay`: a file of requests and replies.
    """

    base_url: str = ""
    timeout_s: float = 180.0
    tries: int = 6
    max_wait_s: float = 120.0
    max_output_tokens: int = 4096
    context_tokens: int = 24_000
    pictures: int = 3
    vision: bool | None = None
    native_tools: bool | None = None
    temperature: float | None = None
    record: Path | None = None
    replay: Path | None = None

    def __post_init__(self) -> None:
        if self.record is not None and self.replay is not None:
            raise BadInput("expected one of record and replay, got both")


@dataclass(frozen=True)
class ModelSpec:
    """A model by provider and name; `base_url` is empty for the provider's own server."""

    provider: str
    name: str
    base_url: str = ""

    @property
    def label(self) -> str:
        """`provider:name`."""
        return f"{self.provider}:{self.name}"

    @property
    def host(self) -> str:
        """The host of `base_url`, empty without one."""
        return urlsplit(self.base_url).netloc


def parse_model(text: str, base_url: str = "") -> ModelSpec:
    """The model that `PROVIDER:MODEL` names; `base_url` defaults to the environment's `MATERIAL_AGENT_BASE_URL`.

    Raises `BadInput` for other text, and for a URL that is none or that carries a secret.
    """
    provider, colon, name = text.partition(":")
    provider = provider.strip().lower()
    if not colon or not provider or not name.strip():
        raise BadInput(f"expected PROVIDER:MODEL, such as openai:gpt-5 or ollama:qwen3-vl, got {text!r}")
    url = base_url or os.environ.get(BASE_URL_VARIABLE, "")
    if url:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadInput(f"expected a base URL with http or https, got {url.partition('?')[0]!r}")
        if parts.username or parts.password or parts.query:
            raise BadInput(
                "expected a base URL without user, password or query: a key belongs into the environment or keyring"
            )
    return ModelSpec(provider, name.strip(), url)
