"""Structure: lattice, orientation, spectrum, energies by scale, slope and steerable statistics; weight-free."""

from __future__ import annotations

from evaluators.comparison import Comparison
from evaluators.components import COMPONENTS
from evaluators.result import UNSCORED, Candidate, TermName, TermResult
from evaluators.terms.statistical import weighted_term

_COMPONENTS = tuple(component.name for component in COMPONENTS if component.term == "structure")


class Structure:
    """How the material is laid out, apart from its colours."""

    name: TermName = "structure"
    higher_is_better = True

    def score(self, candidate: Candidate, comparison: Comparison | None) -> TermResult:
        """Judge luma by statistics that do not move when the texture is shifted or re-seeded."""
        del candidate
        if comparison is None:
            return TermResult(self.name, UNSCORED, reason="no picture to compare")
        return weighted_term(self.name, comparison, _COMPONENTS, _COMPONENTS)
