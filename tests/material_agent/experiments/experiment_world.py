"""Small plans, and an engine that does their units in this process with the session's Blender."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from agent_world import GIVE_UP, RENDER, brick, noise

from material_agent.batch import TaskResult, TaskSpec, run_task
from material_agent.batch.config import share
from material_agent.batch.runner import ProgressListener
from material_agent.experiments.plan import Plan, plan_from
from renderer import BlenderPool

REFERENCES = ("brick_long", "rough_plaster", "checkerboard", "pebbles", "marble_veins", "tile_oblong")
RUN: dict[str, Any] = {
    "attempts": 1,
    "quality": "draft",
    "search": False,
    "tune": False,
    "network": "off",
    "accept_reward": 0.7,
    "max_steps": 3,
    "limits": {"renders": 4, "actions": 400},
}


class Here:
    """An engine without processes; `stop_after`: units after which it is interrupted, as by Ctrl-C."""

    name = "here"
    far = False

    def __init__(self, pool: BlenderPool, stop_after: int | None = None) -> None:
        self.pool = pool
        self.portion = share(2)
        self.stop_after = stop_after
        self.done: list[str] = []

    def run(self, specs: Iterable[TaskSpec], listen: ProgressListener) -> Iterator[TaskResult]:
        for spec in specs:
            if self.stop_after is not None and len(self.done) >= self.stop_after:
                raise KeyboardInterrupt
            self.done.append(spec.id)
            yield run_task(spec, renderer=self.pool)


def plan(folder: Path = Path(), **changes: Any) -> Plan:
    """Two arms on two references, or what `changes` make of that."""
    data: dict[str, Any] = {
        "name": "small",
        "title": "Small",
        "question": "Does it run?",
        "references": list(REFERENCES[:2]),
        "side": 48,
        "editability": False,
        "run": RUN,
        "statistics": {"resamples": 500},
    }
    data |= changes
    if "arms" not in data and "factors" not in data:
        data["arms"] = {"one": {"run": {"inner": "one_shot"}}, "two": {}}
    return plan_from(data, folder)


def script(folder: Path) -> str:
    """A script of two attempts beside the plan: noise, then bricks."""
    turns = [
        [{"actions": [*edits, RENDER, GIVE_UP], "reason": "as planned", "structure": name}]
        for name, edits in (("noise", noise()), ("bricks", brick()))
    ]
    (folder / "script.json").write_text(json.dumps({"attempts": turns}))
    return "scripted:script.json"
