"""Batches: many references, each a task of its own, on this machine or on a cluster."""

from material_agent.batch.config import BatchConfig, TaskSpec
from material_agent.batch.engine import Engine, LocalEngine
from material_agent.batch.gather import Fault, Gathered, gather
from material_agent.batch.plan import Plan
from material_agent.batch.progress import Board, TaskProgress
from material_agent.batch.result import TaskResult
from material_agent.batch.run import BatchResult, Listener, run_batch
from material_agent.batch.task import run_task

__all__ = [
    "BatchConfig",
    "BatchResult",
    "Board",
    "Engine",
    "Fault",
    "Gathered",
    "Listener",
    "LocalEngine",
    "Plan",
    "TaskProgress",
    "TaskResult",
    "TaskSpec",
    "gather",
    "run_batch",
    "run_task",
]
