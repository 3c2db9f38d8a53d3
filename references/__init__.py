"""Reference pictures: loading what a user has, sets of them, the bundled ones, and the analysis."""

from references.analysis import Analysis, analyze
from references.bundled import bundled_names
from references.errors import ReferenceFault
from references.load import Reference, load_reference
from references.preparation import Crop, Preparation, Scale
from references.sets import ReferenceSet, SetItem, load_set
from references.square import Proposal, propose_square

__all__ = [
    "Analysis",
    "Crop",
    "Preparation",
    "Proposal",
    "Reference",
    "ReferenceFault",
    "ReferenceSet",
    "Scale",
    "SetItem",
    "analyze",
    "bundled_names",
    "load_reference",
    "load_set",
    "propose_square",
]
