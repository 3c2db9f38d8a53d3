"""`material-agent inspect`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from material_agent.cli.options import Json
from material_agent.cli.output import Reply
from material_agent.cli.sources import Source, read_json, read_source


def inspect(
    source: Annotated[Path, typer.Argument(help="A run folder, a graph .json or a .blend file.")],
    json: Json = False,
) -> Reply:
    """Show a graph: its nodes, values and links, what is wrong with it, and how its run ended."""
    from graph_api import content_hash, summary_json, summary_text, validate

    found = read_source(source)
    problems = validate(found.graph)
    data: dict[str, Any] = {
        "kind": found.kind,
        "path": found.path,
        "graph_hash": content_hash(found.graph),
        "summary": summary_json(found.graph),
        "problems": problems,
        "notes": found.notes,
        "materials": found.materials,
        "run": _run(found),
    }
    lines = [summary_text(found.graph)]
    lines += [f"{problem.level}: {problem.message}" for problem in problems]
    lines += list(found.notes)
    if found.materials:
        lines.append(f"materials in the file: {', '.join(found.materials)}")
    if data["run"]:
        lines.append(f"run: {data['run']['outcome']}, {data['run']['reason']}")
    return Reply("inspect", data, "\n".join(lines))


def _run(found: Source) -> dict[str, Any] | None:
    """How the run ended, from result.json; None for other sources and for runs without an end."""
    if found.kind != "run" or not (found.path / "result.json").is_file():
        return None
    result = read_json(found.path / "result.json")
    keys = ("outcome", "success", "reason", "best", "final", "attempts", "spent", "seconds")
    return {key: result.get(key) for key in keys}
