"""Conversations with the server by the official client, over both transports."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import shutil
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import psutil
import pytest
from agent_world import brick
from mcp import MCPError
from mcp_side import TOKEN, http_server, stdio_client
from PIL import Image

from graph_api import ACTIONS, from_json, to_json
from material_agent.events import read_events
from renderer import import_blend

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def server(brick_file, tmp_path_factory):
    workspace = tmp_path_factory.mktemp("workspace")
    shutil.copy(brick_file, workspace / "bricks.png")
    with http_server(workspace) as running:
        yield running


def talk(conversation):
    return asyncio.run(conversation())


async def do(client, name, **given):
    result = await client.call_tool(name, given)
    assert not result.is_error, result.content[0].text
    return result


async def opened(client, picture="bricks.png"):
    return (await do(client, "open_task", picture=picture)).structured_content["task"]


def pictures(result):
    return [Image.open(io.BytesIO(base64.b64decode(part.data))) for part in result.content if part.type == "image"]


async def build(client, task, edits):
    for edit in edits:
        given = {key: value for key, value in edit.items() if key != "op" and value != ""}
        await do(client, edit["op"], task=task, **given)


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_client_builds_bricks_from_nothing(transport, server, brick_file, tmp_path):  # noqa: PLR0915
    workspace = tmp_path if transport == "stdio" else server.workspace
    if transport == "stdio":
        shutil.copy(brick_file, workspace / "bricks.png")

    @asynccontextmanager
    async def connected():
        async with stdio_client(workspace) if transport == "stdio" else server.client() as client:
            yield client

    async def conversation():
        async with connected() as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            own = {"open_task", "evaluate", "list_steps", "revert", "export", "describe_node", "close_task", "tune"}
            assert names == (set(ACTIONS) - {"note"}) | own  # the typed actions, and nothing that runs code

            begun = await do(client, "open_task", picture="bricks.png")
            task = begun.structured_content["task"]
            assert pictures(begun)[0].size == (128, 128)
            assert any(part.type == "resource_link" for part in begun.content)
            assert "decomposition" in begun.content[0].text

            described = (await do(client, "describe_node", type="ShaderNodeTexBrick")).structured_content
            assert "mortar" in described["purpose"]
            assert {"Scale", "Mortar Size"} <= {socket["name"] for socket in described["inputs"]}

            early = await client.call_tool("finish", {"task": task, "outcome": "success"})
            assert early.is_error
            assert "success refused" in early.content[0].text

            await build(client, task, brick())
            wrong = await client.call_tool("set_param", {"task": task, "node": "bricks", "key": "Scael", "value": 3})
            assert wrong.is_error
            assert "did you mean Scale" in wrong.content[0].text

            seen = await do(client, "render", task=task, maps=["beauty", "height"])
            assert [picture.size for picture in pictures(seen)] == [(128, 128), (128, 128), (784, 256)]
            assert seen.structured_content["evaluation"]["success"]
            verdict = (await do(client, "evaluate", task=task)).structured_content["evaluation"]
            assert verdict["reward"] == seen.structured_content["evaluation"]["reward"]

            steps = (await do(client, "list_steps", task=task)).structured_content["steps"]
            assert [step["action"]["op"] for step in steps[:2]] == ["open_task", "finish"]
            assert len(steps) == 1 + 1 + len(brick()) + 1 + 1
            await do(client, "revert", task=task, step=0)
            start = json.loads((await client.read_resource(f"material://tasks/{task}/graph")).contents[0].text)
            assert len(start["nodes"]) == 4
            await do(client, "revert", task=task, step=len(steps) - 1)
            assert (await do(client, "evaluate", task=task)).structured_content["evaluation"]["success"]
            await do(client, "finish", task=task, outcome="success", reason="accepted")

            graph = json.loads((await client.read_resource(f"material://tasks/{task}/graph")).contents[0].text)
            for kind, path in (("blend", "out/m.blend"), ("python", "out/m.py"), ("json", "out/m.json")):
                await do(client, "export", task=task, format=kind, path=path)
            await do(client, "export", task=task, format="maps", path="out/maps", resolution=64)
            await do(client, "export", task=task, format="mtlx", path="out/m.mtlx", resolution=32)
            await do(client, "close_task", task=task)
            gone = await client.call_tool("inspect_graph", {"task": task})
            assert gone.is_error
            return task, graph

    task, graph = talk(conversation)
    assert json.loads((workspace / "out/m.json").read_text()) == graph
    assert Image.open(workspace / "out/maps/height.png").size == (64, 64)
    assert (workspace / "out/m.mtlx").is_file() and (workspace / "out/m-maps/height.png").is_file()
    read_back = import_blend(workspace / "out/m.blend").graph
    assert "ShaderNodeTexBrick" in {node.type for node in read_back.nodes.values()}
    assert to_json(from_json(graph)) == graph
    events = read_events(workspace / "tasks" / task / "events.jsonl").events
    assert {"action", "observation", "evaluation"} <= {event.kind for event in events}


def test_ten_sessions_at_once_keep_their_graphs_apart(server):
    async def session(number: int) -> float:
        async with server.client() as client:
            task = await opened(client)
            await build(client, task, brick(2.0 + number)[:3])
            seen = await do(client, "render", task=task)
            await do(client, "set_param", task=task, node="bricks", key="Scale", value=3.0 + number)
            graph = json.loads((await client.read_resource(f"material://tasks/{task}/graph")).contents[0].text)
            listed = (await client.list_resources()).resources
            assert not listed  # nobody is told of others' tasks
            await do(client, "close_task", task=task)
            assert seen.structured_content["evaluation"]["reward"] is not None
            return next(node for node in graph["nodes"] if node["id"] == "bricks")["inputs"]["Scale"]

    async def ten():
        return await asyncio.gather(*(session(number) for number in range(10)))

    assert asyncio.run(ten()) == [3.0 + number for number in range(10)]


def test_work_reports_progress_and_a_client_that_goes_away_leaves_the_task_as_it_was(server):
    async def conversation():
        reports: list[float] = []
        async with server.client() as other:
            task = await opened(other)
            names = ["principled.Base Color", "principled.Roughness"]
            async with server.client() as client:
                waiting = anyio.CancelScope()

                async def heard(done: float, total: float | None, text: str | None) -> None:
                    reports.append(done)
                    if len(reports) == 2:
                        waiting.cancel()

                with waiting:
                    await client.call_tool(
                        "tune", {"task": task, "parameters": names, "budget": 240}, progress_callback=heard
                    )
                assert waiting.cancelled_caught
            assert reports == sorted(reports)
            # The very next call is answered at once, by an untouched task.
            with anyio.fail_after(10):
                steps = (await do(other, "list_steps", task=task)).structured_content["steps"]
            assert [step["action"]["op"] for step in steps] == ["open_task"]
            spent = await do(other, "inspect_graph", task=task)
            assert spent.structured_content["remaining"]["candidates"] > 20_000 - 240
            await do(other, "render", task=task)

    talk(conversation)


def test_a_client_that_is_killed_leaves_no_process_and_a_whole_log(brick_file, tmp_path):
    shutil.copy(brick_file, tmp_path / "bricks.png")
    command = [sys.executable, str(HERE / "dying_client.py"), str(tmp_path)]
    client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        task, *pids = client.stdout.readline().split()
    finally:
        client.kill()
        client.wait()
    processes = [psutil.Process(int(pid)) for pid in pids if psutil.pid_exists(int(pid))]
    assert len(pids) >= 2  # the server and its Blender
    _, alive = psutil.wait_procs(processes, timeout=15)
    assert not alive
    log = read_events(tmp_path / "tasks" / task / "events.jsonl")
    assert not log.torn
    assert log.events[-1].kind in ("search", "charge", "action")


def test_nothing_outside_the_workspace_is_read_or_written(server, tmp_path):
    (server.workspace / "way_out").symlink_to(tmp_path)
    (server.workspace / "leak.png").symlink_to("/etc/passwd")
    (tmp_path / "secret.png").write_bytes((server.workspace / "bricks.png").read_bytes())
    paths = ["/etc/passwd", "../secret.png", "way_out/secret.png", "leak.png", "a/../../x.png", "no.png", "\0", "", "."]

    async def conversation():
        async with server.client() as client:
            for path in paths:
                result = await client.call_tool("open_task", {"picture": path})
                assert result.is_error, path
                assert "root:" not in result.content[0].text
            task = await opened(client)
            for path in ["/tmp/x.json", "../x.json", "way_out/x.json", "tasks", "."]:
                for kind in ("json", "maps", "python"):
                    if kind == "maps" and path == "tasks":
                        continue  # a folder is where maps belong
                    result = await client.call_tool("export", {"task": task, "format": kind, "path": path})
                    if kind == "maps" and path == ".":
                        assert "without links" in result.content[0].text
                    assert result.is_error, (kind, path)
            with pytest.raises(MCPError):
                await client.read_resource("file:///etc/passwd")
            with pytest.raises(MCPError):
                await client.read_resource("material://tasks/0000000000000000/graph")

    talk(conversation)
    assert list(tmp_path.iterdir()) == [tmp_path / "secret.png"]


def test_strange_calls_are_answered_and_the_server_lives(server):
    async def conversation():
        async with server.client() as client:
            task = await opened(client)
            strange = [
                ("exec", {"code": "1"}),
                ("add_node", {"task": task}),
                ("add_node", {"task": task, "type": 5}),
                ("add_node", {"task": "0" * 16, "type": "ShaderNodeTexNoise"}),
                ("add_node", {"task": ["x"], "type": "ShaderNodeTexNoise"}),
                ("set_param", {"task": task, "node": "principled", "key": "Roughness", "value": [[[["deep"] * 9]]]}),
                ("tune", {"task": task, "parameters": ["mapping.Vector"]}),
                ("tune", {"task": task, "parameters": [], "budget": "many"}),
                ("revert", {"task": task, "step": 99}),
                ("revert", {"task": task, "step": "x"}),
                ("export", {"task": task, "format": "exe"}),
                ("open_task", {"picture": "bricks.png", "patch_size_m": -1}),
                ("describe_node", {"type": "ShaderNodeTexNoize"}),
            ]
            for name, given in strange:
                result = await client.call_tool(name, given)
                assert result.is_error, (name, given)
                assert "Traceback" not in result.content[0].text
            await do(client, "inspect_graph", task=task)

    talk(conversation)


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}])
def test_without_the_token_nothing_is_answered(server, headers):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    with httpx2.Client(trust_env=False) as client:
        reply = client.post(server.url, json=body, headers={"Accept": "application/json, text/event-stream", **headers})
    assert reply.status_code == 401
    assert "add_node" not in reply.text


def test_a_foreign_host_name_is_refused(server):
    """A web page that has its name point at loopback must not get through, even with the token."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = {
        "Authorization": f"Bearer {TOKEN}",
        "Host": "evil.example",
        "Accept": "application/json, text/event-stream",
    }
    with httpx2.Client(trust_env=False) as client:
        reply = client.post(server.url, json=body, headers=headers)
    assert reply.status_code in (403, 421)
