"""From a run's events to one row for each attempt: what was spent, what was reached, what came of the reflection."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from material_agent.events import (
    AnyEvent,
    AttemptEnded,
    AttemptStarted,
    Evaluated,
    EvaluationRecord,
    GapRecord,
    Observed,
    Proposal,
    Reflected,
    UptakeMeasured,
    effective,
)

CLOSED = 0.5
"""A gap counts as closed when it is gone, or at most this share of its size is left."""
SPENT = ("renders", "candidates", "samples_pixels", "calls", "failed_calls", "tokens", "money_usd")
TERMS = ("structure", "appearance", "physical")
SCALES = ("macro", "meso", "micro")
_WHOLE = 1.0


def attempt_rows(events: Sequence[AnyEvent]) -> list[dict[str, Any]]:
    """One row for each attempt that was made, in order."""
    counted = effective(events)
    rows: list[dict[str, Any]] = []
    spent_before: Mapping[str, float] = {}
    blamed: tuple[GapRecord, float] | None = None
    for started in [event for event in counted if isinstance(event, AttemptStarted)]:
        own = [event for event in counted if event.attempt == started.attempt]
        spent = own[-1].spent
        row = _row(own)
        row |= {name: spent.get(name, 0.0) - spent_before.get(name, 0.0) for name in SPENT}
        row |= _uptake(own, blamed)
        rows.append(row)
        spent_before, blamed = spent, _blamed(own)
    return rows


def _row(events: Sequence[AnyEvent]) -> dict[str, Any]:
    ended = next((event for event in events if isinstance(event, AttemptEnded)), None)
    verdicts = [event for event in events if isinstance(event, Evaluated)]
    seen = [event for event in events if isinstance(event, Observed) and event.op not in ("reset", "note")]
    best = _verdict(verdicts, ended.best_observation if ended else None)
    faced, closed = _gaps(verdicts)
    row: dict[str, Any] = {
        "attempt": events[0].attempt,
        "outcome": ended.outcome if ended else "interrupted",
        "stop": ended.stop if ended else "",
        "label": ended.label if ended else "",
        "built": ended.structure if ended else "",
        "turns": ended.steps if ended else 0,
        "reward": best.reward if best else None,
        "accepted": bool(best and best.success),
        "actions": float(sum(isinstance(event, Proposal) for event in events)),
        "invalid": float(sum(event.status == "rejected" for event in seen)),
        "useless": float(sum(event.useless for event in seen)),
        "nodes": _nodes(ended),
        "valid": bool(verdicts) and _term(verdicts[-1].evaluation, "compile") == _WHOLE,
        "gaps_faced": float(faced),
        "gaps_closed": float(closed),
    }
    for name in TERMS:
        row[f"{name}_term"] = _term(best, name)
        for scale in SCALES if name != "physical" else ():
            row[f"{name}_{scale}"] = best.terms[name].by_scale.get(scale) if best and name in best.terms else None
    return row


def _verdict(verdicts: Sequence[Evaluated], observation: str | None) -> EvaluationRecord | None:
    return next((event.evaluation for event in verdicts if event.observation == observation), None)


def _term(verdict: EvaluationRecord | None, name: str) -> float | None:
    return verdict.terms[name].value if verdict and name in verdict.terms else None


def _nodes(ended: AttemptEnded | None) -> float | None:
    graph = ended.best_graph if ended else None
    return None if graph is None else float(len(graph.get("nodes", ())))


def _gaps(verdicts: Sequence[Evaluated]) -> tuple[int, int]:
    """Over neighbouring verdicts: how often there was a largest gap, and how often the next verdict had it closed."""
    faced = closed = 0
    for before, after in itertools.pairwise(verdicts):
        if before.graph_hash != after.graph_hash and before.evaluation.gaps:
            faced += 1
            closed += _is_closed(before.evaluation.gaps[0], after.evaluation)
    return faced, closed


def _is_closed(gap: GapRecord, verdict: EvaluationRecord) -> bool:
    same = [g for g in verdict.gaps if (g.kind, g.scale, g.channel) == (gap.kind, gap.scale, gap.channel)]
    return all(one.size <= CLOSED * gap.size for one in same)


def _blamed(events: Sequence[AnyEvent]) -> tuple[GapRecord, float] | None:
    """The gap that this attempt's reflection cites: the one whose measured figure is in its evidence."""
    for event in events:
        if not (isinstance(event, Reflected) and event.accepted and event.reflection):
            continue
        for fact in event.reflection["evidence"]:
            kind = fact["figure"].partition(".")[0]
            cited = next(
                (
                    one.evaluation
                    for one in events
                    if isinstance(one, Evaluated) and one.observation == fact["observation"]
                ),
                None,
            )
            for gap in cited.gaps if cited else ():
                if gap.kind == kind:
                    return gap, gap.size
    return None


def _uptake(events: Sequence[AnyEvent], blamed: tuple[GapRecord, float] | None) -> dict[str, Any]:
    """What this attempt made of the reflections that it was offered for the first time."""
    found = [event for event in events if isinstance(event, UptakeMeasured)]
    ended = next((event for event in events if isinstance(event, AttemptEnded)), None)
    verdicts = [event for event in events if isinstance(event, Evaluated)]
    best = _verdict(verdicts, ended.best_observation if ended else None)
    closed = None if blamed is None or best is None else _is_closed(blamed[0], best)
    tries = [event for event in events if isinstance(event, Reflected)]
    return {
        "reflected": any(event.accepted for event in tries),
        "change_made": all(event.change_made for event in found) if found else None,
        "ban_respected": all(event.ban_respected for event in found) if found else None,
        "helped": any(event.helped is True for event in found) if found else None,
        "blamed_gap_closed": closed if found else None,
    }
