"""A batch from start to end: `run_batch`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace

from material_agent.batch.config import BatchConfig, TaskSpec, default_jobs
from material_agent.batch.engine import Engine, LocalEngine
from material_agent.batch.gather import Fault, gather
from material_agent.batch.output import write_outputs
from material_agent.batch.plan import Plan, make_plan, pictures
from material_agent.batch.progress import Board, TaskProgress
from material_agent.batch.result import RECORD, TaskResult
from material_agent.batch.sharing import TravellingMemory, travelling_memory
from material_agent.batch.store import Store, open_store
from material_agent.errors import BadInput
from material_agent.fit.interrupt import terminate_as_interrupt
from renderer import BlenderUnavailable

_REFRESH_SHARE = 0.01  # of the time that has passed goes into keeping summary and gallery fresh, at most
_REFRESH_S = 20.0


@dataclass(frozen=True)
class BatchResult:
    """What became of a batch.

    `results`: one for each reference that is over, in the order of the references, without settings and versions, which
    are in the record. `faults`: inputs that could not be
    tasks. `pending`: ids of what an interruption left to do. `kept`: how many results were there already.
    """

    out: str
    results: tuple[TaskResult, ...]
    faults: tuple[Fault, ...]
    pending: tuple[str, ...]
    kept: int
    notes: tuple[str, ...]
    seconds: float

    @property
    def interrupted(self) -> bool:
        """Whether something is left to do."""
        return bool(self.pending)

    @property
    def accepted(self) -> int:
        """How many materials were accepted."""
        return sum(result.status == "accepted" for result in self.results)

    @property
    def failed(self) -> int:
        """How many references have no result, those that could not be tasks included."""
        return sum(not result.complete for result in self.results) + len(self.faults)


class Listener:
    """Hears what happens; every method may be overridden. `progress` comes from several threads."""

    def planned(self, board: Board, plan: Plan, faults: tuple[Fault, ...], notes: tuple[str, ...]) -> None:
        """The tasks are known."""

    def progress(self, task: str, state: TaskProgress) -> None:
        """A task began or says where it stands."""

    def ended(self, result: TaskResult) -> None:
        """A task is over."""


def run_batch(
    config: BatchConfig,
    *,
    engine: Engine | None = None,
    listener: Listener | None = None,
    overwrite: bool = False,
    clock: Callable[[], float] = time.monotonic,
) -> BatchResult:
    """Fit a material to every reference; what is complete and intact in `config.out` is kept.

    `engine`: who does the tasks, by default `config.jobs` processes of this machine. `overwrite`: do results of other
    settings again instead of refusing them. Ctrl-C and SIGTERM end the batch within a moment, with what is complete in
    the summary and the rest pending; the same call goes on. Raises `BadInput` before anything is done when there is
    no reference, the output cannot be written to or was made with other settings, and `BlenderUnavailable` when
    Blender cannot start.
    """
    hears = listener or Listener()
    gathered = gather(config.references)
    if not gathered.items:
        raise BadInput("expected a reference, got none: " + "; ".join(f"{f.name}: {f.reason}" for f in gathered.faults))
    chosen = engine or LocalEngine(min(config.jobs or default_jobs(), len(gathered.items)))
    store = open_store(config.out)
    started = clock()
    with ExitStack() as stack:
        stack.enter_context(store.locked())
        plan = make_plan(config, gathered, store, chosen.portion, overwrite=overwrite)
        notes = (*gathered.notes, *plan.notes)
        board = Board(len(plan.tasks), len(plan.kept), clock)
        hears.planned(board, plan, gathered.faults, notes)
        results = {name: result.slim() for name, result in plan.kept.items()}
        batch = _Batch(config, chosen, store, plan, gathered.faults, notes, board, hears, results, clock)
        if config.share_memory and (chosen.far or store.local("") is None):
            batch.memory = stack.enter_context(travelling_memory(store, plan.kept.values()))
        try:
            stack.enter_context(terminate_as_interrupt())
            batch.refresh()
            batch.work()
        except KeyboardInterrupt:
            pass
        finally:
            batch.write()
    ordered = tuple(results[task.id] for task in plan.tasks if task.id in results)
    pending = tuple(task.id for task in plan.tasks if task.id not in results)
    return BatchResult(config.out, ordered, gathered.faults, pending, len(plan.kept), notes, clock() - started)


@dataclass
class _Batch:
    config: BatchConfig
    engine: Engine
    store: Store
    plan: Plan
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]
    board: Board
    hears: Listener
    results: dict[str, TaskResult]
    clock: Callable[[], float]
    memory: TravellingMemory | None = None
    _spent: float = 0.0
    _written: float = 0.0

    def work(self) -> None:
        """Have every task done. Raises `BlenderUnavailable` when no task could be done here."""
        with closing(self.engine.run(self._specs(), self._progress)) as over:  # type: ignore[type-var]
            for result in over:
                self.results[result.id] = result.slim()
                self.board.ended(result)
                self.hears.ended(result)
                if result.kind == "environment" and not any(one.complete for one in self.results.values()):
                    raise BlenderUnavailable(result.reason)
                if result.complete and self.engine.far:
                    self._check_arrived(result)
                if self.memory is not None:
                    self.memory.learn(result)
                self._refresh_in_passing()

    def refresh(self) -> None:
        """Write everything that is made of the results, so that a reader finds the state of now."""
        before = self.clock()
        self.write()
        self._written = self.clock()
        self._spent += self._written - before

    def write(self) -> None:
        """Manifest, summary and gallery."""
        write_outputs(self.store, self.config, self.plan.tasks, self.results, self.faults)

    def _check_arrived(self, result: TaskResult) -> None:
        """A node that does not share the folder writes to a disk of its own. Raises `BadInput`."""
        if self.store.read(f"{result.folder}/{RECORD}") is None:
            raise BadInput(
                f"expected the result of {result.id} in {self.store.root}, got none: its node does not share this "
                "folder; write to one that every node mounts, or to a URL such as s3://bucket/batch"
            )

    def _refresh_in_passing(self) -> None:
        now = self.clock()
        if now - self._written > _REFRESH_S and self._spent < _REFRESH_SHARE * self.board.elapsed_s:
            self.refresh()

    def _progress(self, task: str, state: TaskProgress) -> None:
        self.board.progress(task, state)
        self.hears.progress(task, state)

    def _specs(self) -> Iterator[TaskSpec]:
        far = self.engine.far
        for task in pictures(self.plan.todo) if far else self.plan.todo:
            yield task if self.memory is None else replace(task, memory=self.memory.offered())
