"""Reference pictures: loading what a user has, the bundled ones, and the analysis."""

from references.analysis import Analysis, analyze
from references.bundled import bundled_names
from references.errors import ReferenceFault
from references.load import Crop, Reference, load_reference

__all__ = ["Analysis", "Crop", "Reference", "ReferenceFault", "analyze", "bundled_names", "load_reference"]
