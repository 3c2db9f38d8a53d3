"""One batch that the tests look at from all sides."""

from __future__ import annotations

from pathlib import Path

import pytest
from batch_world import SAME_STEMS, Ears, broken, picture, script, settings

from material_agent.batch import run_batch


@pytest.fixture(scope="session")
def pictures(tmp_path_factory) -> Path:
    """Twelve files: the five of case L4, one more that is good, six that cannot be used."""
    folder = tmp_path_factory.mktemp("pictures")
    for number, name in enumerate((*SAME_STEMS, "e.webp")):
        picture(folder / name, number)
    broken(folder)
    return folder


@pytest.fixture(scope="session")
def actor(tmp_path_factory) -> Path:
    return script(tmp_path_factory.mktemp("script") / "script.json")


@pytest.fixture(scope="session")
def idle(tmp_path_factory) -> Path:
    """A script that ends at once."""
    return script(tmp_path_factory.mktemp("script") / "idle.json", renders=False)


@pytest.fixture(scope="session")
def finished(pictures, actor, tmp_path_factory):
    """The batch over them with two tasks at once: result, folder, what was heard."""
    out, ears = tmp_path_factory.mktemp("batch") / "out", Ears()
    return run_batch(settings([str(pictures)], out, actor, jobs=2), listener=ears), out, ears


@pytest.fixture(scope="session")
def quick(pictures, idle, tmp_path_factory):
    """The same without a render: for what does not look at materials."""
    out, ears = tmp_path_factory.mktemp("batch") / "quick", Ears()
    return run_batch(settings([str(pictures)], out, idle, jobs=2), listener=ears), out, ears
