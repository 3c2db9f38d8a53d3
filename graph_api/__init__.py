"""Material graphs: what they are, how they are edited, checked, stored and written out. Standard library only."""

from graph_api.actions import (
    ACTIONS,
    Action,
    AddNode,
    Connect,
    Disconnect,
    Edit,
    Finish,
    InspectGraph,
    Note,
    RemoveNode,
    Render,
    SetParam,
)
from graph_api.actions_json import action_from_json, action_schema, action_to_json
from graph_api.apply import Applied, apply
from graph_api.bancheck import check_ban
from graph_api.canonical import content_hash, render_hash
from graph_api.catalog import Catalog, NodeType, Property, Socket, SocketState, available_versions, load_catalog
from graph_api.errors import (
    ActionRejected,
    BanInvalid,
    CatalogMissing,
    GraphError,
    MalformedGraph,
    TerminalGraphError,
)
from graph_api.export_python import to_python
from graph_api.history import History
from graph_api.ids import fresh_id, safe_id
from graph_api.migrate import Migrated, migrate
from graph_api.model import (
    ROLES,
    ColorRamp,
    ColorStop,
    CurveMapping,
    CurvePoint,
    Graph,
    Link,
    Node,
    Scalar,
    Value,
    Vector,
)
from graph_api.resolve import Notice
from graph_api.rules import Ban, Endpoint, Lock, Rules
from graph_api.serialize import (
    ban_from_json,
    ban_to_json,
    dumps,
    from_json,
    load_graph,
    lock_from_json,
    lock_to_json,
    to_json,
)
from graph_api.starts import reseed, start_graph
from graph_api.summary import summary_json, summary_text
from graph_api.validate import Problem, compiles, validate
from graph_api.wiring import active_output

__all__ = [
    "ACTIONS",
    "ROLES",
    "Action",
    "ActionRejected",
    "AddNode",
    "Applied",
    "Ban",
    "BanInvalid",
    "Catalog",
    "CatalogMissing",
    "ColorRamp",
    "ColorStop",
    "Connect",
    "CurveMapping",
    "CurvePoint",
    "Disconnect",
    "Edit",
    "Endpoint",
    "Finish",
    "Graph",
    "GraphError",
    "History",
    "InspectGraph",
    "Link",
    "Lock",
    "MalformedGraph",
    "Migrated",
    "Node",
    "NodeType",
    "Note",
    "Notice",
    "Problem",
    "Property",
    "RemoveNode",
    "Render",
    "Rules",
    "Scalar",
    "SetParam",
    "Socket",
    "SocketState",
    "TerminalGraphError",
    "Value",
    "Vector",
    "action_from_json",
    "action_schema",
    "action_to_json",
    "active_output",
    "apply",
    "available_versions",
    "ban_from_json",
    "ban_to_json",
    "check_ban",
    "compiles",
    "content_hash",
    "dumps",
    "fresh_id",
    "from_json",
    "load_catalog",
    "load_graph",
    "lock_from_json",
    "lock_to_json",
    "migrate",
    "render_hash",
    "reseed",
    "safe_id",
    "start_graph",
    "summary_json",
    "summary_text",
    "to_json",
    "to_python",
    "validate",
]
