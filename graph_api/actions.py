"""What an actor can do: nine frozen actions, one tagged union.

Schemas for models and for MCP are generated from these classes; there is no second list of actions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from graph_api.model import Value

View = Literal["flat", "tilt", "sphere"]
Outcome = Literal["success", "unfinished"]


@dataclass(frozen=True)
class AddNode:
    """Add a node of a Blender type, such as `ShaderNodeTexNoise`.

    `id` asks for a certain id (refused when taken); without it the graph gives one. `role` says what it is for.
    """

    op: ClassVar[str] = "add_node"
    type: str
    id: str | None = None
    role: str = ""


@dataclass(frozen=True)
class Connect:
    """Connect an output to an input. `src` is `node` (its first enabled output) or `node.Output`; `slot` an input."""

    op: ClassVar[str] = "connect"
    src: str
    dst: str
    slot: str


@dataclass(frozen=True)
class SetParam:
    """Set an input default, a property, a color ramp or a curve. `key` is a socket name, identifier or property."""

    op: ClassVar[str] = "set_param"
    node: str
    key: str
    value: Value


@dataclass(frozen=True)
class RemoveNode:
    """Remove a node and the links that touch it."""

    op: ClassVar[str] = "remove_node"
    node: str


@dataclass(frozen=True)
class Disconnect:
    """Remove the link that feeds input `slot` of `dst`."""

    op: ClassVar[str] = "disconnect"
    dst: str
    slot: str


@dataclass(frozen=True)
class Render:
    """Render the graph in Blender; `maps` are channel names, `view` the view."""

    op: ClassVar[str] = "render"
    view: View = "flat"
    maps: tuple[str, ...] = ("beauty",)


@dataclass(frozen=True)
class InspectGraph:
    """Ask for the graph's summary."""

    op: ClassVar[str] = "inspect_graph"


@dataclass(frozen=True)
class Finish:
    """End the attempt. `success` is refused while the evidence is incomplete; `unfinished` is an honest end."""

    op: ClassVar[str] = "finish"
    outcome: Outcome
    reason: str = ""


@dataclass(frozen=True)
class Note:
    """A thought: it changes the context only."""

    op: ClassVar[str] = "note"
    text: str


Edit = AddNode | Connect | SetParam | RemoveNode | Disconnect
Action = Edit | Render | InspectGraph | Finish | Note

ACTIONS: dict[str, type[Action]] = {
    kind.op: kind for kind in (AddNode, Connect, SetParam, RemoveNode, Disconnect, Render, InspectGraph, Finish, Note)
}
