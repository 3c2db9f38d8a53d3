"""Reading the JSON tables beside this file."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import resources
from typing import Any


@lru_cache(maxsize=8)
def load_table(name: str) -> Any:
    """Parse a table; a caller must not change what it gets."""
    return json.loads((resources.files("evaluators.data") / name).read_text(encoding="utf-8"))
