"""A client that opens a task over stdio, begins long work and prints its server's processes; somebody kills it then."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import psutil
from mcp_side import stdio_client


async def main(workspace: Path) -> None:
    async with stdio_client(workspace) as client:
        opened = await client.call_tool("open_task", {"picture": "bricks.png"})
        task = opened.structured_content["task"]

        async def tell(done: float, total: float | None, text: str | None) -> None:
            if done > 8:
                pids = [child.pid for child in psutil.Process().children(recursive=True)]
                print(task, *pids, flush=True)

        names = ["principled.Base Color", "principled.Roughness"]
        await client.call_tool("tune", {"task": task, "parameters": names, "budget": 240}, progress_callback=tell)


asyncio.run(main(Path(sys.argv[1])))
