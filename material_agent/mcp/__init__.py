"""The typed actions as tools of the Model Context Protocol (extra `mcp`)."""

from material_agent.mcp.server import Address, make_server, serve_http, serve_stdio
from material_agent.mcp.tools import Shop
from material_agent.mcp.workspace import Workspace

__all__ = ["Address", "Shop", "Workspace", "make_server", "serve_http", "serve_stdio"]
