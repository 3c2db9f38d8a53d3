"""Fixtures that several packages' tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from renderer import BlenderPool


@pytest.fixture(scope="session")
def pool() -> Iterator[BlenderPool]:
    """One Blender pool for the whole session: a start costs a second, a small render a few milliseconds."""
    with BlenderPool(jobs=2) as blender:
        yield blender
