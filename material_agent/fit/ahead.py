"""What is slow to import, imported while Blender starts."""

from __future__ import annotations

import importlib
import threading
from contextlib import suppress

from material_agent.config import RunConfig


def import_ahead(config: RunConfig) -> None:
    """Import what a run of these settings needs, in a thread of its own, which the end of the process waits for.

    Whoever needs a module meanwhile waits for that one import.
    What is missing or broken is met again, and reported, where it is needed.
    """
    needed = {
        "torch": config.network != "off",
        "cma": config.search,
        "drjit": config.search and config.search_engine == "auto",
    }
    threading.Thread(target=_import, args=(tuple(name for name, is_needed in needed.items() if is_needed),)).start()


def _import(names: tuple[str, ...]) -> None:
    for name in names:
        with suppress(Exception):
            importlib.import_module(name)
