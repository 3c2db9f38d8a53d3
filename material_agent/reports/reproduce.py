"""How to run the same thing again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

# Setting → option. A setting that equals its default is left out.
_OPTIONS: Mapping[str, tuple[str, object]] = {
    "seed": ("--seed", None),
    "quality": ("--quality", None),
    "attempts": ("--attempts", 3),
    "memory_window": ("--memory", "3"),
    "shared_memory": ("--shared-memory", None),
    "patch_size_m": ("--patch-size", 1.0),
    "max_nodes": ("--max-nodes", 80),
    "max_steps": ("--max-steps", None),
    "start": ("--start", ""),
}
_LIMITS: Mapping[str, str] = {
    "actions": "--max-actions",
    "renders": "--max-renders",
    "candidates": "--max-candidates",
    "seconds": "--time-limit",
    "calls": "--max-calls",
    "tokens": "--max-tokens",
    "money_usd": "--max-money",
}


def fit_arguments(config: Mapping[str, Any], actor: str = "", reflector: str = "") -> list[str]:
    """The arguments of `material-agent` that ask for the run that `config` (a `RunConfig` as JSON) describes.

    `actor` and `reflector` are told when they are models; a script's file is not known by its name.
    """
    words = ["fit", str(config.get("reference", "")), "-o", str(config.get("out", ""))]
    for name, (option, default) in _OPTIONS.items():
        value = config.get(name)
        if value is not None and value != default:
            words += [option, f"{value:g}" if isinstance(value, float) else str(value)]
    for name, value in dict(config.get("limits") or {}).items():
        if name in _LIMITS:
            words += [_LIMITS[name], f"{value:g}"]
    for name, option in (("locks", "--lock"), ("only", "--only")):
        words += [part for word in config.get(name) or () for part in (option, str(word))]
    words += ["--no-tune"] if config.get("tune") is False else []
    words += ["--actor", actor] if ":" in actor else []
    return words + (["--reflector", reflector] if reflector != actor and ":" in f"{actor}{reflector}" else [])


def command_line(config: Mapping[str, Any], actor: str = "", reflector: str = "") -> str:
    """The same as one line for a shell."""
    return shlex.join(["material-agent", *fit_arguments(config, actor, reflector)])
