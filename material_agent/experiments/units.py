"""The units of a plan: one arm on one reference with one seed each, as tasks of the batch engine."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from material_agent.actors.models import LLMSettings
from material_agent.batch.config import BatchConfig, Share, TaskSpec, fingerprint
from material_agent.batch.plan import with_time
from material_agent.batch.store import Store, sha256_of
from material_agent.experiments.appraisal import Appraisal
from material_agent.experiments.pictures import Picture
from material_agent.experiments.plan import Arm, Plan
from references import SetItem

RUNS = "runs"


@dataclass(frozen=True)
class Unit:
    """One run of an experiment."""

    arm: Arm
    picture: Picture
    seed_index: int

    @property
    def id(self) -> str:
        """Unique in the plan, and a folder's name."""
        return f"{self.picture.id}.s{self.seed_index}.{self.arm.id}"


def units_of(plan: Plan, pictures: Sequence[Picture], seeds: Sequence[int] | None = None) -> list[Unit]:
    """Every unit in the order in which it is run: block by block of reference and seed, the arms of a block by chance.

    So a machine that grows slow or an engine that stops early meets all arms alike.
    """
    units: list[Unit] = []
    for index in range(plan.file.seeds) if seeds is None else seeds:
        for picture in pictures:
            order = np.random.default_rng([plan.file.seed, index, *picture.id.encode()]).permutation(len(plan.arms))
            units += [Unit(plan.arms[k], picture, index) for k in order]
    return units


def unit_seed(plan: Plan, unit: Unit) -> int:
    """The run's seed in [0, 2³²): arms of one stream share it on one reference and seed index."""
    text = f"{plan.file.seed}/{unit.arm.stream}/{unit.seed_index}/{unit.picture.id}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def task_of(plan: Plan, unit: Unit, store: Store, portion: Share) -> TaskSpec:
    """The unit as a task; its fingerprint holds everything that its result depends on."""
    seed, folder = unit_seed(plan, unit), f"{RUNS}/{unit.id}"
    config = plan.config(
        unit.arm,
        reference=str(unit.picture.path),
        out=store.local(folder) or Path(folder),
        seed=seed,
        jobs=portion.workers,
        truth=unit.picture.truth,
    )
    truth = unit.picture.truth if plan.file.oracle else ""
    appraisal = Appraisal(truth, plan.file.truth_accept or config.accept_reward, plan.file.editability)
    actor = actor_of(plan, unit.arm)
    batch = BatchConfig(
        references=("unit",), out=store.root, run=config, actor=actor, reflector=unit.arm.reflector, models=plan.models
    )
    settings = {**batch.settings, "seed": seed, "reflector": unit.arm.reflector, "appraisal": dict(appraisal.key)}
    settings |= {"models": _asked(plan.models)} if actor.partition(":")[0] not in ("builtin", "scripted") else {}
    sha256 = sha256_of(unit.picture.path)
    task = TaskSpec(
        item=SetItem(unit.id, str(unit.picture.path), unit.picture.id),
        config=config,
        actor=actor,
        reflector=unit.arm.reflector,
        models=plan.models,
        store=store.root,
        folder=folder,
        settings=settings,
        fingerprint=fingerprint(settings, unit.id, {"picture": sha256}),
        threads=portion.render_threads,
        sha256=sha256,
        afterwards=appraisal,
    )
    return with_time(task)


def actor_of(plan: Plan, arm: Arm) -> str:
    """The arm's actor; a script's file is looked for beside the plan."""
    kind, _, argument = arm.actor.partition(":")
    return f"{kind}:{plan.folder / argument}" if kind == "scripted" else arm.actor


def _asked(models: LLMSettings) -> dict[str, object]:
    """How a model is asked, short of where: a server on loopback has another port each time."""
    names = ("max_output_tokens", "context_tokens", "pictures", "vision", "native_tools", "temperature")
    return {name: getattr(models, name) for name in names}
