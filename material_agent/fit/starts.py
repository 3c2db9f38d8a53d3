"""The graph that every attempt starts from: the plain one, or the user's own material with what must not change."""

from __future__ import annotations

import json
from pathlib import Path

from graph_api import ActionRejected, GraphError, Lock, load_graph, start_graph, validate
from graph_api.locking import locks_for
from graph_api.migrate import migrate
from graph_api.model import Graph
from material_agent.config import RunConfig
from material_agent.errors import BadInput
from renderer import import_blend


def start_of(config: RunConfig, version: str) -> tuple[Graph, tuple[Lock, ...], tuple[str, ...]]:
    """The start graph for the catalog `version`, the locks of the configuration, and notes for the log.

    Raises `BadInput` for a start that cannot be read or does not compile, and for locks that name nothing; and the
    renderer's errors.
    """
    if not config.start:
        return start_graph(version), (), ()
    graph, notes = read_start(config.start)
    moved = migrate(graph, version)
    notes = (*notes, *(str(notice) for notice in moved.notices))
    problems = [problem.message for problem in validate(moved.graph) if problem.level == "error"]
    if problems:
        raise BadInput(f"{config.start}: expected a material that compiles, got: {'; '.join(problems[:3])}")
    try:
        locks = locks_for(moved.graph, config.locks, config.only)
    except ActionRejected as error:
        raise BadInput(str(error)) from error
    return moved.graph, locks, notes


def read_start(where: str) -> tuple[Graph, tuple[str, ...]]:
    """The graph of `FILE.blend`, `FILE.blend:MATERIAL`, a graph `.json` or a run folder, and what its reader said."""
    head, mark, name = where.partition(".blend:")
    path, material = (Path(f"{head}.blend"), name) if mark and not Path(where).exists() else (Path(where), None)
    if path.is_dir():
        path = path / "graph.json"
    if not path.is_file():
        raise BadInput(f"expected FILE.blend[:MATERIAL], a graph .json or a run folder to start from, got {where}")
    if path.suffix.lower() == ".blend":
        found = import_blend(path, material)
        notes = tuple(f"{message.level}: {message.text}" for message in found.messages)
        if found.graph is None:
            raise BadInput(f"{where}: expected a material; known: {', '.join(found.materials) or 'none'}")
        return found.graph, notes
    try:
        loaded = load_graph(path.read_text(encoding="utf-8-sig"))
    except (GraphError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{where}: {' '.join(str(error).split())}") from error
    return loaded.graph, tuple(str(notice) for notice in loaded.notices)
