"""Any material comes in and goes out again as it was: judged by Blender, in each version that is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from renderer_graphs import graph, request

from renderer import export_blend, import_blend
from renderer.blendfile import block_name

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TOLERANCE = 1e-4
# Read with a difference that is told: none of them may be silent.
LISTED = ("left out", "does not use nodes")


@cache
def interpreters() -> dict[str, str]:
    found = {"installed": sys.executable}
    for python in sorted(ROOT.glob(".venvs/*/bin/python")):
        found[python.parts[-3]] = str(python)
    return found


@cache
def answer_of(folder: Path, blender: str):
    """What came of the zoo in one Blender; it is written there unless `folder` holds one."""
    python = interpreters().get(blender)
    if python is None:
        pytest.skip(f"{blender} is not installed here: make venvs builds it")
    (folder / "answer.json").unlink(missing_ok=True)
    command = [python, str(HERE / "roundtrip_side.py"), str(folder / "answer.json"), str(folder), str(ROOT)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert (folder / "answer.json").is_file(), run.stderr[-3000:]
    return json.loads((folder / "answer.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    return {name: tmp_path_factory.mktemp("zoo") for name in ("installed", "bpy-4.5")}


@pytest.fixture(scope="module", params=["installed", "bpy-4.5", "a 4.5 file here"])
def zoo(request, folders):
    """What came of more than a hundred materials, every node type among them."""
    if request.param in folders:
        return answer_of(folders[request.param], request.param)
    answer_of(folders["bpy-4.5"], "bpy-4.5")
    return answer_of(folders["bpy-4.5"], "installed")


def test_the_round_trip_renders_equal_or_says_why_not(zoo) -> None:
    assert len(zoo) > 110
    different = {name: told for name, told in zoo.items() if told["difference"] > TOLERANCE}
    silent = {name: told["difference"] for name, told in different.items()
              if not any(word in text for text in told["messages"] for word in LISTED)}  # fmt: skip
    assert silent == {}
    assert len(different) <= 5
    # Pictures that show nothing would agree whatever is done to them.
    assert sum(told["spread"] > 0 for told in zoo.values()) > 100


def test_f3_what_cannot_be_held_is_named(zoo) -> None:
    assert "'osl' was left out: OSL scripts are not read" in zoo["a script"]["messages"]
    assert any("'hollow' was left out" in text for text in zoo["a group without a tree"]["messages"])
    assert any("somewhere" in text for text in zoo["coordinates of an object"]["messages"])
    assert any("missing.png" in text for text in zoo["picture gone"]["messages"])


def test_f4_a_missing_picture_is_refused_and_never_pink(zoo) -> None:
    assert any("does not exist" in text for text in zoo["picture gone"]["refused"])


def test_names_of_any_script_and_roles_of_frames_survive(zoo) -> None:
    nodes = zoo["木" * 20]["nodes"]
    assert {"twin", "twin_2", "ausgabe"} == set(nodes)
    assert ["ShaderNodeTexNoise", "macro"] in nodes.values()


@pytest.mark.parametrize(("name", "kept"), [("a" * 300, "a" * 63), ("木" * 100, "木" * 21), ("oak/a:1", "oak/a:1"),
                                            ("", "Material"), ("a\0b", "ab"), ("\ud800", "Material")])  # fmt: skip
def test_f5_a_wanted_name_of_any_kind_becomes_one_that_blender_keeps(name, kept) -> None:
    assert block_name(name) == kept


NAMES = """
import os, sys
import bpy
for name in ("a" * 300, "a" * 300, "\\u6728" * 100, "oak/a:1"):
    made = bpy.data.materials.new(name[:63])
    made.use_fake_user = True
    made.node_tree.nodes[0].name = name[:60]
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[1])
os._exit(0)
"""


def test_f5_long_and_odd_names_give_unique_ids(tmp_path) -> None:
    subprocess.run([sys.executable, "-c", NAMES, str(tmp_path / "names.blend")], check=True, capture_output=True)
    found = import_blend(tmp_path / "names.blend", "oak/a:1")
    assert len(set(found.materials)) == 5  # with the one of the start-up file
    assert all(not set(name) & set('/\\:*?"<>|.') for name in found.graph.nodes)


def test_a_graph_survives_the_group_that_it_is_written_in(pool, tmp_path) -> None:
    """Parameters that the file exposes come back on their nodes, and roles and labels with them."""
    nodes = {
        "where": ("TexCoord", {}),
        "place": ("Mapping", {"Scale": (2.0, 3.0, 1.0)}),
        "big_bricks": ("TexBrick", {"Scale": 7.0, "Mortar Size": 0.05}),
        "shader": ("BsdfPrincipled", {"Roughness": 0.3}),
        "out": "OutputMaterial",
    }
    links = "where.UV>place.Vector; place.Vector>big_bricks.Vector; big_bricks.Color>shader.Base Color"
    material = graph(nodes, f"{links}; shader.BSDF>out.Surface")
    export_blend(material, tmp_path / "a.blend", name="Wall")
    found = import_blend(tmp_path / "a.blend", "Wall")
    values = {(node.type, key): value for node in found.graph.nodes.values() for key, value in node.inputs.items()}
    wanted = {(node.type, key): value for node in material.nodes.values() for key, value in node.inputs.items()}
    assert set(values) == set(wanted)
    for key, value in wanted.items():
        np.testing.assert_allclose(values[key], value, rtol=1e-6)
    assert "big_bricks" in found.graph.nodes
    first, second = pool.render(request(material, size=16)), pool.render(request(found.graph, size=16))
    np.testing.assert_allclose(first.channels["beauty"], second.channels["beauty"], atol=1e-6)
