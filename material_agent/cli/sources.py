"""What a command may be pointed at: a run folder, a graph file, a .blend file or a picture."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from material_agent.errors import BadInput

if TYPE_CHECKING:
    from graph_api.model import Graph
    from renderer import RenderResult, RenderSettings, View
    from renderer.protocol import Channel

Kind = Literal["run", "attempt", "graph", "blend"]
Engine = Literal["blender", "preview"]
PICTURES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp", ".gif", ".exr"})


@dataclass(frozen=True)
class Source:
    """A graph and where it came from; `notes` are what its reader had to say.

    `materials`: those of a .blend file, `material` the one that was read.
    """

    kind: Kind
    path: Path
    graph: Graph
    notes: tuple[str, ...] = ()
    materials: tuple[str, ...] = ()
    material: str = ""


def kind_of(path: Path) -> Kind:
    """What `path` is, from its name and content. Raises `BadInput` when it is none of them."""
    if path.is_dir():
        if (path / "events.jsonl").is_file() or (path / "graph.json").is_file():
            return "run"
        if path.parent.name == "attempts" and (path.parents[1] / "events.jsonl").is_file():
            return "attempt"
        raise BadInput(f"expected a run folder with events.jsonl, got the folder {path}")
    if not path.is_file():
        raise BadInput(f"expected a run folder, a graph .json or a .blend file, got {path}, which does not exist")
    kinds: dict[str, Kind] = {".json": "graph", ".blend": "blend"}
    if path.suffix.lower() not in kinds:
        raise BadInput(f"expected a run folder, a graph .json or a .blend file, got {path}")
    return kinds[path.suffix.lower()]


def read_source(path: Path) -> Source:
    """The graph behind a run folder, an attempt's folder in it, a graph file or a .blend file.

    A material of a .blend file is chosen by `FILE.blend:NAME`; without a name it is the one that the file shows.

    Raises `BadInput`, the graph API's errors and the renderer's, each with one line that says what is wrong.
    """
    path, material = with_material(path)
    kind = kind_of(path)
    if kind == "blend":
        return _read_blend(path, material)
    if kind == "attempt":
        return Source(kind, path, attempt_graph(path.parents[1], path.name))
    file = path / "graph.json" if kind == "run" else path
    if not file.is_file():
        raise BadInput(f"expected {file}: this run has not kept a material yet")
    from graph_api import load_graph

    loaded = load_graph(read_json(file))
    return Source(kind, path, loaded.graph, tuple(str(notice) for notice in loaded.notices))


def read_json(path: Path) -> dict[str, Any]:
    """One JSON object. Raises `BadInput` naming the file and the place of the fault."""
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except json.JSONDecodeError as error:
        raise BadInput(f"{path}: expected JSON, got a fault in line {error.lineno}: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: expected UTF-8 text, got byte {error.start} that is none") from error
    except (ValueError, RecursionError) as error:
        # What is JSON, but not for Python: an integer of thousands of digits, or thousands of nested brackets.
        raise BadInput(f"{path}: expected JSON of numbers and depth in reason, got: {error}") from error
    if not isinstance(data, dict):
        raise BadInput(f"{path}: expected one JSON object, got {type(data).__name__}")
    return data


def with_material(path: Path) -> tuple[Path, str | None]:
    """`FILE.blend:NAME` as file and material; anything else as it is, without one."""
    head, mark, name = str(path).partition(".blend:")
    return (Path(f"{head}.blend"), name) if mark and name and not path.exists() else (path, None)


def attempt_graph(run: Path, number: str) -> Graph:
    """The best graph of one attempt of a run. Raises `BadInput` when that attempt has none."""
    from graph_api import from_json
    from material_agent.events import AttemptEnded, effective, read_events

    events, _, _ = read_events(run / "events.jsonl")
    ended = {str(event.attempt): event.best_graph for event in effective(events) if isinstance(event, AttemptEnded)}
    graph = ended.get(number)
    if graph is None:
        known = ", ".join(name for name, best in ended.items() if best is not None) or "none"
        raise BadInput(f"expected an attempt of {run} with a judged graph, got {number}; known: {known}")
    return from_json(graph)


def _read_blend(path: Path, material: str | None) -> Source:
    from renderer import import_blend

    found = import_blend(path, material)
    notes = tuple(f"{message.level}: {message.text}" for message in found.messages)
    if found.graph is None:
        names = ", ".join(found.materials) or "none"
        raise BadInput(f"{path}: expected a material with nodes; known: {names}; {'; '.join(notes)}")
    return Source("blend", path, found.graph, notes, found.materials, found.name or "")


def render_graph(
    graph: Graph, view: View, channels: tuple[Channel, ...], settings: RenderSettings, engine: Engine = "blender"
) -> RenderResult:
    """Render once, with processes that are closed again. Raises `BadInput` when the graph does not compile.

    With the engine "preview", Blender answers what the preview does not draw, and a message says why.
    """
    from renderer import BlenderPool, RenderRequest
    from renderer.router import Router

    def pool() -> BlenderPool:
        return BlenderPool(jobs=1)

    with Router(pool) if engine == "preview" else pool() as renderer:
        result = renderer.render(RenderRequest(graph, view, channels, settings))
    if result.status == "compile_error":
        errors = "; ".join(message.text for message in result.messages if message.level == "error")
        raise BadInput(f"expected a graph that compiles, got: {errors}")
    return result
