"""From references and settings to tasks, and which of them are done already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from material_agent.batch.config import BatchConfig, Share, TaskSpec, fingerprint, task_seed
from material_agent.batch.gather import Gathered
from material_agent.batch.prepare import choices, contents, prepared
from material_agent.batch.result import RECORD, TaskResult, read_record
from material_agent.batch.store import Store
from material_agent.errors import BadInput
from references import SetItem

RUNS = "runs"
MEMORY = "memory.sqlite"
GRACE_S = 120.0  # a run that is told that its time is up still renders and writes its best
_CHECKS_AT_ONCE = 4


@dataclass(frozen=True)
class Plan:
    """The tasks of a batch in the order of their references; `kept` are complete results by id."""

    tasks: tuple[TaskSpec, ...]
    kept: dict[str, TaskResult]
    notes: tuple[str, ...] = ()

    @property
    def todo(self) -> list[TaskSpec]:
        """The tasks that are not done."""
        return [task for task in self.tasks if task.id not in self.kept]


def make_plan(config: BatchConfig, gathered: Gathered, store: Store, portion: Share, *, overwrite: bool) -> Plan:
    """Plan a batch and look at what the store holds of it.

    A complete result is kept when every file of it has the checksum that it had, and it was made from this picture
    with these settings. One of another picture, a damaged or an unfinished one is done again, with a note. One of other
    settings is done again with `overwrite`; without it `BadInput` says which setting changed.
    """
    settings = config.settings
    return look_over(
        [_task(config, item, store, settings, portion) for item in gathered.items], store, overwrite=overwrite
    )


def look_over(planned: Sequence[TaskSpec], store: Store, *, overwrite: bool) -> Plan:
    """What the store holds of these tasks, as `make_plan` says; also for tasks that are not one to a reference."""
    tasks = tuple(planned)
    with ThreadPoolExecutor(_CHECKS_AT_ONCE) as pool:
        found = list(pool.map(lambda task: _look(store, task), tasks))
    changed = [(task, result) for task, (result, _) in zip(tasks, found, strict=True) if _other_settings(task, result)]
    if changed and not overwrite:
        task, result = changed[0]
        raise BadInput(
            f"expected the settings of the {len(changed)} results in {store.root}, "
            f"got {_differences(result.settings if result else {}, task.settings)}; "
            "write to another folder, or have them done again with --overwrite"
        )
    other = {task.id for task, _ in changed}
    kept = {
        task.id: result
        for task, (result, problem) in zip(tasks, found, strict=True)
        if result is not None and not problem and task.id not in other
    }
    notes = [f"{task.id} is done again: {problem}" for task, (_, problem) in zip(tasks, found, strict=True) if problem]
    if other:
        notes.append(f"{len(other)} results of other settings are done again")
    return Plan(tasks, kept, tuple(notes))


def with_time(task: TaskSpec) -> TaskSpec:
    """The task with the time after which its process is ended: its run's own limit, and a grace to end in order."""
    limit = task.config.run_limits()["seconds"]
    return replace(task, time_limit_s=limit + GRACE_S)


def _task(config: BatchConfig, item: SetItem, store: Store, settings: dict[str, Any], portion: Share) -> TaskSpec:
    item = prepared(item, config.run)
    picture = contents(item)
    folder = f"{RUNS}/{item.id}"
    local = store.local(folder)
    limits = dict(config.run.limits)
    if config.time_limit_s is not None:
        limits["seconds"] = config.time_limit_s
    shared = None
    if config.share_memory and local is not None:
        shared = local.parent.parent / MEMORY
    run = config.run.model_copy(
        update={
            "reference": item.source,
            "out": local or Path(folder),
            "seed": task_seed(config.seed, item.id),
            "jobs": portion.workers,
            "limits": limits,
            "shared_memory": shared,
            **choices(item),
        }
    )
    task = TaskSpec(
        item=item,
        config=run,
        actor=_actor(config.actor),
        reflector=config.reflector,
        models=config.models,
        store=store.root,
        folder=folder,
        settings=settings,
        fingerprint=fingerprint(settings, item.id, picture),
        threads=portion.render_threads,
        sha256=picture["picture"],
    )
    return with_time(task)


def _actor(name: str) -> str:
    kind, _, argument = name.partition(":")
    return f"{kind}:{Path(argument).expanduser().absolute()}" if kind == "scripted" else name


def _look(store: Store, task: TaskSpec) -> tuple[TaskResult | None, str]:
    """What the store holds of a task, and why it has to be done again; empty when it stands or was never done."""
    result = read_record(store.read(f"{task.folder}/{RECORD}"))
    if result is None or not result.complete or result.id != task.id:
        return None, ""
    if problem := store.intact(task.folder, result.files):
        return result, problem
    if result.settings == task.settings and result.fingerprint != task.fingerprint:
        return result, "its picture, or how it is prepared, was changed"
    return result, ""


def _other_settings(task: TaskSpec, result: TaskResult | None) -> bool:
    return result is not None and result.settings != task.settings


def _differences(before: dict[str, Any], now: Any) -> str:
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    return ", ".join(f"{name}={now.get(name)!r} instead of {before.get(name)!r}" for name in names)


def pictures(tasks: Sequence[TaskSpec]) -> Iterator[TaskSpec]:
    """The tasks with the bytes of their pictures, read when each is taken; for machines that may not have the files."""
    for task in tasks:
        yield replace(task, picture=_bytes(Path(task.item.source)), mask=_bytes(task.item.preparation.mask))


def _bytes(path: Path | None) -> bytes | None:
    try:
        return path.read_bytes() if path is not None and path.is_file() else None
    except OSError:
        return None  # the machine that does the task says what is wrong with it
