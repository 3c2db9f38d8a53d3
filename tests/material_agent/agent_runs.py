"""Actors and reflectors for whole runs. Importable by a fresh process too, for the tests that kill one."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from agent_reflections import reflection
from agent_world import GIVE_UP, RENDER, SUCCESS, actions, brick, noise

from graph_api import AddNode, Ban, Render, SetParam
from material_agent.actors import AttemptSetup, Turn
from material_agent.config import RunConfig
from material_agent.context import Context
from material_agent.fit import RunResult, run_fit
from material_agent.memory import Evidence, GraphChange, Reflection
from material_agent.observation import Bench
from renderer import BlenderPool

SIDE = 128
Plans = Sequence[Sequence[dict[str, Any]]]


def config(reference: Path, out: Path, **settings: Any) -> RunConfig:
    """A small, quick run."""
    given = {"quality": "draft", "network": "off", "step_resolution": SIDE, "report_resolution": SIDE, "jobs": 1}
    return RunConfig(reference=str(reference), out=out, **{**given, **settings})


class Plays:
    """An actor factory: attempt n plays one turn of actions, plan n (the last one again beyond the end)."""

    def __init__(self, plans: Plans, structures: Sequence[str] = ()) -> None:
        self.plans = plans
        self.structures = structures
        self.contexts: list[Context] = []

    def __call__(self, setup: AttemptSetup) -> Plays.One:
        index = min(setup.attempt, len(self.plans)) - 1
        structure = self.structures[index] if index < len(self.structures) else ""
        return Plays.One(Turn(actions(*self.plans[index]), "as planned", structure), self.contexts)

    class One:
        name = "plays"

        def __init__(self, turn: Turn, contexts: list[Context]) -> None:
            self.turn = turn
            self.contexts = contexts

        def act(self, context: Context, bench: Bench) -> Turn:
            self.contexts.append(context)
            return self.turn


class Searches:
    """An actor that searches the scale of the bricks from its seed, builds the best and renders it.

    `fatal`: the attempt in which it prints the ids of the run's processes and sends the run this signal.
    """

    name = "searches"

    def __init__(self, setup: AttemptSetup, fatal: tuple[int, int] | None = None) -> None:
        self.setup = setup
        self.fatal = fatal

    def act(self, context: Context, bench: Bench) -> Turn:
        scales = np.random.default_rng(self.setup.seed).uniform(2.0, 9.0, 6)
        trials = bench.try_many([actions(*brick(float(scale))) for scale in scales], resolution=64)
        if self.fatal is not None and self.setup.attempt == self.fatal[0]:
            print(*(child.pid for child in psutil.Process().children(recursive=True)), flush=True)
            os.kill(os.getpid(), self.fatal[1])
        best = max(trials, key=lambda trial: trial.score)
        return Turn((*best.edits, *actions(RENDER, GIVE_UP)), f"scale by screen {best.score:.3f}", "bricks")


class Bans:
    """A reflector that cites the last verdict truly, bans one texture as macro and asks for another."""

    name = "bans"

    def __init__(self, banned: str, wanted: str) -> None:
        self.banned = banned
        self.wanted = wanted
        self.asked: list[str] = []

    def reflect(self, context: Context, outcome: str, label: str) -> Reflection:
        self.asked.append(outcome)
        seen = next(step.observation for step in reversed(context.history) if isinstance(step.action, Render))
        return reflection(
            evidence=(Evidence(seen.id, "reward", seen.evaluation.reward, "the reward"),),
            graph_change=GraphChange(f"use {self.wanted}", (AddNode(self.wanted, role="macro"),)),
            forbidden_op=Ban("node", type=self.banned, role="macro"),
        )


def search_run(
    reference: Path,
    out: Path,
    *,
    fatal: tuple[int, int] | None = None,
    pool: BlenderPool | None = None,
    resume: bool = False,
    **settings: Any,
) -> RunResult:
    """A run of two searching attempts without reflections."""
    return run_fit(
        config(reference, out, **{"attempts": 2, **settings}),
        actor_factory=lambda setup: Searches(setup, fatal),
        reflector=None,
        renderer=pool,
        resume=resume,
    )


__all__ = [
    "GIVE_UP",
    "RENDER",
    "SUCCESS",
    "Bans",
    "Plays",
    "Searches",
    "SetParam",
    "brick",
    "config",
    "noise",
    "search_run",
    "signal",
]
