"""`material-agent mcp`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from material_agent.cli.options import Jobs
from material_agent.cli.output import Reply, answer_stream, say
from material_agent.errors import MissingExtra


def mcp(
    workspace: Annotated[Path, typer.Option("--workspace", "-w", help="The one folder that clients reach.")] = Path(
        "material-agent-workspace"
    ),
    http: Annotated[bool, typer.Option("--http", help="Serve HTTP on loopback instead of stdin and stdout.")] = False,
    host: Annotated[str, typer.Option(help="A loopback address.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8765,
    jobs: Jobs = 2,
    resolution: Annotated[int, typer.Option(min=32, max=2048, help="Side of a task's renders in pixels.")] = 256,
    weight_free: Annotated[
        bool, typer.Option("--weight-free", help="Judge without the deep statistics; quicker to start.")
    ] = False,
) -> Reply:
    """Serve the typed actions to an agent over the Model Context Protocol, until it hangs up."""
    if find_spec("mcp") is None or find_spec("uvicorn") is None:
        raise MissingExtra("mcp", "the Model Context Protocol")
    from material_agent.environment import Settings
    from material_agent.mcp import Address, Shop, Workspace, serve_http, serve_stdio
    from renderer import BlenderPool, RenderCache

    address, place = Address(host, port), Workspace(workspace)
    shop = Shop(
        place,
        BlenderPool(jobs=jobs, cache=RenderCache()),
        settings=Settings(resolution=resolution),
        network="off" if weight_free else "auto",
    )
    if http:
        serve_http(shop, address, say)
    else:
        serve_stdio(shop, answer_stream())
    return Reply("mcp")
