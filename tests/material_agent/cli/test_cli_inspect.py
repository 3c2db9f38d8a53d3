"""`inspect`: its formats, the difference of two sources, and the start of the user's Blender."""

from __future__ import annotations

import json
import os
import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from graph_api import dumps, start_graph
from material_agent.cli.app import run
from material_agent.cli.exits import Exit


@pytest.fixture
def files(tmp_path):
    before = start_graph("5.0")
    shader = next(node for node in before.nodes.values() if node.type == "ShaderNodeBsdfPrincipled")
    after = before.with_node(replace(shader, inputs={"Roughness": 0.25}, label="<script>alert(1)</script>"))
    for name, graph in (("a", before), ("b", after)):
        (tmp_path / f"{name}.json").write_text(dumps(graph), encoding="utf-8")
    return tmp_path


def test_formats(files, capfd) -> None:
    source = str(files / "b.json")
    for form, check in (("svg", ET.fromstring), ("json", json.loads), ("text", str)):
        assert run(["inspect", source, "--format", form]) == Exit.SUCCESS
        assert check(capfd.readouterr().out)
    assert run(["inspect", source, "--format", "html", "-o", str(files / "page.html")]) == Exit.SUCCESS
    page = (files / "page.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page and "<svg" in page and "http://" not in page.replace("http://www.w3.org", "")


def test_diff(files, capfd) -> None:
    both = [str(files / "a.json"), str(files / "b.json")]
    assert run(["inspect", "--diff", *both]) == Exit.SUCCESS
    assert "Roughness: default -> 0.25" in capfd.readouterr().out
    assert run(["inspect", "--diff", *both, "--json"]) == Exit.SUCCESS
    told = json.loads(capfd.readouterr().out)["difference"]
    assert told["changed"][0]["after"] == "0.25"
    assert run(["inspect", *both]) == Exit.BAD_INPUT
    assert run(["inspect", "--diff", both[0]]) == Exit.BAD_INPUT


def test_parameters_and_what_the_preview_draws_are_told(files, capfd) -> None:
    assert run(["inspect", str(files / "a.json"), "--json"]) == Exit.SUCCESS
    told = json.loads(capfd.readouterr().out)
    assert "Roughness" in [item["name"] for item in told["parameters"]]
    assert isinstance(told["preview"], list)


def test_open_starts_the_program_that_is_named(files, monkeypatch, capfd) -> None:
    program = files / "viewer"
    program.write_text(f"#!{sys.executable}\nimport sys\nopen({str(files / 'seen')!r}, 'w').write(sys.argv[1])\n")
    program.chmod(0o755)
    monkeypatch.setenv("MATERIAL_AGENT_BLENDER", str(program))
    blend = files / "out.blend"
    assert run(["inspect", str(files / "a.json"), "--open", "-o", str(blend)]) == Exit.SUCCESS
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not ((files / "seen").is_file() and (files / "seen").read_text()):
        time.sleep(0.05)
    assert (files / "seen").read_text() == os.path.realpath(blend)
    monkeypatch.setenv("MATERIAL_AGENT_BLENDER", str(files / "absent"))
    assert run(["inspect", str(blend), "--open"]) == Exit.ENVIRONMENT
    assert "MATERIAL_AGENT_BLENDER" in capfd.readouterr().err


def test_a_material_of_a_file_is_chosen_by_its_name(files, capfd) -> None:
    from pathlib import Path

    from material_agent.cli.sources import with_material

    assert with_material(Path("a/b.blend:Red: old")) == (Path("a/b.blend"), "Red: old")
    assert with_material(Path("a/b.blend")) == (Path("a/b.blend"), None)
