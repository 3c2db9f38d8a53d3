"""The commands by name, in the order in which help lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from material_agent.cli.doctor import doctor
from material_agent.cli.output import Reply

COMMANDS: Mapping[str, Callable[..., Reply]] = {
    "doctor": doctor,
}
