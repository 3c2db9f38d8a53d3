"""A run from start to end: `run_fit`."""

from material_agent.fit.folder import RunFolder
from material_agent.fit.result import AttemptSummary, BestRecord, FinalRecord, ReferenceRecord, RunResult
from material_agent.fit.run import run_fit

__all__ = ["AttemptSummary", "BestRecord", "FinalRecord", "ReferenceRecord", "RunFolder", "RunResult", "run_fit"]
