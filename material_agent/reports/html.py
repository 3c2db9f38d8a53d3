"""From a run folder to `report.html`: one file, nothing fetched, everything escaped."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from evaluators.calibration import load_calibration
from graph_api import GraphError, ban_from_json
from material_agent.errors import BadInput
from material_agent.events import EvaluationRecord, read_events
from material_agent.fit.folder import RunFolder
from material_agent.fit.result import FinalRecord, read_result
from material_agent.reports import charts
from material_agent.reports.pages import page_environment
from material_agent.reports.pictures import Album
from material_agent.reports.reproduce import command_line
from material_agent.reports.story import Attempt, Edits, Move, Searches, Story, arguments, tell
from renderer.protocol import CHANNELS

HERO_SIDE = 512
PICTURE_SIDE = 256
THUMB_SIDE = 160
_SCALES = ("macro", "meso", "micro", "global")
_KINDS: Mapping[type, str] = {str: "thought", Searches: "searches", Edits: "edits", Move: "move"}
_VIEWS = ("tilt", "sphere")
_OUTCOMES = {
    "success": ("accepted", "Accepted", "Every term that counts is above its threshold."),
    "unfinished": (
        "open",
        "Not accepted",
        "The run ended without reaching the acceptance; the best material found is kept.",
    ),
    "interrupted": (
        "open",
        "Interrupted",
        "The run was stopped; the best material until then is kept and the run can be resumed.",
    ),
    "failed": ("bad", "Failed", "The run could not go on."),
    "": (
        "open",
        "No end recorded",
        "The log stops in the middle: the run is still going, or it was killed and can be resumed.",
    ),
}


def report_html(folder: Path) -> str:
    """The report of the run in `folder`, from its events and pictures. Raises `BadInput` when there is no run."""
    log = folder / "events.jsonl"
    if not log.is_file():
        raise BadInput(f"expected a run folder with events.jsonl, got {folder}")
    story = tell(read_events(log).events)
    return _environment().get_template("report.html.j2").render(_values(story, folder))


def write_report(folder: Path) -> Path:
    """Write `report.html` into the run folder and return its path; an older one is replaced at once, never half."""
    page = report_html(folder)
    return folder / RunFolder(folder).write_text("report.html", page)


@cache
def _environment() -> Environment:
    environment = page_environment("material_agent.reports")
    environment.filters["number"] = _number
    environment.filters["words"] = lambda text: str(text).replace("_", " ")
    environment.filters["arguments"] = arguments
    environment.filters["kind"] = _kind
    environment.filters["phrase"] = phrase
    environment.filters["ban"] = _ban
    environment.globals["bar"] = lambda value, threshold=None: Markup(charts.bar(value, threshold))
    return environment


def _values(story: Story, folder: Path) -> dict[str, Any]:
    album = Album(folder)
    tone, title, text = _OUTCOMES[story.end.outcome if story.end else ""]
    final = _final(folder)
    evaluation = final.evaluation if final else story.best_event.evaluation if story.best_event else None
    points = [charts.Point(*point) for point in story.points]
    return {
        "story": story,
        "name": str(story.start.reference.get("id") or story.start.run),
        "tone": tone,
        "outcome": title,
        "outcome_text": text,
        "reference": album.uri("reference.png", HERO_SIDE),
        "render": _first(album, HERO_SIDE, _hero_paths(story)),
        "final": final,
        "evaluation": evaluation,
        "scales": _scales(evaluation),
        "provenance": _provenance(evaluation),
        "chart": Markup(charts.reward_chart(points)),
        "picture": lambda path: album.uri(path, PICTURE_SIDE),
        "thumb": lambda path: album.uri(path, THUMB_SIDE),
        "maps": _maps(album),
        "spending": _spending(story),
        "command": command_line(story.start.config, story.start.actor, story.start.reflector),
        "attempt_images": _attempt_images,
        "spent_in": lambda attempt: _spent_in(story, attempt),
    }


def _final(folder: Path) -> FinalRecord | None:
    """The verdict on the final render, when the run came that far; it is in the result, not among the events."""
    path = folder / "result.json"
    return read_result(path).final if path.is_file() else None


def _provenance(evaluation: EvaluationRecord | None) -> Mapping[str, object]:
    """Where the weights come from: what the committed calibration says of itself, if it is the one that judged."""
    calibration = load_calibration()
    if evaluation is None or dict(evaluation.weights) != dict(calibration.weights):
        return {}
    return {key: value for key, value in calibration.made_by.items() if isinstance(value, str)}


def _hero_paths(story: Story) -> tuple[str, ...]:
    shown = (story.best.images.get("beauty", ""),) if story.best else ()
    return ("maps/beauty.png", *shown)


def _first(album: Album, side: int, paths: tuple[str, ...]) -> str | None:
    return next((uri for path in paths if (uri := album.uri(path, side))), None)


def _maps(album: Album) -> list[tuple[str, str]]:
    paths = {name: f"maps/{name}.png" for name in CHANNELS} | {name: f"views/{name}.png" for name in _VIEWS}
    return [(name, uri) for name, path in paths.items() if (uri := album.uri(path, PICTURE_SIDE))]


def _scales(evaluation: EvaluationRecord | None) -> list[str]:
    """The scales that some term speaks about, in their order."""
    if evaluation is None:
        return []
    named = {scale for term in evaluation.terms.values() for scale in term.by_scale}
    return [scale for scale in _SCALES if scale in named] + sorted(named - set(_SCALES))


def _attempt_images(attempt: Attempt) -> Mapping[str, str]:
    return attempt.best.images if attempt.best else {}


def _spending(story: Story) -> list[tuple[str, float, float | None]]:
    """Resource, spent, limit (None when unlimited)."""
    names = [*story.start.limits, *(name for name in story.spent if name not in story.start.limits)]
    return [(name, story.spent.get(name, 0.0), story.start.limits.get(name)) for name in names]


def _spent_in(story: Story, attempt: Attempt) -> dict[str, float]:
    before = next((old.spent for old in reversed(story.attempts) if old.number < attempt.number), {})
    used = {name: value - before.get(name, 0.0) for name, value in attempt.spent.items()}
    return {name: value for name, value in used.items() if value > 0}


def _kind(item: str | Searches | Edits | Move) -> str:
    return _KINDS[type(item)]


def _ban(data: object) -> str:
    """A ban in the graph API's own words; what is not a ban it can read is shown as it is."""
    try:
        return ban_from_json(data).describe()
    except GraphError:
        return phrase(data)


def _number(value: float | None, digits: int = 3) -> str:
    """A figure for people: counts without decimals, thousands apart, and a dash for none."""
    if value is None:
        return "–"
    if float(value).is_integer() and abs(value) >= 1:
        return f"{int(value):,}".replace(",", "\u202f")
    return f"{value:.{digits}f}"


def phrase(value: object) -> str:
    """Nested data as one line of `key: value`, without the empty ones."""
    if isinstance(value, Mapping):
        parts = [f"{key}: {phrase(item)}" for key, item in value.items() if item not in (None, "", [], {}, ())]
        return ", ".join(parts)
    if isinstance(value, list | tuple):
        return "; ".join(phrase(item) for item in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)
