"""`material-agent evaluate`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from material_agent.cli.exits import Exit
from material_agent.cli.options import Json, PatchSize, Samples
from material_agent.cli.output import Reply
from material_agent.cli.sources import PICTURES, read_source, render_graph

if TYPE_CHECKING:
    from evaluators.result import Evaluation, Gap, TermResult

# What a picture can be judged by when there is no graph behind it.
_PICTURE_TERMS = ("structure", "appearance")


def evaluate(
    candidate: Annotated[Path, typer.Argument(help="A picture, a graph .json, a run folder or a .blend file.")],
    reference: Annotated[str, typer.Argument(help="A picture, or the name of a bundled reference.")],
    resolution: Annotated[int, typer.Option("--resolution", "-r", min=32, max=4096, help="Side in pixels.")] = 256,
    samples: Samples = 1,
    patch_size: PatchSize = 1.0,
    json: Json = False,
) -> Reply:
    """Score a material, or a picture of one, against a reference. Exit code 1 when the material is not accepted."""
    from evaluators import Candidate, Evaluator, Facts, Target
    from references import load_reference

    evaluator = Evaluator(Target.from_image(load_reference(reference).image_srgb), patch_size_m=patch_size)
    if candidate.suffix.lower() in PICTURES:
        from renderer import srgb_to_linear

        picture = srgb_to_linear(load_reference(candidate).image_srgb)
        return _picture_reply(evaluator.evaluate(Candidate({"beauty": picture})))
    from renderer import CHANNELS, RenderSettings

    source = read_source(candidate)
    settings = RenderSettings(resolution, samples, patch_size)
    result = render_graph(source.graph, "flat", CHANNELS, settings)
    if not result.ok:
        text = "; ".join(message.text for message in result.messages)
        return Reply("evaluate", {"status": result.status}, f"no picture: {result.status}: {text}", Exit.NOT_ACCEPTED)
    facts = Facts(node_count=len(source.graph.nodes), samples_pixels=samples * resolution**2)
    return _graph_reply(evaluator.evaluate(Candidate(result.channels, facts)))


def _picture_reply(evaluation: Evaluation) -> Reply:
    terms = {name: evaluation.terms[name] for name in _PICTURE_TERMS}
    gaps = [gap for gap in evaluation.gaps if gap.term in _PICTURE_TERMS]
    note = "a picture alone has no graph: only structure and appearance are scored, and nothing is decided"
    data = {
        "reward": None,
        "success": None,
        "terms": terms,
        "gaps": gaps,
        "thresholds": evaluation.thresholds,
        "note": note,
    }
    return Reply("evaluate", data, "\n".join([*_lines(terms.values()), *_gap_lines(gaps), note]))


def _graph_reply(evaluation: Evaluation) -> Reply:
    data = {
        "reward": evaluation.reward,
        "success": evaluation.success,
        "failures": evaluation.failures,
        "terms": evaluation.terms,
        "gaps": evaluation.gaps,
        "thresholds": evaluation.thresholds,
        "weights": evaluation.weights,
    }
    verdict = "accepted" if evaluation.success else f"not accepted: {'; '.join(evaluation.failures)}"
    head = f"reward {evaluation.reward:.3f}, {verdict}"
    text = "\n".join([head, *_lines(evaluation.terms.values()), *_gap_lines(evaluation.gaps)])
    return Reply("evaluate", data, text, Exit.SUCCESS if evaluation.success else Exit.NOT_ACCEPTED)


def _lines(terms: Iterable[TermResult]) -> list[str]:
    return [
        f"  {term.name:<12}" + (f"{term.value:.3f}" if term.scored else f"unscored: {term.reason}") for term in terms
    ]


def _gap_lines(gaps: Sequence[Gap]) -> list[str]:
    return [f"  gap {gap.size:.2f}  {gap.message}" for gap in gaps[:5]]
