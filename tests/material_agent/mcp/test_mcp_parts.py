"""The server's parts alone."""

from __future__ import annotations

import pytest

from graph_api import load_catalog
from material_agent.cli.app import run
from material_agent.cli.exits import Exit
from material_agent.errors import BadInput
from material_agent.mcp import Address, Workspace
from material_agent.mcp.describe import describe_node, purposes


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "example.org", "::", ""])
def test_only_loopback_is_listened_on(host):
    with pytest.raises(BadInput, match="loopback"):
        Address(host, 0)


def test_a_workspace_that_is_a_link_is_one(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real/a.png").write_bytes(b"x")
    assert Workspace(tmp_path / "link").existing("a.png").read_bytes() == b"x"


def test_a_circle_of_links_is_refused(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(BadInput):
        Workspace(tmp_path).existing("a/x.png")
    with pytest.raises(BadInput):
        Workspace(tmp_path).existing("x" * 5000)


def test_every_node_that_has_a_purpose_exists_and_the_useful_ones_have_one():
    catalog = load_catalog("5.0")
    assert set(purposes()) <= set(catalog.types)
    missing = [kind for kind in catalog.types if kind.startswith("ShaderNodeTex") and kind not in purposes()]
    assert missing == ["ShaderNodeTexEnvironment", "ShaderNodeTexIES", "ShaderNodeTexSky"]  # of lights and skies


def test_a_description_says_what_switches_a_socket_on():
    found = describe_node("ShaderNodeMix", load_catalog("5.0"))
    colour = next(socket for socket in found["inputs"] if socket["identifier"] == "A_Color")
    assert colour["enabled_when"] == {"data_type": ["RGBA"]}
    noise = describe_node("ShaderNodeTexNoise", load_catalog("5.0"))
    assert next(one for one in noise["inputs"] if one["name"] == "Detail")["range"] == [0.0, 15.0]
    assert "FBM" in next(one for one in noise["properties"] if one["name"] == "noise_type")["items"]


def test_without_the_library_the_extra_is_named(monkeypatch, capfd):
    monkeypatch.setattr("material_agent.cli.mcp.find_spec", lambda name: None)
    assert run(["mcp"]) == Exit.ENVIRONMENT
    assert 'pip install "material-agent[mcp]"' in capfd.readouterr().err
