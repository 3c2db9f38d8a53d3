"""Fixtures of the agent's tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from agent_world import World, brick, make_world, picture, write_reference

from renderer import BlenderPool


@pytest.fixture(scope="session")
def brick_image(pool: BlenderPool) -> np.ndarray[Any, Any]:
    """The reference with a known answer: bricks that Blender rendered."""
    return picture(pool, brick())


@pytest.fixture(scope="session")
def brick_file(pool: BlenderPool, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as a file."""
    return write_reference(pool, tmp_path_factory.mktemp("reference") / "bricks.png")


@pytest.fixture
def world(pool: BlenderPool, brick_image: np.ndarray[Any, Any]) -> World:
    """A fresh environment on that reference, at the start graph."""
    return make_world(pool, brick_image)
