"""The bulk door: many candidates at once, under the same rules and on the same ledger as single actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from evaluators.result import Candidate, Evaluation
from graph_api import ActionRejected, Catalog, Problem, Rules, action_to_json, apply, validate
from graph_api.actions import Edit
from graph_api.model import Graph
from material_agent.budget import Ledger
from material_agent.environment.scene import CHANNELS, Judge, Scene
from material_agent.environment.tally import Tally
from material_agent.errors import BadInput
from material_agent.events import Charge, Log, Search
from material_agent.observation import Judging, Trial
from renderer.protocol import Channel, RenderResult

SCREENS: Mapping[Judging, bool] = {"screen": False, "texture": True}
"""The judges that are screens, and whether each takes deep statistics."""


@dataclass(frozen=True)
class _Prepared:
    edits: tuple[Edit, ...]
    graph: Graph | None
    reason: str = ""


def run_candidates(
    graph: Graph,
    candidates: Sequence[Sequence[Edit]],
    *,
    rules: Rules,
    catalog: Catalog,
    scene: Scene,
    evaluator: Judge,
    ledger: Ledger,
    log: Log,
    tally: Tally,
    attempt: int,
    resolution: int,
    channels: tuple[Channel, ...],
    judge: Judging,
) -> list[Trial]:
    """Apply, render and score each candidate on a copy of `graph`; see `Bench.try_many`.

    When the ledger has fewer evaluations left than candidates, the last ones come back untried, with the reason.
    Raises `BudgetExhausted` when it has none left, `BadInput` for an unknown channel or judge.
    """
    _check(channels, judge)
    allowed = _affordable(ledger, len(candidates))
    amounts = {"candidates": float(allowed), "samples_pixels": float(allowed * scene.cost(resolution))}
    ledger.charge(**amounts)
    log.write(Charge(purpose="search", amounts=amounts), attempt)
    tally.samples_pixels += allowed * scene.cost(resolution)

    prepared = [_prepare(graph, tuple(edits), rules, catalog) for edits in candidates[:allowed]]
    wanted = CHANNELS if judge in ("sketch", "full") else channels
    if judge in SCREENS and "beauty" not in wanted:
        wanted = ("beauty", *wanted)
    renderable = [index for index, item in enumerate(prepared) if item.graph is not None]
    graphs = [item.graph for item in prepared if item.graph is not None]
    results = dict(zip(renderable, scene.render_many(graphs, wanted, resolution, sketch=judge != "full"), strict=True))
    screened = _screen(evaluator, results, deep=SCREENS[judge]) if judge in SCREENS else {}
    verdicts = _verdicts(evaluator, prepared, results, tally) if judge in ("sketch", "full") else {}
    trials = [
        _trial(item, results.get(index), screened.get(index, 0.0), verdicts.get(index))
        for index, item in enumerate(prepared)
    ]
    engines = Counter(result.engine for result in results.values())
    log.write(_event(trials, judge, resolution, engines), attempt)
    untried = "not tried: the ledger has no candidates left"
    return trials + [Trial(tuple(edits), False, 0.0, untried) for edits in candidates[allowed:]]


def errors_of(problems: Sequence[Problem]) -> tuple[str, ...]:
    """The problems that keep a graph from being rendered, in words."""
    return tuple(problem.message for problem in problems if problem.level == "error")


def _check(channels: Sequence[str], judge: str) -> None:
    if judge not in get_args(Judging):
        raise BadInput(f"expected a judge, got {judge!r}; known: {', '.join(get_args(Judging))}")
    for name in channels:
        if name not in CHANNELS:
            raise BadInput(f"expected a channel, got {name!r}; known: {', '.join(CHANNELS)}")


def _affordable(ledger: Ledger, wanted: int) -> int:
    ledger.require(candidates=min(1, wanted))
    left = ledger.remaining.get("candidates")
    return wanted if left is None else min(wanted, int(left))


def _prepare(graph: Graph, edits: tuple[Edit, ...], rules: Rules, catalog: Catalog) -> _Prepared:
    for edit in edits:
        try:
            graph = apply(graph, edit, catalog, rules).graph
        except ActionRejected as error:
            return _Prepared(edits, None, str(error))
    problems = errors_of(validate(graph, catalog))
    if problems:
        return _Prepared(edits, None, f"does not compile: {problems[0]}")
    return _Prepared(edits, graph)


def _screen(evaluator: Judge, results: dict[int, RenderResult], *, deep: bool) -> dict[int, float]:
    usable = [index for index, result in results.items() if result.ok]
    if not usable:
        return {}
    beauties = [results[index].channels["beauty"] for index in usable]
    scores = evaluator.screen(beauties, linear=True, deep=deep)
    return dict(zip(usable, (float(score) for score in scores), strict=True))


def _verdicts(
    evaluator: Judge, prepared: Sequence[_Prepared], results: Mapping[int, RenderResult], tally: Tally
) -> dict[int, Evaluation]:
    graphs = {i: graph for i, result in results.items() if result.ok and (graph := prepared[i].graph) is not None}
    candidates = [Candidate(results[i].channels, tally.facts(len(graph.nodes))) for i, graph in graphs.items()]
    return dict(zip(graphs, evaluator.evaluate_many(candidates), strict=True))


def _trial(item: _Prepared, result: RenderResult | None, screened: float, verdict: Evaluation | None) -> Trial:
    if item.graph is None or result is None:
        return Trial(item.edits, False, 0.0, item.reason)
    if not result.ok:
        said = "; ".join(message.text for message in result.messages)
        return Trial(item.edits, False, 0.0, f"render failed: {result.status}{': ' + said if said else ''}")
    if verdict is not None:
        return Trial(item.edits, True, verdict.reward, "", result.channels, verdict)
    return Trial(item.edits, True, screened, "", result.channels)


def _event(trials: Sequence[Trial], judge: Judging, resolution: int, engines: Mapping[str, int]) -> Search:
    good = [index for index, trial in enumerate(trials) if trial.ok]
    best = max(good, key=lambda index: trials[index].score, default=None) if judge != "none" else None
    return Search(
        tried=len(trials),
        ok=len(good),
        judge=judge,
        resolution=resolution,
        best=best,
        best_score=None if best is None else trials[best].score,
        best_edits=() if best is None else tuple(action_to_json(edit) for edit in trials[best].edits),
        scores=tuple(round(trial.score, 6) for trial in trials),
        engines=dict(engines),
        problems=dict(Counter(trial.reason for trial in trials if not trial.ok)),
    )
