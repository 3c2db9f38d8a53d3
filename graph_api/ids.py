"""Node ids: unique, readable, and safe as file names, JSON keys and Blender node names whatever they were made from."""

from __future__ import annotations

import unicodedata
from collections.abc import Container

MAX_BYTES = 48  # Blender cuts names at 255 bytes and appends ".001"; well below that an id is also a file name


def safe_id(name: str) -> str:
    """An id from any text: letters, digits and `_` of any script, lower case, at most 48 bytes; never empty."""
    kept = "".join(c if c.isalnum() else "_" for c in unicodedata.normalize("NFC", name.casefold()))
    while "__" in kept:
        kept = kept.replace("__", "_")
    cut = kept.strip("_").encode("utf-8", "ignore")[:MAX_BYTES].decode("utf-8", "ignore").strip("_")
    return cut or "node"


def fresh_id(name: str, taken: Container[str]) -> str:
    """`safe_id(name)`, numbered from 2 when taken."""
    base = safe_id(name)
    if base not in taken:
        return base
    number = 2
    while f"{base}_{number}" in taken:
        number += 1
    return f"{base}_{number}"


def acceptable(name: str) -> bool:
    """Whether a wanted id can be used as it is: printable, no dot or space at the ends, at most 64 bytes."""
    try:
        size = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        return False
    return 0 < size <= 64 and name.isprintable() and name == name.strip() and not any(c in name for c in './\\:*?"<>|')
