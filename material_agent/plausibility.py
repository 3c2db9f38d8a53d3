"""Which channels a reference calls to vary, from its cues: what the physical term holds a constant against."""

from __future__ import annotations

from collections.abc import Mapping

from references import Analysis

SURE = 0.35
"""Confidence from which a cue counts as a call; weaker ones are as often wrong."""
UNITS_APART = 0.1
"""Share of the picture that joints take at least, for their roughness to be seen beside that of the units."""


def varying_channels(analysis: Analysis) -> Mapping[str, str]:
    """Channels ("height", "roughness") that should not be constant, each with the reason in words."""
    found: dict[str, str] = {}
    for cue in analysis.inferred.cues:
        if cue.channel == "height" and cue.kind == "lower_tone" and cue.value != 0 and cue.confidence >= SURE:
            found["height"] = cue.reason
    cell, split = analysis.measured.cell, analysis.measured.regions.split
    if "height" in found and cell is not None and split.share >= UNITS_APART and split.confidence >= 0.5:
        found["roughness"] = "joints and units are two materials"
    return found
