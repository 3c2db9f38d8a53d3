"""The Blender extension: built by Blender's own tool, installed and operated in headless Blenders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from graph_api import Ban, Graph, Link, Node, ban_to_json, content_hash, from_json, start_graph, to_json
from material_agent import events as ev
from material_agent.budget import Ledger

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@cache
def interpreters() -> dict[str, str]:
    found = {"installed": sys.executable}
    return found | {p.parts[-3]: str(p) for p in sorted(ROOT.glob(".venvs/*/bin/python"))}


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The zip, which Blender's validator has passed."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, str(ROOT / "scripts" / "build_extension.py"), "--out", str(out)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 0, run.stderr
    assert "Success parsing TOML" in run.stderr
    return Path(run.stdout.strip())


def graph(scale: float) -> Graph:
    made = start_graph("4.5")
    bricks = Node("bricks", "ShaderNodeTexBrick", {"Scale": scale}, role="macro")
    made = made.with_node(bricks)
    links = (Link("mapping", "Vector", "bricks", "Vector"), Link("bricks", "Color", "principled", "Base Color"))
    return replace(made, links=(*made.links, *links))


def verdict(reward: float) -> ev.EvaluationRecord:
    gap = ev.GapRecord(
        term="structure", scale="macro", channel="beauty", kind="lattice_period", direction="too_high", size=0.4,
        measured=0.3, target=0.2, unit="m", message="The rows of bricks are too far apart",
        suggests=("lower the row height",),
    )  # fmt: skip
    return ev.EvaluationRecord(reward=reward, success=False, failures=("structure",), gaps=(gap,))


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """Two attempts with their graphs, the first the better one, and a reflection that names a node."""
    folder = tmp_path_factory.mktemp("run")
    with ev.EventLog(folder / "events.jsonl", Ledger({})) as log:
        log.write(
            ev.RunStarted(
                run="r", reference={"id": "wall"}, config={}, actor="builtin", reflector="builtin", limits={},
                versions={}, start_graph=to_json(start_graph("4.5")),
            )
        )  # fmt: skip
        for number, reward in ((1, 0.7), (2, 0.6)):
            made, seen = graph(4.0 + number), f"a{number}.o1"
            record = verdict(reward)
            log.write(ev.Evaluated(observation=seen, graph_hash=content_hash(made), evaluation=record), number)
            ended = ev.AttemptEnded(
                outcome="unfinished", stop="limit", reason="no edit is left", label="argument", label_reason="",
                steps=1, best_reward=reward, best_observation=seen, best_graph=to_json(made), start_hash="0",
                structure="bricks",
            )  # fmt: skip
            log.write(ended, number)
        ban = Ban("param", type="ShaderNodeTexBrick", socket="Scale", low=8.0)
        reflection = {
            "id": "r.a1", "evidence": [{"observation": "a1.o1", "figure": "structure", "value": 0.6, "text": "0.6"}],
            "scale": {"scale": "macro", "channel": "beauty", "cause": "bricks too large", "scope": "r"},
            "graph_change": {"text": "lower Scale of bricks", "actions": [], "pattern": None},
            "forbidden_op": ban_to_json(ban),
        }  # fmt: skip
        log.write(ev.Reflected(accepted=True, reflector="builtin", reflection=reflection), 1)
    return folder


@pytest.mark.parametrize("blender", ["installed", "bpy-4.5", "bpy-newest"])
def test_it_installs_and_every_button_works(package, run_folder, tmp_path, blender) -> None:
    python = interpreters().get(blender)
    if python is None:
        pytest.skip(f"{blender} is not installed here: make venvs builds it")
    (tmp_path / "resources").mkdir()
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path / "resources")}
    arguments = [tmp_path / "answer.json", package, run_folder, tmp_path]
    # Away from the checkout: what the extension imports must be what it carries.
    run = subprocess.run([python, "-P", str(HERE / "extension_side.py"), *map(str, arguments)], cwd=tmp_path,
                         env=environment, capture_output=True, text=True, timeout=240, check=False)  # fmt: skip
    assert (tmp_path / "answer.json").is_file(), run.stdout[-2000:] + run.stderr[-3000:]
    told = json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))
    assert told["enabled"] and told["panels"] == [True] * 4 and told["gone"]
    assert told["operators"] == ["load_attempt", "open_run", "send_start", "show_node", "step"]
    if blender != "installed":  # this one has the checkout installed, the others nothing but Blender
        assert str(tmp_path / "resources") in told["core"]
    assert "expected a run folder" in told["refused"]
    assert told["attempts"] == [0, 0, 1]
    assert told["loaded"] == told["shown"] == told["sent"] == ["FINISHED"] and told["absent"] == ["CANCELLED"]
    assert told["active"] and "ShaderNodeTexBrick" in told["nodes"]
    assert {"Mapping", "Macro", "Shading"} == set(told["frames"])
    sent = from_json(told["start"])
    bricks = next(node for node in sent.nodes.values() if node.type == "ShaderNodeTexBrick")
    assert bricks.inputs["Scale"] == 6.0 and bricks.role == "macro"
    assert len(sent.links) == len(graph(6.0).links)
    assert told["gaps"][0] == ["The rows of bricks are too far apart", ["macro"]]
    assert any("forbidden: " in text and "Scale" in text for text in told["reflections"][0])
    assert told["concerning"] == [1, 2]
