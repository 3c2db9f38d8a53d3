"""The five terms of the reward."""

from evaluators.terms.appearance import Appearance
from evaluators.terms.budget import Budget
from evaluators.terms.compile import Compile
from evaluators.terms.physical import Physical
from evaluators.terms.structure import Structure

__all__ = ["Appearance", "Budget", "Compile", "Physical", "Structure"]
