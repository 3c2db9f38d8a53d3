"""The tools by name: the typed actions under their own names, and what opens, judges, lists, reverts and exports."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from mcp_types import CallToolResult, Tool, ToolAnnotations

from graph_api import action_from_json, action_schema, load_catalog, summary_text, to_json
from graph_api.actions import Note
from graph_api.catalog import nearest_version
from material_agent.actors.words import quoted, verdict_words
from material_agent.context_view import compact
from material_agent.environment import Settings
from material_agent.errors import BadInput
from material_agent.events import evaluation_record
from material_agent.export import ENDINGS, FORMATS, Wish, export_graph
from material_agent.mcp.answers import answer, graph_link, graph_uri, observed, picture
from material_agent.mcp.describe import describe_node
from material_agent.mcp.hall import Hall
from material_agent.mcp.task import OpenTask, open_task
from material_agent.mcp.watch import Watch
from material_agent.mcp.workspace import Workspace
from material_agent.observation import Observation
from material_agent.proposals import Tune, tune_from_json, tune_schema
from references import bundled_names
from renderer import BlenderPool
from renderer.images import quantize

GOAL = "Rebuild the material of this picture as an editable, physically plausible node graph."
LARGEST_MAP_PX = 4096
TASK: dict[str, Any] = {"type": "string", "description": "the id that open_task gave"}

Json = dict[str, Any]


@dataclass
class Shop:
    """What every tool works with."""

    workspace: Workspace
    pool: BlenderPool
    hall: Hall = field(default_factory=Hall)
    settings: Settings = field(default_factory=lambda: Settings(resolution=256))
    network: str = "auto"

    @property
    def version(self) -> str:
        """The catalog's version for the Blender that renders."""
        return nearest_version(self.pool.version or self.pool.warm_up())


Handler = Callable[[Shop, Json, Watch], CallToolResult]


def tools() -> list[Tool]:
    """All tools with their schemas."""
    made = [_tool(name, *spec[:2], reads=spec[2]) for name, spec in OWN.items()]
    for schema in _action_schemas().values():
        parameters = schema["parameters"]
        with_task = {
            **parameters,
            "properties": {"task": TASK, **parameters["properties"]},
            "required": ["task", *parameters["required"]],
        }
        made.append(_tool(schema["name"], schema["description"], with_task, reads=schema["name"] == "inspect_graph"))
    return made


def call(shop: Shop, name: str, arguments: Json, watch: Watch) -> CallToolResult:
    """Do one tool. Raises the errors that the tool's input can cause."""
    if name in HANDLERS:
        return HANDLERS[name](shop, arguments, watch)
    if name not in _action_schemas():
        known = ", ".join([*HANDLERS, *_action_schemas()])
        raise BadInput(f"expected a tool, got {name[:60]!r}; known: {known}")
    return _act(shop, name, arguments, watch)


def read_graph(shop: Shop, uri: str) -> str:
    """The graph behind a resource. Raises `BadInput` for a URI that is none of ours."""
    found = re.fullmatch(r"material://tasks/([0-9a-f]+)/graph", uri)
    with shop.hall.at_work(found.group(1) if found else None) as task:
        return json.dumps(to_json(task.environment.graph), indent=2, ensure_ascii=False)


def _action_schemas() -> dict[str, Json]:
    """The eight actions on a graph, and the search; a note would tell nobody."""
    schemas = {op: schema for op, schema in action_schema().items() if op != Note.op}
    return {**schemas, Tune.op: tune_schema()}


def _tool(name: str, description: str, parameters: Json, *, reads: bool) -> Tool:
    notes = ToolAnnotations(read_only_hint=reads, destructive_hint=False, open_world_hint=False)
    return Tool(name=name, description=description, input_schema=parameters, annotations=notes)


def _act(shop: Shop, name: str, arguments: Json, watch: Watch) -> CallToolResult:
    fields = {key: value for key, value in arguments.items() if key != "task" and (value is not None or key == "value")}
    action = tune_from_json(fields) if name == Tune.op else action_from_json({**fields, "op": name})
    with shop.hall.at_work(arguments.get("task")) as task:
        watch.check()
        return observed(task.step(action, watch), task.task.image_srgb)


def _open(shop: Shop, arguments: Json, watch: Watch) -> CallToolResult:
    name = _text(arguments, "picture")
    source: str | Path = name if name in bundled_names() else shop.workspace.existing(name)
    patch = _number(arguments, "patch_size_m", 1.0, (1e-3, 1e3))
    goal = _text(arguments, "goal", GOAL)
    blender = shop.version

    def make(task_id: str) -> OpenTask:
        return open_task(
            task_id,
            source,
            root=shop.workspace.root,
            renderer=shop.pool,
            blender=blender,
            goal=goal,
            patch_size_m=patch,
            settings=shop.settings,
            network=shop.network,
        )

    task = shop.hall.open(make)
    graph = summary_text(task.environment.graph)
    found = compact(task.decomposition.to_json())
    words = (
        f"Task {task.id}. Its graph is the start graph:\n{quoted('graph', graph)}\n"
        f"Measured on the picture and inferred from it:\n"
        f"{quoted('decomposition', json.dumps(found, ensure_ascii=False))}"
    )
    data = {"task": task.id, "folder": f"tasks/{task.id}", "graph": graph_uri(task.id), "decomposition": found}
    return answer(words, data, [picture(quantize(task.task.image_srgb)), graph_link(task.id)])


def _evaluate(shop: Shop, arguments: Json, watch: Watch) -> CallToolResult:
    with shop.hall.at_work(arguments.get("task")) as task:
        watch.check()
        seen, evaluation = task.verdict(watch)
    if evaluation is None:
        said = "; ".join(seen.messages) if seen is not None else "nothing was rendered"
        raise BadInput(f"expected a graph that renders, got: {said}")
    record = evaluation_record(evaluation).model_dump(mode="json")
    return answer(verdict_words(evaluation, evaluation.gaps), {"evaluation": record})


def _list_steps(shop: Shop, arguments: Json, watch: Watch) -> CallToolResult:
    with shop.hall.at_work(arguments.get("task")) as task:
        steps = [
            {
                "step": step.number,
                "action": step.proposed,
                "observation": step.observation.id,
                "status": step.observation.status,
                "reward": None if step.observation.evaluation is None else step.observation.evaluation.reward,
                "nodes": len(step.graph.nodes),
            }
            for step in task.steps
        ]
    lines = [f"{one['step']}. {json.dumps(one['action'], default=str)[:160]}: {one['status']}" for one in steps]
    return answer(quoted("steps", "\n".join(lines)), {"steps": json.loads(json.dumps(steps, default=str))})


def _revert(shop: Shop, arguments: Json, watch: Watch) -> CallToolResult:
    with shop.hall.at_work(arguments.get("task")) as task:
        seen: Observation = task.revert(int(_number(arguments, "step", None, (0, 1e9))))
        return observed(seen, task.task.image_srgb)


def _export(shop: Shop, arguments: Json, watch: Watch) -> CallToolResult:
    to = _text(arguments, "format")
    if to not in FORMATS:
        raise BadInput(f"expected a format to export to, got {to[:40]!r}; known: {', '.join(FORMATS)}")
    name = _text(arguments, "name", "Material")
    file = _text(arguments, "path", f"exports/{re.sub(r'[^A-Za-z0-9_-]+', '-', name) or 'material'}{ENDINGS[to]}")
    path = shop.workspace.folder(file) if to == "maps" else shop.workspace.new(file)
    if to == "mtlx":  # its maps lie in a folder beside it
        shop.workspace.folder(str(PurePath(file).with_suffix("")) + "-maps")
    size = int(_number(arguments, "resolution", 1024, (16, LARGEST_MAP_PX)))
    with shop.hall.at_work(arguments.get("task")) as task:
        watch.check()
        wish = Wish(name[:60], size, task.task.patch_size_m)
        said = export_graph(task.environment.graph, to, path, wish)
    shown = str(path.relative_to(shop.workspace.root))
    return answer("\n".join([f"written: {shown}", *said]), {"path": shown, "format": to, "messages": list(said)})


def _describe(shop: Shop, arguments: Json, watch: Watch) -> CallToolResult:
    found = describe_node(_text(arguments, "type"), load_catalog(shop.version))
    return answer(json.dumps(found, ensure_ascii=False), found)


def _close(shop: Shop, arguments: Json, watch: Watch) -> CallToolResult:
    name = _text(arguments, "task")
    shop.hall.close(name)
    return answer(f"closed; its folder tasks/{name} stays", {"closed": name})


def _text(arguments: Json, name: str, default: str | None = None) -> str:
    value = arguments.get(name, default)
    value = default if value is None else value
    if not isinstance(value, str) or not value:
        raise BadInput(f"expected text as {name}, got {value!r:.80}")
    return value


def _number(arguments: Json, name: str, default: float | None, bounds: tuple[float, float]) -> float:
    value = arguments.get(name, default)
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise BadInput(f"expected a number as {name}, got {value!r:.80}") from None
    if not bounds[0] <= number <= bounds[1]:
        raise BadInput(f"expected {name} from {bounds[0]:g} to {bounds[1]:g}, got {number:g}")
    return number


def _schema(properties: Json, required: tuple[str, ...]) -> Json:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


OWN: Mapping[str, tuple[str, Json, bool]] = {
    "open_task": (
        "Begin a task on a picture of a material: a file of the workspace, or the name of a bundled reference. Answers "
        "with the task's id, the start graph, what was measured on the picture, and the picture.",
        _schema(
            {
                "picture": {"type": "string", "description": "a path inside the workspace, or a bundled name"},
                "goal": {"type": "string"},
                "patch_size_m": {"type": "number", "description": "side in metres of what is pictured", "default": 1.0},
            },
            ("picture",),
        ),
        False,
    ),
    "evaluate": (
        "The verdict on the present graph: reward, terms with thresholds, gaps by scale and channel. Renders the flat "
        "view first when the graph was edited since.",
        _schema({"task": TASK}, ("task",)),
        True,
    ),
    "list_steps": ("The steps of the task, from 0.", _schema({"task": TASK}, ("task",)), True),
    "revert": (
        "Go back to the graph after a step; itself a step, so it can be taken back.",
        _schema({"task": TASK, "step": {"type": "integer", "minimum": 0}}, ("task", "step")),
        False,
    ),
    "export": (
        "Write the present graph into the workspace: a .blend file, a script for Blender, JSON, or a folder of maps.",
        _schema(
            {
                "task": TASK,
                "format": {"type": "string", "enum": list(FORMATS)},
                "path": {"type": "string", "description": "inside the workspace; by default exports/NAME"},
                "name": {"type": "string", "default": "Material"},
                "resolution": {"type": "integer", "minimum": 16, "maximum": LARGEST_MAP_PX, "default": 1024},
            },
            ("task", "format"),
        ),
        False,
    ),
    "describe_node": (
        "What a node type is for, its sockets with types and ranges, its properties with their items.",
        _schema({"type": {"type": "string", "description": "such as ShaderNodeTexNoise"}}, ("type",)),
        True,
    ),
    "close_task": ("Close a task; its folder stays.", _schema({"task": TASK}, ("task",)), False),
}
HANDLERS: Mapping[str, Handler] = {
    "open_task": _open,
    "evaluate": _evaluate,
    "list_steps": _list_steps,
    "revert": _revert,
    "export": _export,
    "describe_node": _describe,
    "close_task": _close,
}
