"""A reference, understood: what is measured, and what is inferred from it."""

from references.analysis.analyze import analyze
from references.analysis.model import (
    FAMILIES,
    STRUCTURES,
    Analysis,
    Cue,
    Family,
    FamilyHypothesis,
    Hypothesis,
    Inferred,
    Measured,
    Regions,
    Structure,
)
from references.analysis.overview import overview

__all__ = [
    "FAMILIES",
    "STRUCTURES",
    "Analysis",
    "Cue",
    "Family",
    "FamilyHypothesis",
    "Hypothesis",
    "Inferred",
    "Measured",
    "Regions",
    "Structure",
    "analyze",
    "overview",
]
