"""`material-agent inspect`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from material_agent.cli.options import Json, Output
from material_agent.cli.output import Reply
from material_agent.cli.sources import Source, read_json, read_source
from material_agent.errors import BadInput

if TYPE_CHECKING:
    from graph_api.compare import Difference


class Form(StrEnum):
    """How a graph can be shown."""

    text = "text"
    json = "json"
    svg = "svg"
    html = "html"


def inspect(
    sources: Annotated[
        list[Path],
        typer.Argument(help="A run folder, an attempt's folder, a graph .json or a .blend file; two with --diff."),
    ],
    form: Annotated[Form, typer.Option("--format", help="How to show it.")] = Form.text,
    diff: Annotated[
        bool, typer.Option("--diff", help="Show what changes from the first source to the second.")
    ] = False,
    open_it: Annotated[bool, typer.Option("--open", help="Also start your Blender on it.")] = False,
    output: Output = None,
    json: Json = False,
) -> Reply:
    """Show a graph: its nodes, values and links, what is wrong with it, and how its run ended."""
    from graph_api.compare import compare

    if len(sources) != (2 if diff else 1):
        raise BadInput(f"expected {'two sources with --diff' if diff else 'one source'}, got {len(sources)}")
    found = [read_source(path) for path in sources]
    last = found[-1]
    difference = compare(found[0].graph, last.graph) if diff else None
    data = _data(last, difference)
    if open_it:
        data["opened_with"] = _open(last, output)
    # The drawing is what the option asks for; --json tells of it all the same.
    text = _FORMS[form](found, data, difference)
    if output is not None and not open_it:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text + "\n", encoding="utf-8")
        data["output"] = output
        text = str(output)
    return Reply("inspect", data, text)


def _data(found: Source, difference: Difference | None) -> dict[str, Any]:
    from graph_api import content_hash, summary_json, validate
    from graph_api.knobs import knobs

    return {
        "kind": found.kind,
        "path": found.path,
        "graph_hash": content_hash(found.graph),
        "summary": summary_json(found.graph),
        "problems": validate(found.graph),
        "notes": found.notes,
        "materials": found.materials,
        "material": found.material,
        "parameters": [{"name": knob.name, "node": knob.node, "socket": knob.socket} for knob in knobs(found.graph)],
        "preview": _preview(found),
        "run": _run(found),
        "difference": difference,
    }


def _preview(found: Source) -> tuple[str, ...]:
    """What the fast preview leaves to Blender; empty when it draws the whole graph."""
    from renderer.preview import unsupported
    from renderer.protocol import CHANNELS

    return tuple(
        f"{node} ({kind}): {text}" if node else text for node, kind, text in unsupported(found.graph, CHANNELS)
    )


def _text(found: Sequence[Source], data: dict[str, Any], difference: Difference | None) -> str:
    if difference is not None:
        return "\n".join(difference.lines())
    from graph_api import summary_text

    lines = [summary_text(found[-1].graph)]
    lines += [f"{problem.level}: {problem.message}" for problem in data["problems"]]
    lines += list(found[-1].notes)
    if found[-1].materials:
        lines.append(f"materials in the file: {', '.join(found[-1].materials)}; shown: {found[-1].material}")
    if data["parameters"]:
        lines.append(f"parameters: {', '.join(knob['name'] for knob in data['parameters'])}")
    missing = data["preview"]
    lines.append(
        f"the fast preview does not draw: {'; '.join(missing)}" if missing else "the fast preview draws it all"
    )
    if data["run"]:
        lines.append(f"run: {data['run']['outcome']}, {data['run']['reason']}")
    return "\n".join(lines)


def _json(_: Sequence[Source], data: dict[str, Any], __: Difference | None) -> str:
    return Reply("inspect", data).as_json()


def _svg(found: Sequence[Source], _: dict[str, Any], difference: Difference | None) -> str:
    from graph_api.svg import to_svg

    return to_svg(found[-1].graph, difference.marks(after=True) if difference else None).rstrip("\n")


def _html(found: Sequence[Source], data: dict[str, Any], difference: Difference | None) -> str:
    from material_agent.reports.graph_page import graph_page

    title = " → ".join(str(source.path) for source in found)
    before = found[0].graph if difference is not None else None
    return graph_page(found[-1].graph, title, found[-1].notes, data["preview"], before=before, difference=difference)


_FORMS = {Form.text: _text, Form.json: _json, Form.svg: _svg, Form.html: _html}


def _open(found: Source, output: Path | None) -> str:
    """Start Blender on the .blend file behind a source; a graph without one is exported first, to `output`."""
    from material_agent.cli.launch import open_in_blender

    path = {"blend": found.path, "run": found.path / "material.blend"}.get(found.kind)
    if path is None or not path.is_file():
        from material_agent.export import export_graph

        path = output or Path(f"{found.path.stem}.blend")
        if path.exists():
            raise BadInput(f"expected a free name for the .blend file to open, got {path}; what would work: --output")
        export_graph(found.graph, "blend", path)
    return open_in_blender(path)


def _run(found: Source) -> dict[str, Any] | None:
    """How the run ended, from result.json; None for other sources and for runs without an end."""
    if found.kind != "run" or not (found.path / "result.json").is_file():
        return None
    result = read_json(found.path / "result.json")
    keys = ("outcome", "success", "reason", "best", "final", "attempts", "spent", "seconds")
    return {key: result.get(key) for key in keys}
