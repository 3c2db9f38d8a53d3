"""Asking a model until it answers: retries, waits, time-outs, limits, the ledger. One client serves a whole run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from pydantic_ai.messages import BinaryContent, ModelMessage, ModelRequest, ModelResponse, UserPromptPart

from material_agent.actors.llm.prices import price_known, price_usd
from material_agent.actors.llm.tape import Player, Recorder
from material_agent.actors.llm.tokens import tokens_of
from material_agent.actors.llm.wire import PASSING, CallFailed, ProviderTransport, Request, Transport
from material_agent.actors.models import LLMSettings, ModelSpec
from material_agent.budget import Ledger
from material_agent.errors import ActorError, ActorGone, BadInput, BudgetExhausted
from material_agent.events import Log, ModelCall

Purpose = Literal["act", "reflect"]
FIRST_WAIT_S, GROWTH = 1.0, 2.0
"""How long to wait before the second try when the server does not say, and by what the waits grow."""
LEAST_CONTEXT = 2000
"""A request that is too long is halved down to so many tokens; less holds no task."""
LEAST_ANSWER = 256
"""With fewer tokens left than this for an answer, a call is not made."""


@dataclass
class Abilities:
    """What the model can take; a refusal of the server turns one off, or makes one smaller, for the rest of the run."""

    images: bool
    tools: bool
    context_tokens: int


class Client:
    """A model with its account. `sleep` is what waits; a replay does not wait."""

    def __init__(
        self,
        spec: ModelSpec,
        settings: LLMSettings | None = None,
        transport: Transport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Raises `BadInput` for a model that cannot be asked, and for a recording that is none."""
        self.spec = spec
        self.settings = settings = settings or LLMSettings()
        if transport is None:
            transport = Player(settings.replay) if settings.replay is not None else ProviderTransport(spec)
            if settings.record is not None:
                transport = Recorder(transport, settings.record)
        self._transport = transport
        self._sleep: Callable[[float], None] = (lambda _: None) if transport.replayed else sleep
        self.abilities = Abilities(
            images=transport.sees if settings.vision is None else settings.vision,
            tools=True if settings.native_tools is None else settings.native_tools,
            context_tokens=settings.context_tokens,
        )
        self._ledger = Ledger()
        self._log: Log | None = None

    def begin(self, ledger: Ledger, log: Log) -> None:
        """Charge this ledger from now on, and write every call to this log.

        Raises `BadInput` for a limit of money when the model has no known price: it could not be held.
        """
        if "money_usd" in ledger.limits and not price_known(self.spec):
            raise BadInput(
                f"expected a model with a known price for a limit of money, got {self.spec.label}; limit its tokens"
            )
        self._ledger, self._log = ledger, log

    def close(self) -> None:
        """Let go of connections and files."""
        self._transport.close()

    def ask(self, build: Callable[[Abilities], Request], purpose: Purpose, attempt: int = 0) -> ModelResponse:
        """The answer to what `build` makes for the model's abilities.

        Raises `BudgetExhausted` for a limit, `ActorGone` when the model refuses or stays away, `ActorError` for a
        request that it cannot take.
        """
        waited, retry = 0.0, 0
        while True:
            asked = build(self.abilities)
            sent = tokens_of(asked.messages, asked.tools)
            request = self._bounded(asked, sent)
            try:
                return self._try(request, sent, purpose, attempt, retry, waited)
            except CallFailed as failure:
                if self._learn(failure):
                    waited = 0.0
                    retry += 1
                    continue
                retry += 1
                if failure.kind not in PASSING:
                    raise self._final(failure) from failure
                if retry >= self.settings.tries:
                    raise ActorGone(f"{self.spec.label} did not answer in {retry} calls: {_said(failure)}") from failure
                waited = self._wait(failure, retry)

    def _bounded(self, request: Request, sent: int) -> Request:
        """The request with its answer bounded by what is left; raises `BudgetExhausted` when that is too little."""
        self._ledger.require(calls=1, tokens=sent + LEAST_ANSWER)
        most = self.settings.max_output_tokens
        left = self._ledger.remaining.get("tokens")
        if left is not None:
            most = int(min(most, left - sent))
        bounded = {**request.settings, "max_tokens": most}
        if self.settings.temperature is not None:
            bounded["temperature"] = self.settings.temperature
        return replace(request, settings=bounded)  # type: ignore[arg-type]

    def _try(
        self, request: Request, sent: int, purpose: Purpose, attempt: int, retry: int, waited: float
    ) -> ModelResponse:
        seconds = self._ledger.remaining.get("seconds")
        timeout_s = self.settings.timeout_s if seconds is None else max(0.1, min(self.settings.timeout_s, seconds))
        call = ModelCall(
            purpose=purpose,
            model=self.spec.label,
            retry=retry,
            status="ok",
            waited_s=round(waited, 3),
            images=_count_images(request.messages),
            replayed=self._transport.replayed,
        )
        started = self._ledger.spent["seconds"]
        try:
            reply = self._transport.send(request, timeout_s)
        except CallFailed as failure:
            # A server that fell silent may have read what was sent, and bill it; one that refused did not.
            lost = sent if failure.kind in ("timeout", "connection", "bad_reply") else 0
            self._book(
                call.model_copy(
                    update={
                        "status": failure.kind,
                        "error": failure.message,
                        "input_tokens": lost,
                        "estimated": lost > 0,
                    }
                ),
                started,
                attempt,
            )
            raise
        usage = reply.usage
        told = usage.input_tokens + usage.output_tokens > 0
        told_tokens = (usage.input_tokens, usage.output_tokens)
        tokens = told_tokens if told else (sent, tokens_of((reply,)))
        price = price_usd(self.spec, reply) if told else None
        found = {"input_tokens": tokens[0], "output_tokens": tokens[1], "estimated": not told, "money_usd": price}
        self._book(call.model_copy(update=found), started, attempt)
        return reply

    def _book(self, call: ModelCall, started: float, attempt: int) -> None:
        latency = max(0.0, self._ledger.spent["seconds"] - started)
        self._ledger.charge(
            calls=1,
            failed_calls=0 if call.status == "ok" else 1,
            tokens=call.input_tokens + call.output_tokens,
            money_usd=call.money_usd or 0.0,
            model_seconds=round(latency, 3),
        )
        if self._log is not None:
            self._log.write(call.model_copy(update={"latency_s": round(latency, 3)}), attempt)

    def _learn(self, failure: CallFailed) -> bool:
        """Turn off what the server says it cannot take, unless it was asked for; whether the request may change."""
        if failure.kind == "no_images" and self.abilities.images and self.settings.vision is None:
            self.abilities.images = False
            return True
        if failure.kind == "no_tools" and self.abilities.tools and self.settings.native_tools is None:
            self.abilities.tools = False
            return True
        if failure.kind == "too_long" and self.abilities.context_tokens > LEAST_CONTEXT:
            self.abilities.context_tokens = max(LEAST_CONTEXT, self.abilities.context_tokens // 2)
            return True
        return False

    def _final(self, failure: CallFailed) -> ActorError:
        text = f"{self.spec.label}: {_EXPECTED.get(failure.kind, 'expected an answer')}, got {_said(failure)}"
        return ActorGone(text)

    def _wait(self, failure: CallFailed, retry: int) -> float:
        """Wait as the server asks, else longer each time; raises when that is longer than there is time."""
        asked = failure.retry_after_s
        seconds = FIRST_WAIT_S * GROWTH ** (retry - 1) if asked is None else asked
        if seconds > self.settings.max_wait_s:
            if asked is not None:
                raise ActorGone(
                    f"{self.spec.label} asks to wait {asked:g} s, expected at most {self.settings.max_wait_s:g}: "
                    f"{_said(failure)}"
                ) from failure
            seconds = self.settings.max_wait_s
        left = self._ledger.remaining.get("seconds")
        if left is not None and seconds >= left:
            spent = self._ledger.spent["seconds"]
            raise BudgetExhausted("seconds", spent + seconds, self._ledger.limits["seconds"]) from failure
        self._sleep(seconds)
        return seconds


_EXPECTED = {
    "refused": "expected a model that this key may use (is the key set, the name right?)",
    "quota": "expected an account with credit",
    "no_tools": "expected a model that supports tools (leave --tools out to have actions written as text)",
    "no_images": "expected a model that sees (leave --vision out to have numbers instead)",
    "too_long": "expected a request that fits the model's context (lower --context-tokens)",
    "bad_request": "expected a request that the server takes",
}


def _said(failure: CallFailed) -> str:
    status = f"HTTP {failure.status}: " if failure.status is not None else ""
    return f"{failure.kind} ({status}{failure.message})"


def _count_images(messages: tuple[ModelMessage, ...]) -> int:
    return sum(
        isinstance(item, BinaryContent)
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, UserPromptPart) and not isinstance(part.content, str)
        for item in part.content
    )
