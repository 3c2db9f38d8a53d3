"""How near a rendered material is to its reference, what is wrong with it, and whether it may be called done."""

from evaluators.calibration import Calibration, load_calibration
from evaluators.errors import EvaluatorError, WeightsUnavailableError
from evaluators.evaluator import Evaluator
from evaluators.result import UNSCORED, Candidate, Evaluation, Facts, Gap, TermResult
from evaluators.target import Target
from evaluators.term import Term

__all__ = [
    "UNSCORED",
    "Calibration",
    "Candidate",
    "Evaluation",
    "Evaluator",
    "EvaluatorError",
    "Facts",
    "Gap",
    "Target",
    "Term",
    "TermResult",
    "WeightsUnavailableError",
    "load_calibration",
]
