"""Options of the commands that may ask a language model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from material_agent.actors.models import LLMSettings

ActorName = Annotated[str, typer.Option("--actor", help="builtin, scripted:FILE, or PROVIDER:MODEL.")]
ReflectorName = Annotated[
    str, typer.Option("--reflector", help="builtin or PROVIDER:MODEL; without it the actor's own.", show_default=False)
]
BaseUrl = Annotated[
    str, typer.Option("--base-url", help="A server that speaks the provider's protocol.", show_default=False)
]
Record = Annotated[
    Path | None, typer.Option("--record", help="Write the model's requests and replies here.", show_default=False)
]
Replay = Annotated[
    Path | None, typer.Option("--replay", help="Answer from a recording, without network.", show_default=False)
]
ContextTokens = Annotated[int, typer.Option("--context-tokens", min=1000, help="What a request may hold, estimated.")]
ModelTimeout = Annotated[float, typer.Option("--model-timeout", min=0.1, help="Seconds for one answer of the model.")]
Vision = Annotated[
    bool | None, typer.Option("--vision/--no-vision", help="Whether the model sees.", show_default="found out")
]
Tools = Annotated[
    bool | None, typer.Option("--tools/--no-tools", help="Whether it can call tools.", show_default="found out")
]
MaxCalls = Annotated[
    int | None, typer.Option("--max-calls", min=0, help="Calls of the model in the run.", show_default=False)
]
MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", min=0, help="Tokens of the model in the run.", show_default=False)
]
MaxMoney = Annotated[
    float | None, typer.Option("--max-money", min=0, help="US dollars that the run may cost.", show_default=False)
]
NoTune = Annotated[bool, typer.Option("--no-tune", help="The actor may not ask for a search over numbers.")]


def model_settings(
    base_url: str,
    record: Path | None,
    replay: Path | None,
    context_tokens: int,
    timeout_s: float,
    vision: bool | None,
    tools: bool | None,
) -> LLMSettings:
    """The options as settings. Raises `BadInput` when they contradict each other."""
    from material_agent.actors.models import LLMSettings

    return LLMSettings(
        base_url=base_url,
        record=record,
        replay=replay,
        context_tokens=context_tokens,
        timeout_s=timeout_s,
        vision=vision,
        native_tools=tools,
    )


def model_limits(calls: int | None, tokens: int | None, money_usd: float | None) -> dict[str, float]:
    """The limits that were set, by the ledger's names."""
    given = {"calls": calls, "tokens": tokens, "money_usd": money_usd}
    return {name: float(value) for name, value in given.items() if value is not None}


def spending(spent: Mapping[str, float]) -> list[str]:
    """What a model cost, in a line; nothing when none was asked."""
    if not spent.get("calls"):
        return []
    money = f"{spent['money_usd']:.4f} USD" if spent.get("money_usd") else "price unknown"
    failed = f" ({spent['failed_calls']:.0f} failed)" if spent.get("failed_calls") else ""
    return [f"model       {spent['calls']:.0f} calls{failed}, {spent.get('tokens', 0):.0f} tokens, {money}"]
