"""Servers as a user starts them, and the official client library to talk to them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

TOKEN = "loopback-token-for-tests"
SIDE = 128


def arguments(workspace: Path, *more: str) -> list[str]:
    """A server's command line after the interpreter."""
    options = ["--workspace", str(workspace), "--weight-free", "--resolution", str(SIDE), *more]
    return ["-m", "material_agent.cli", "mcp", *options]


@dataclass
class HttpServer:
    process: subprocess.Popen[str]
    url: str
    workspace: Path

    @asynccontextmanager
    async def client(self, token: str = TOKEN) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
            Client(streamable_http_client(self.url, http_client=http)) as client,
        ):
            yield client


@contextmanager
def http_server(workspace: Path, jobs: int = 2) -> Iterator[HttpServer]:
    process = subprocess.Popen(
        [sys.executable, *arguments(workspace, "--http", "--port", "0", "--jobs", str(jobs))],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "MATERIAL_AGENT_MCP_TOKEN": TOKEN},
    )
    try:
        lines = []
        for line in process.stderr:
            lines.append(line)
            if line.startswith("listening on "):
                break
        else:
            raise AssertionError("".join(lines))
        yield HttpServer(process, line.split()[-1], workspace)
    finally:
        process.terminate()
        process.wait(20)


@asynccontextmanager
async def stdio_client(workspace: Path) -> AsyncIterator[Client]:
    server = StdioServerParameters(
        command=sys.executable, args=arguments(workspace, "--jobs", "1"), env=dict(os.environ)
    )
    async with Client(server) as client:
        yield client
