"""How deep a value from outside may be nested: a deeper one overflows the stack of whoever walks or prints it."""

from __future__ import annotations

from collections.abc import Mapping

DEEPEST = 32
"""Levels; a color ramp as a model writes it has four, a reflection with one in its actions nine."""


def too_deep(value: object) -> bool:
    """Whether JSON-like data holds more than `DEEPEST` levels of lists and objects inside each other."""
    level = [value]
    for _ in range(DEEPEST + 1):
        nested = [outer for outer in level if isinstance(outer, Mapping | list | tuple)]
        if not nested:
            return False
        level = [item for outer in nested for item in (outer.values() if isinstance(outer, Mapping) else outer)]
    return True
