"""A graph, or two and what differs, as one HTML page: drawn as in Blender's node editor, nothing fetched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from graph_api import summary_json, validate
from graph_api.compare import Difference
from graph_api.model import Graph
from graph_api.svg import to_svg
from material_agent.reports.pages import page_environment


@dataclass(frozen=True)
class Drawing:
    """A drawing with its caption."""

    svg: Markup
    caption: str = ""


def graph_page(
    graph: Graph, title: str, notes: Sequence[str] = (), preview: Sequence[str] = (), *,
    before: Graph | None = None, difference: Difference | None = None,
) -> str:  # fmt: skip
    """The page of `graph`.

    `notes`: what its reader had to say. `preview`: what the fast preview does not draw. With `before` and `difference`
    both graphs are drawn, what differs is ringed, and the differences are listed.
    """
    environment = page_environment("material_agent.reports")
    drawings = [Drawing(_drawn(graph, difference.marks(after=True) if difference else None), "After" if before else "")]
    if before is not None and difference is not None:
        drawings.insert(0, Drawing(_drawn(before, difference.marks(after=False)), "Before"))
    summary = summary_json(graph)
    found = [tuple(note.split(": ", 1)) if ": " in note else ("info", note) for note in notes]
    found += [(problem.level, problem.message) for problem in validate(graph)]
    return environment.get_template("graph.html.j2").render(
        title=clean_text(title),
        subtitle=f"{len(graph.nodes)} nodes, {len(graph.links)} links, Blender {graph.blender_version}.",
        drawings=drawings,
        changes=difference.lines() if difference is not None else None,
        notes=found,
        preview=list(preview),
        nodes=[{"role": "", "set": {}, **node} for node in summary["nodes"]],
    )


def clean_text(text: str) -> str:
    """Text without characters that a file in UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _drawn(graph: Graph, marks: dict[str, str] | None) -> Markup:
    return Markup(to_svg(graph, marks))  # every text in it is escaped
