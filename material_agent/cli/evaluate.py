"""`material-agent evaluate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from material_agent.cli.exits import Exit
from material_agent.cli.options import CropArea, Flatten, Json, MaskFile, PatchSize, Samples
from material_agent.cli.output import Reply
from material_agent.cli.sources import PICTURES, read_source, render_graph

if TYPE_CHECKING:
    from evaluators.aligned import AlignedDistance
    from evaluators.result import Evaluation, FloatArray, Gap, TermResult

# What a picture can be judged by when there is no graph behind it.
_PICTURE_TERMS = ("structure", "appearance")
_SCALES = ("macro", "meso", "micro", "global")
_GAPS = 6


def evaluate(
    candidate: Annotated[Path, typer.Argument(help="A picture, a graph .json, a run folder or a .blend file.")],
    reference: Annotated[str, typer.Argument(help="A picture, or the name of a bundled reference.")],
    resolution: Annotated[int, typer.Option("--resolution", "-r", min=32, max=4096, help="Side in pixels.")] = 256,
    samples: Samples = 1,
    patch_size: PatchSize = 1.0,
    crop: CropArea = None,
    mask: MaskFile = None,
    flatten: Flatten = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Draw where it differs, by scale, into this picture.", show_default=False),
    ] = None,
    json: Json = False,
) -> Reply:
    """Score a material, or a picture of one, against a reference. Exit code 1 when the material is not accepted."""
    from evaluators import Candidate, Evaluator, Facts, Target
    from material_agent.plausibility import varying_channels
    from references import Preparation, analyze, load_reference
    from renderer import CHANNELS, RenderSettings, linear_to_srgb, srgb_to_linear

    wanted = load_reference(reference, preparation=Preparation.parse(crop=crop, mask=mask, flatten=flatten))
    target = wanted.image_srgb
    varying = varying_channels(analyze(wanted, patch_size_m=patch_size))
    evaluator = Evaluator(Target.from_image(target), patch_size_m=patch_size, varying=varying)
    notes = (*wanted.notes, *evaluator.target.notes)
    if candidate.suffix.lower() in PICTURES:
        picture = load_reference(candidate).image_srgb
        evaluation = evaluator.evaluate(Candidate({"beauty": srgb_to_linear(picture)}))
        return _drawn(_picture_reply(evaluation, _aligned(picture, target)), picture, target, notes, output)
    source = read_source(candidate)
    settings = RenderSettings(resolution, samples, patch_size)
    result = render_graph(source.graph, "flat", CHANNELS, settings)
    if not result.ok:
        text = "; ".join(message.text for message in result.messages)
        return Reply("evaluate", {"status": result.status}, f"no picture: {result.status}: {text}", Exit.NOT_ACCEPTED)
    facts = Facts(node_count=len(source.graph.nodes), samples_pixels=samples * resolution**2)
    evaluation = evaluator.evaluate(Candidate(result.channels, facts))
    shown = linear_to_srgb(result.channels["beauty"].clip(0, 1))
    return _drawn(_graph_reply(evaluation, _aligned(shown, target)), shown, target, notes, output)


def _drawn(
    reply: Reply, picture: FloatArray, reference: FloatArray, notes: tuple[str, ...], output: Path | None
) -> Reply:
    """Add what was done to the reference, and the picture of where the candidate differs, if one is asked for."""
    text = "\n".join([*(f"reference: {note}" for note in notes), reply.text])
    data = {**reply.data, "reference_notes": notes, "differences": output}
    if output is None:
        return replace(reply, data=data, text=text)
    from evaluators.where import where_it_differs
    from material_agent.cli.differences import draw_differences

    draw_differences(where_it_differs(picture, reference), output)
    return replace(reply, data=data, text=f"{text}\n{output}")


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
    text = "\n".join([*_lines(terms, evaluation.thresholds), *_gap_lines(gaps), _aligned_line(aligned), note])
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
    lines = [
        head,
        *_lines(evaluation.terms, evaluation.thresholds),
        *_gap_lines(evaluation.gaps),
        _aligned_line(aligned),
    ]
    text = "\n".join(lines)
    return Reply("evaluate", data, text, Exit.SUCCESS if evaluation.success else Exit.NOT_ACCEPTED)


def _lines(terms: Mapping[str, TermResult], thresholds: Mapping[str, float]) -> list[str]:
    """A table: each term's value, what it has to exceed, and its parts by scale."""
    lines = [f"  {'term':<12}{'value':>7}{'above':>7}" + "".join(f"{scale:>8}" for scale in _SCALES)]
    for name, term in terms.items():
        if not term.scored:
            lines.append(f"  {name:<12}{'–':>7}         unscored: {term.reason}")
            continue
        above = f"{thresholds[name]:.3f}" if name in thresholds else "–"
        parts = "".join(f"{term.by_scale[s]:>8.3f}" if s in term.by_scale else f"{'–':>8}" for s in _SCALES)
        lines.append(f"  {name:<12}{term.value:>7.3f}{above:>7}{parts}".rstrip(" –"))
    return lines


def _gap_lines(gaps: Sequence[Gap]) -> list[str]:
    """The largest gaps, each with the first graph change that it calls for."""
    lines = []
    for gap in gaps[:_GAPS]:
        lines.append(f"  gap {gap.size:.2f}  {gap.message}")
        if gap.suggests:
            lines.append(f"            → {gap.suggests[0]}")
    return lines


def _aligned_line(aligned: AlignedDistance) -> str:
    return f"  pixel by pixel (not scored): SSIM {aligned.ssim:.3f}, {aligned.perceptual_name} {aligned.perceptual:.3f}"
