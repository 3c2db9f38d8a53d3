"""What each Blender version's shader nodes are: types, sockets, properties, and the names that changed."""

from graph_api.catalog.aliases import Aliases, NodeAlias, load_aliases
from graph_api.catalog.registry import Catalog, available_versions, load_catalog, nearest_version
from graph_api.catalog.schema import NodeType, Property, Socket, SocketState

__all__ = [
    "Aliases",
    "Catalog",
    "NodeAlias",
    "NodeType",
    "Property",
    "Socket",
    "SocketState",
    "available_versions",
    "load_aliases",
    "load_catalog",
    "nearest_version",
]
