"""Errors of the preview that end a call: a graph that it cannot draw is a list of reasons instead (`unsupported`)."""

from __future__ import annotations

from renderer.errors import RendererError


class PreviewUnavailable(RendererError):
    """Dr.Jit or an LLVM library is missing; the message says in one line what to install."""


class PreviewUnsupported(RendererError):
    """A graph was compiled that the preview does not draw; the message names the nodes and the reasons."""
