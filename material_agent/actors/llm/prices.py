"""What a reply costs, from the price table of `genai-prices`; an unknown price is None, never a guess."""

from __future__ import annotations

from genai_prices import calc_price
from pydantic_ai.messages import ModelResponse
from pydantic_ai.usage import RequestUsage

from material_agent.actors.models import ModelSpec


def price_usd(spec: ModelSpec, reply: ModelResponse) -> float | None:
    """US dollars for a reply, None when the table does not know the model or somebody else serves it."""
    return _price(spec, reply.model_name or spec.name, reply.usage) or _price(spec, spec.name, reply.usage)


def price_known(spec: ModelSpec) -> bool:
    """Whether calls of this model have a price in the table."""
    return _price(spec, spec.name, RequestUsage(input_tokens=1000, output_tokens=1000)) is not None


def _price(spec: ModelSpec, name: str, usage: RequestUsage) -> float | None:
    if spec.base_url:  # the same name on another server has another price, or none
        return None
    provider = spec.provider.removesuffix("-chat").removesuffix("-responses")
    try:
        return float(calc_price(usage, name, provider_id=provider).total_price)
    except LookupError:
        return None
