"""A small known world for the tests of the agent: graphs, a reference with a known answer, and a log in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from evaluators import Evaluator, Target
from graph_api import action_from_json, apply, start_graph
from graph_api.model import Graph
from material_agent.budget import Ledger
from material_agent.context import Task
from material_agent.environment import Environment, Settings
from material_agent.events import Event
from renderer import BlenderPool, RenderRequest, RenderSettings, linear_to_srgb

SIDE = 128


def actions(*data: dict[str, Any]) -> tuple[Any, ...]:
    """Actions from their JSON."""
    return tuple(action_from_json(one) for one in data)


def add(kind: str, name: str, role: str = "") -> dict[str, Any]:
    return {"op": "add_node", "type": kind, "id": name, "role": role}


def link(src: str, dst: str, slot: str) -> dict[str, Any]:
    return {"op": "connect", "src": src, "dst": dst, "slot": slot}


def put(node: str, key: str, value: Any) -> dict[str, Any]:
    return {"op": "set_param", "node": node, "key": key, "value": value}


RENDER: dict[str, Any] = {"op": "render", "view": "flat", "maps": ["beauty"]}
SUCCESS: dict[str, Any] = {"op": "finish", "outcome": "success", "reason": "done"}
GIVE_UP: dict[str, Any] = {"op": "finish", "outcome": "unfinished", "reason": "enough"}


def brick(scale: float = 4.0) -> list[dict[str, Any]]:
    """The edits that build the bricks of the reference, at `scale`."""
    return [
        add("ShaderNodeTexBrick", "bricks", "macro"),
        link("mapping", "bricks", "Vector"),
        put("bricks", "Scale", scale),
        put("bricks", "Color1", [0.45, 0.16, 0.1, 1.0]),
        put("bricks", "Color2", [0.3, 0.1, 0.07, 1.0]),
        put("bricks", "Mortar", [0.6, 0.55, 0.5, 1.0]),
        link("bricks.Color", "principled", "Base Color"),
        put("principled", "Roughness", 0.8),
    ]


def noise(scale: float = 5.0) -> list[dict[str, Any]]:
    """The edits that build a plain noise."""
    return [
        add("ShaderNodeTexNoise", "noise", "macro"),
        link("mapping", "noise", "Vector"),
        put("noise", "Scale", scale),
        link("noise.Color", "principled", "Base Color"),
    ]


def build(edits: Sequence[dict[str, Any]]) -> Graph:
    graph = start_graph("5.0")
    for edit in actions(*edits):
        graph = apply(graph, edit).graph
    return graph


def picture(pool: BlenderPool, edits: Sequence[dict[str, Any]], side: int = 128) -> np.ndarray[Any, Any]:
    """What Blender makes of these edits, display-referred."""
    result = pool.render(RenderRequest(build(edits), settings=RenderSettings(resolution=side)))
    assert result.ok, result.messages
    return linear_to_srgb(result.channels["beauty"]).astype(np.float32)


def write_reference(pool: BlenderPool, path: Path) -> Path:
    """A picture of the bricks as a PNG."""
    Image.fromarray((picture(pool, brick()) * 255 + 0.5).astype(np.uint8)).save(path)
    return path


@dataclass
class Listed:
    """A log that is a list."""

    events: list[Event] = field(default_factory=list)

    def write(self, event: Event, attempt: int = 0) -> None:
        self.events.append(event.model_copy(update={"attempt": attempt}))

    def kinds(self, kind: str) -> list[Any]:
        return [event for event in self.events if event.kind == kind]


@dataclass
class World:
    """An environment on the brick reference."""

    environment: Environment
    ledger: Ledger
    log: Listed

    def play(self, *data: dict[str, Any]) -> list[Any]:
        return [self.environment.step(action) for action in actions(*data)]


def make_world(
    pool: BlenderPool, image: np.ndarray[Any, Any], limits: dict[str, float] | None = None, **settings: Any
) -> World:
    ledger, log = Ledger(limits or {}), Listed()
    task = Task("bricks", image, 1.0, "bricks")
    judge = Evaluator(Target.from_image(image), network="off")
    environment = Environment(task, pool, judge, ledger, log, Settings(**{"resolution": SIDE, **settings}))
    environment.reset(start_graph("5.0"))
    return World(environment, ledger, log)
