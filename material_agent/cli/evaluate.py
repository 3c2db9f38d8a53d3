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
    from evaluators.aligned import AlignedDistance
    from evaluators.result import Evaluation, FloatArray, Gap, TermResult

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
    from renderer import CHANNELS, RenderSettings, linear_to_srgb, srgb_to_linear

    target = load_reference(reference).image_srgb
    evaluator = Evaluator(Target.from_image(target), patch_size_m=patch_size)
    if candidate.suffix.lower() in PICTURES:
        picture = load_reference(candidate).image_srgb
        evaluation = evaluator.evaluate(Candidate({"beauty": srgb_to_linear(picture)}))
        return _picture_reply(evaluation, _aligned(picture, target))
    source = read_source(candidate)
    settings = RenderSettings(resolution, samples, patch_size)
    result = render_graph(source.graph, "flat", CHANNELS, settings)
    if not result.ok:
        text = "; ".join(message.text for message in result.messages)
        return Reply("evaluate", {"status": result.status}, f"no picture: {result.status}: {text}", Exit.NOT_ACCEPTED)
    facts = Facts(node_count=len(source.graph.nodes), samples_pixels=samples * resolution**2)
    evaluation = evaluator.evaluate(Candidate(result.channels, facts))
    return _graph_reply(evaluation, _aligned(linear_to_srgb(result.channels["beauty"].clip(0, 1)), target))


def _aligned(picture: FloatArray, reference: FloatArray) -> AlignedDistance:
    """Pixel against pixel, at the smaller side: what the field is used to, for reading only."""
    from evaluators.aligned import aligned_distance
    from evaluators.pictures import centre_square, resize_srgb

    squares = [centre_square(image) for image in (picture, reference)]
    side = min(square.shape[0] for square in squares)
    return aligned_distance(*(resize_srgb(square, side) for square in squares))


def _picture_reply(evaluation: Evaluation, aligned: AlignedDistance) -> Reply:
    terms = {name: evaluation.terms[name] for name in _PICTURE_TERMS}
    gaps = [gap for gap in evaluation.gaps if gap.term in _PICTURE_TERMS]
    note = "a picture alone has no graph: only structure and appearance are scored, and nothing is decided"
    data = {
        "reward": None,
        "success": None,
        "terms": terms,
        "gaps": gaps,
        "thresholds": evaluation.thresholds,
        "aligned": aligned,
        "note": note,
    }
    text = "\n".join([*_lines(terms.values()), *_gap_lines(gaps), _aligned_line(aligned), note])
    return Reply("evaluate", data, text)


def _graph_reply(evaluation: Evaluation, aligned: AlignedDistance) -> Reply:
    data = {
        "reward": evaluation.reward,
        "success": evaluation.success,
        "failures": evaluation.failures,
        "terms": evaluation.terms,
        "gaps": evaluation.gaps,
        "thresholds": evaluation.thresholds,
        "weights": evaluation.weights,
        "aligned": aligned,
    }
    verdict = "accepted" if evaluation.success else f"not accepted: {'; '.join(evaluation.failures)}"
    head = f"reward {evaluation.reward:.3f}, {verdict}"
    lines = [head, *_lines(evaluation.terms.values()), *_gap_lines(evaluation.gaps), _aligned_line(aligned)]
    text = "\n".join(lines)
    return Reply("evaluate", data, text, Exit.SUCCESS if evaluation.success else Exit.NOT_ACCEPTED)


def _lines(terms: Iterable[TermResult]) -> list[str]:
    return [
        f"  {term.name:<12}" + (f"{term.value:.3f}" if term.scored else f"unscored: {term.reason}") for term in terms
    ]


def _gap_lines(gaps: Sequence[Gap]) -> list[str]:
    return [f"  gap {gap.size:.2f}  {gap.message}" for gap in gaps[:5]]


def _aligned_line(aligned: AlignedDistance) -> str:
    return f"  pixel by pixel (not scored): SSIM {aligned.ssim:.3f}, {aligned.perceptual_name} {aligned.perceptual:.3f}"
