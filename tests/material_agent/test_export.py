"""What leaves for other tools, read back by others' readers: Pillow, OpenImageIO, pygltflib, the MaterialX library."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from graph_api import Graph, Link, Node, start_graph
from material_agent.export import Wish, export_graph
from material_agent.export.ambient import ambient_occlusion
from material_agent.export.losses import losses

SIDE = 64
WISH = Wish("Ziegel 木", SIDE, 0.5, samples=1)


def material(texture: str, **inputs: object) -> Graph:
    """A start graph with one texture as color, roughness and bump."""
    graph = start_graph("5.0")
    factor = {"ShaderNodeTexNoise": "Fac", "ShaderNodeTexBrick": "Fac", "ShaderNodeTexVoronoi": "Distance"}[texture]
    nodes = [Node("t", texture, inputs), Node("bump", "ShaderNodeBump", {"Distance": 0.02})]
    for node in nodes:
        graph = graph.with_node(node)
    shader = "principled"
    links = (
        Link("mapping", "Vector", "t", "Vector"), Link("t", "Color", shader, "Base Color"),
        Link("t", factor, shader, "Roughness"), Link("t", factor, "bump", "Height"),
        Link("bump", "Normal", shader, "Normal"),
    )  # fmt: skip
    return replace(graph, links=(*graph.links, *links))


# Blender draws a tint for each brick, which never repeats: with one color for both there is none.
CLAY = {"Color1": (0.5, 0.2, 0.1, 1.0), "Color2": (0.5, 0.2, 0.1, 1.0), "Mortar": (0.6, 0.6, 0.6, 1.0)}
SIZES = {"Scale": 1.0, "Brick Width": 0.5, "Row Height": 0.25, "Mortar Size": 0.04}
BRICKS = material("ShaderNodeTexBrick", **CLAY, **SIZES)
NOISE = material("ShaderNodeTexNoise", Scale=6.0)


@pytest.fixture(scope="module")
def bricks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("maps")
    said = export_graph(BRICKS, "maps", folder, replace(WISH, bits=16, exr=True, normal="directx"))
    return folder, said, json.loads((folder / "maps.json").read_text(encoding="utf-8"))


def test_maps_are_what_their_manifest_says(bricks, pool) -> None:
    import OpenImageIO as oiio

    folder, _, manifest = bricks
    assert set(manifest["maps"]) == {"base_color", "roughness", "metallic", "normal", "height", "ambient_occlusion"}
    for name, entry in manifest["maps"].items():
        picture = oiio.ImageBuf(str(folder / entry["png"]))
        assert (picture.spec().width, picture.spec().height) == (SIDE, SIDE)
        assert str(picture.spec().format) == "uint16"
        coded = np.asarray(picture.get_pixels(oiio.FLOAT))
        exact = np.asarray(oiio.ImageBuf(str(folder / entry["exr"])).get_pixels(oiio.FLOAT))
        if entry["color_space"] == "sRGB":
            exact = np.where(exact <= 0.0031308, 12.92 * exact, 1.055 * np.maximum(exact, 1e-9) ** (1 / 2.4) - 0.055)
        span = (entry["high"] - entry["low"]) or 1.0
        np.testing.assert_allclose(coded * span + entry["low"] if entry["high"] > entry["low"] else exact, exact,
                                   atol=1e-4 * max(span, 1.0), err_msg=name)  # fmt: skip
    normal = np.asarray(oiio.ImageBuf(str(folder / "normal.exr")).get_pixels(oiio.FLOAT))
    from renderer import RenderRequest

    opengl = pool.render(RenderRequest(BRICKS, "flat", ("normal",), WISH.settings)).channels["normal"]
    np.testing.assert_allclose(normal, opengl * [1, -1, 1], atol=1e-6)


def test_a_tile_is_claimed_where_the_pattern_repeats(bricks, pool) -> None:
    """Where it is claimed, the picture across the border is the one that Blender renders there."""
    from material_agent.export.tiling import moved
    from renderer import RenderRequest

    _, said, manifest = bricks
    assert manifest["tiles"] and max(manifest["mismatch"].values()) < 0.01
    assert any("the maps tile" in text for text in said)
    half = moved(BRICKS, (0.5, 0.5), WISH.patch_size_m)
    channels = ("base_color", "normal", "height")
    there = pool.render(RenderRequest(half, "flat", channels, WISH.settings)).channels
    here = pool.render(RenderRequest(BRICKS, "flat", channels, WISH.settings)).channels
    for name in channels:
        span = float(here[name].max() - here[name].min())
        rolled = np.roll(here[name], (SIDE // 2, -SIDE // 2), axis=(0, 1))
        assert np.abs(rolled - there[name]).mean() / span < 0.01, name


def test_noise_and_broken_periods_are_not_claimed(tmp_path) -> None:
    for index, graph in enumerate((NOISE, material("ShaderNodeTexBrick", **{"Scale": 1.3, "Row Height": 0.25}))):
        said = export_graph(graph, "maps", tmp_path / str(index), WISH)
        assert not json.loads((tmp_path / str(index) / "maps.json").read_text())["tiles"]
        assert any("do not tile" in text for text in said)


def test_f6_maps_of_a_solid_color_are_uniform(tmp_path) -> None:
    export_graph(start_graph("5.0"), "maps", tmp_path, WISH)
    for file in tmp_path.glob("*.png"):
        assert np.ptp(np.asarray(Image.open(file)).reshape(SIDE * SIDE, -1), axis=0).max() == 0
    assert np.asarray(Image.open(tmp_path / "ambient_occlusion.png")).min() == 255


def test_a_glb_is_read_by_another_loader(tmp_path) -> None:
    pygltflib = pytest.importorskip("pygltflib")
    path = tmp_path / "wall.glb"
    said = export_graph(BRICKS, "glb", path, WISH)
    assert any(text.startswith("lost: glTF has no height") for text in said)
    loaded = pygltflib.GLTF2().load(str(path))
    (material,) = loaded.materials
    assert material.name == WISH.name
    blob = loaded.binary_blob()

    def picture(info):
        view = loaded.bufferViews[loaded.images[loaded.textures[info.index].source].bufferView]
        return np.asarray(Image.open(io.BytesIO(blob[view.byteOffset : view.byteOffset + view.byteLength])))

    folder = tmp_path / "maps"
    export_graph(BRICKS, "maps", folder, WISH)
    shading = material.pbrMetallicRoughness
    color, packed = picture(shading.baseColorTexture), picture(shading.metallicRoughnessTexture)
    read = {name: np.asarray(Image.open(folder / f"{name}.png")) for name in ("base_color", "roughness", "metallic")}
    np.testing.assert_array_equal(color[..., :3], read["base_color"])
    assert np.abs(packed[..., 1].astype(int) - read["roughness"]).max() <= 1
    assert np.abs(packed[..., 2].astype(int) - read["metallic"]).max() <= 1
    assert picture(material.normalTexture).shape[:2] == (SIDE, SIDE)
    assert picture(material.occlusionTexture).shape[:2] == (SIDE, SIDE)
    positions = loaded.accessors[loaded.meshes[0].primitives[0].attributes.POSITION]
    assert max(a - b for a, b in zip(positions.max, positions.min, strict=True)) == pytest.approx(0.5)


def test_materialx_validates_with_its_library(tmp_path) -> None:
    mx = pytest.importorskip("MaterialX")
    path = tmp_path / "wall.mtlx"
    said = export_graph(BRICKS, "mtlx", path, WISH)
    document, library = mx.createDocument(), mx.createDocument()
    mx.loadLibraries(mx.getDefaultDataLibraryFolders(), mx.getDefaultDataSearchPath(), library)
    mx.readFromXmlFile(document, str(path))
    (graph,) = document.getNodeGraphs()
    document.setDataLibrary(library)
    valid, text = document.validate()
    assert valid, text
    (surface,) = [node for node in document.getNodes() if node.getCategory() == "standard_surface"]
    assert surface.getNodeDef() is not None
    files = [node.getInput("file").getValueString() for node in graph.getNodes("image")]
    assert len(files) == 5 and all((tmp_path / file).is_file() for file in files)
    stretched = graph.getNode("height_m")
    manifest = export_graph(BRICKS, "maps", tmp_path / "maps", WISH) and json.loads(
        (tmp_path / "maps" / "maps.json").read_text()
    )
    assert stretched.getInput("outhigh").getValue() == pytest.approx(manifest["maps"]["height"]["high"], abs=1e-6)
    assert any(text.startswith("lost: MaterialX holds maps") for text in said)


def test_losses_name_what_the_maps_leave_out() -> None:
    graph = start_graph("5.0")
    shader = graph.nodes["principled"]
    set_ = {"Coat Weight": 0.5, "Sheen Roughness": 0.9, "Emission Strength": 2.0, "Roughness": 0.1}
    found = losses(graph.with_node(replace(shader, inputs=set_)), "glTF", height=False)
    named = {text.split(":")[0].split(".")[-1] for text in found if "not in the maps" in text}
    assert named == {"Coat Weight", "Emission Strength"}


def test_ambient_occlusion_of_a_groove_is_what_geometry_says() -> None:
    """A groove with walls of slope 1 on both sides: its bottom sees cos² 45° across it and everything along it."""
    side = 101
    x = np.abs(np.arange(side) - side // 2) / side
    height = np.broadcast_to(x[None, :, None], (side, side, 1)).astype(np.float32)
    light = ambient_occlusion(height, 1.0, wraps=False)
    angles = 2 * np.pi * np.arange(16) / 16
    expected = (1 / (1 + np.cos(angles) ** 2)).mean()
    assert light[side // 2, side // 2, 0] == pytest.approx(expected, abs=0.03)
    assert ambient_occlusion(np.zeros((8, 8, 1), np.float32), 1.0, wraps=True).min() == 1.0
