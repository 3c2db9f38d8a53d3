"""A name for what has no type: bpy ships no stubs, so its objects are `Any` to the type checker."""

from typing import Any

Bpy = Any

__all__ = ["Bpy"]
