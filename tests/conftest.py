"""Fixtures that several packages' tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from renderer import BlenderPool

# As the command line does; read when torch loads its OpenMP, which no import above does.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@pytest.fixture(scope="session")
def pool() -> Iterator[BlenderPool]:
    """One Blender pool for the whole session: a start costs a second, a small render a few milliseconds."""
    with BlenderPool(jobs=2) as blender:
        yield blender
