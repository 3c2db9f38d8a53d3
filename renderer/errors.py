"""Errors of the renderer that end a run: everything recoverable is a `RenderResult` instead."""

from __future__ import annotations


class RendererError(Exception):
    """Base of the errors that callers of the renderer may meet."""


class BlenderUnavailable(RendererError):
    """Blender cannot be loaded in this environment; the message says in one line what to install."""


class PoolClosed(RendererError):
    """The pool was used after `close()`."""
