"""Exports that show the maps in another tool: glTF through Blender's exporter, MaterialX through its library."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from graph_api.ids import safe_id
from graph_api.model import Graph
from material_agent.errors import MissingExtra
from material_agent.export.losses import losses
from material_agent.export.maps import bake, told, write_baked
from material_agent.export.wish import Wish
from renderer import RenderMessage, export_gltf


def write_glb(graph: Graph, path: Path, wish: Wish) -> tuple[RenderMessage, ...]:
    """A .glb with the patch and its maps: base color, metallic-roughness, normal and occlusion.

    glTF's normal maps are OpenGL's whatever was wished, and its textures have 8 bits in common viewers.
    """
    baked = bake(graph, wish)
    with tempfile.TemporaryDirectory() as folder:
        entries = write_baked(baked, Path(folder), replace(wish, normal="opengl", bits=8, exr=False))
        maps = {name: Path(folder) / entry["png"] for name, entry in entries.items() if name != "height"}
        messages = export_gltf(maps, path, name=wish.name, patch_size_m=wish.patch_size_m)
    return (*baked.messages, *messages, *_turned(wish), *told(baked, losses(graph, "glTF", height=False)))


def write_materialx(graph: Graph, path: Path, wish: Wish) -> tuple[RenderMessage, ...]:
    """A .mtlx with a Standard Surface over the maps, which lie in a folder beside it. Raises `MissingExtra`."""
    try:
        import MaterialX as mx  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("materialx", "exports to MaterialX") from error
    baked = bake(graph, wish)
    folder = path.with_name(f"{path.stem}-maps")
    entries = write_baked(baked, folder, replace(wish, normal="opengl"))
    document = mx.createDocument()
    name = document.createValidChildName(safe_id(wish.name))
    graph_node = document.addNodeGraph(f"NG_{name}")
    surface = document.addNode("standard_surface", f"SR_{name}", "surfaceshader")
    surface.setInputValue("base", 1.0)
    surface.setInputValue("specular", 1.0)
    inputs = {"base_color": ("base_color", "color3"), "roughness": ("specular_roughness", "float"),
              "metallic": ("metalness", "float"), "normal": ("normal", "vector3")}  # fmt: skip
    for channel, (target, kind) in inputs.items():
        image = _image(graph_node, channel, kind, f"{folder.name}/{entries[channel]['png']}")
        if channel == "normal":
            turned = graph_node.addNode("normalmap", "normal_map", "vector3")
            turned.addInput("in", "vector3").setConnectedNode(image)
            image = turned
        graph_node.addOutput(f"{channel}_out", kind).setConnectedNode(image)
        _feed(surface, target, kind, graph_node, f"{channel}_out")
    material = document.addMaterialNode(name, surface)
    _displacement(document, graph_node, material, entries["height"], folder.name)
    valid, said = document.validate()
    mx.writeToXmlFile(document, str(path))
    problems = () if valid else (RenderMessage("warning", f"the MaterialX library finds: {said.strip()}"),)
    lost = (*losses(graph, "MaterialX", height=True), "Standard Surface takes no occlusion: it lies beside the others")
    return (*baked.messages, *problems, *_turned(wish), *told(baked, lost))


def _turned(wish: Wish) -> tuple[RenderMessage, ...]:
    """A word to who asked for another convention than the format has."""
    if wish.normal == "opengl":
        return ()
    return (RenderMessage("warning", f"the format's normal maps are OpenGL's; {wish.normal} was not written"),)


def _image(graph: Any, name: str, kind: str, file: str) -> Any:
    node = graph.addNode("image", name, kind)
    entry = node.addInput("file", "filename")
    entry.setValueString(file)
    if kind == "color3":  # the others are numbers and have no color space
        entry.setColorSpace("srgb_texture")
    return node


def _feed(node: Any, target: str, kind: str, graph: Any, output: str) -> None:
    entry = node.addInput(target, kind)
    entry.setNodeGraphString(graph.getName())
    entry.setOutputString(output)


def _displacement(document: Any, graph: Any, material: Any, entry: Mapping[str, Any], folder: str) -> None:
    """The height in metres: the file's [0, 1] stretched to what it stands for."""
    image = _image(graph, "height", "float", f"{folder}/{entry['png']}")
    stretched = graph.addNode("remap", "height_m", "float")
    stretched.addInput("in", "float").setConnectedNode(image)
    for key, value in (("outlow", entry["low"]), ("outhigh", entry["high"])):
        stretched.setInputValue(key, float(value))
    graph.addOutput("height_out", "float").setConnectedNode(stretched)
    node = document.addNode("displacement", f"DP_{material.getName()}", "displacementshader")
    _feed(node, "displacement", "float", graph, "height_out")
    material.addInput("displacementshader", "displacementshader").setConnectedNode(node)
