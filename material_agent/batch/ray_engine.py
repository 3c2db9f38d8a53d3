"""The same tasks on a Ray cluster. Ray schedules, and does a task again elsewhere when its node dies."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from material_agent.batch.config import TaskSpec, share
from material_agent.batch.progress import TaskProgress
from material_agent.batch.result import TaskResult, failed
from material_agent.batch.runner import ProgressListener, TaskRunner
from material_agent.errors import BadInput, MaterialAgentError

RETRIES = 8  # of a task whose Ray worker or node was lost; what a task does to its own process is the runner's matter
_WAIT_S = 0.5
_AHEAD = 2  # tasks submitted for each that can run: enough that no node waits for the driver
_runners: dict[int, TaskRunner] = {}


class RayUnavailable(MaterialAgentError):
    """Ray is not installed, or there is no cluster at the address."""


class RayEngine:
    """Tasks as Ray tasks of `cpus` cores each, on the cluster at `address`.

    `address`: as `ray.init` takes it ("auto", "host:6379", "ray://host:10001"); None takes that of `RAY_ADDRESS`, or
    starts Ray on this machine. A connection that exists is used and left open. Raises `RayUnavailable`.
    """

    name = "ray"
    far = True

    def __init__(self, address: str | None = None, cpus: int = 1) -> None:
        if cpus < 1:
            raise BadInput(f"expected at least 1 core for a task, got {cpus}")
        # Ray would report its usage to its makers otherwise; nothing of a user's machine leaves it by us.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray  # noqa: PLC0415 - an optional extra
        except ImportError as error:
            raise RayUnavailable("Ray is not installed: pip install 'material-agent[ray]'") from error
        self._ray: Any = ray
        self._address = address
        self._cpus = cpus
        self.portion = share(1, cpus)

    def run(self, specs: Iterable[TaskSpec], listen: ProgressListener) -> Iterator[TaskResult]:
        """As `Engine.run`. What a task does inside is not reported while it runs."""
        ray = self._ray
        ours = not ray.is_initialized()
        if ours:
            self._connect()
        do = ray.remote(num_cpus=self._cpus, max_retries=RETRIES)(_do)
        source = iter(specs)
        open_tasks: dict[Any, TaskSpec] = {}
        try:
            while True:
                while len(open_tasks) < self._room() and (spec := next(source, None)) is not None:
                    open_tasks[do.remote(spec, self.portion.threads)] = _without_bytes(spec)
                    listen(spec.id, TaskProgress(doing="with Ray"))
                if not open_tasks:
                    return
                ready, _ = ray.wait(list(open_tasks), num_returns=1, timeout=_WAIT_S)
                for reference in ready:
                    yield self._result(reference, open_tasks.pop(reference))
        finally:
            for reference in open_tasks:
                ray.cancel(reference, force=True)
            if ours:
                ray.shutdown()

    def _connect(self) -> None:
        try:
            self._ray.init(address=self._address, log_to_driver=False, logging_level="warning", include_dashboard=None)
        except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
            raise RayUnavailable(
                f"expected a Ray cluster at {self._address or 'RAY_ADDRESS or on this machine'}, got none: {error}"
            ) from error

    def _room(self) -> int:
        """Tasks to have in Ray's hands; nodes may come and go."""
        cpus = self._ray.cluster_resources().get("CPU", 0.0)
        return _AHEAD * max(1, int(cpus // self._cpus))

    def _result(self, reference: Any, spec: TaskSpec) -> TaskResult:
        try:
            result = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            return failed(spec, "crash", f"Ray lost it {RETRIES + 1} times: {str(error).splitlines()[0]}")
        assert isinstance(result, TaskResult)
        return result


def _do(spec: TaskSpec, threads: int) -> TaskResult:
    """One task on a node, in a process that the node's Ray worker keeps from task to task."""
    runner = _runners.setdefault(threads, TaskRunner(threads))
    return runner.run(spec, _hears_nothing)


def _hears_nothing(task: str, state: TaskProgress) -> None:
    pass


def _without_bytes(spec: TaskSpec) -> TaskSpec:
    """What the driver keeps of a task that is under way."""
    return replace(spec, picture=None, mask=None, memory=None)
