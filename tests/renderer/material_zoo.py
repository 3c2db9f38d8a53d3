"""Materials of many kinds, written by Blender itself; run inside a Blender (4.5 or later) by `roundtrip_side.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

Tree = Any
# Blender makes these only in pairs or for other trees; the special materials below hold the ones that stand alone.
SKIPPED = ("NodeFrame", "NodeGroupInput", "NodeGroupOutput", "NodeReroute", "ShaderNodeGroup",
           "ShaderNodeOutputLineStyle", "ShaderNodeUVAlongStroke")  # fmt: skip
EMITTED = ("VALUE", "RGBA", "VECTOR", "INT", "BOOLEAN")


def material(name: str) -> Tree:
    made = bpy.data.materials.new(name)
    if made.node_tree is None:
        made.use_nodes = True
    made.use_fake_user = True
    made.node_tree.nodes.clear()
    return made.node_tree


def add(tree: Tree, kind: str, name: str = "", **values: Any) -> Any:
    node = tree.nodes.new(kind if kind.startswith("Node") else f"ShaderNode{kind}")
    node.name = name or node.name
    for key, value in values.items():
        setattr(node, key, value)
    return node


def shown(tree: Tree, socket: Any) -> None:
    """Link a socket so that it shows: colors through an emission, shaders as the surface."""
    output = add(tree, "OutputMaterial")
    if socket.type == "SHADER":
        tree.links.new(output.inputs[0], socket)
        return
    glow = add(tree, "Emission")
    tree.links.new(glow.inputs[0], socket)
    tree.links.new(output.inputs[0], glow.outputs[0])


def every_node() -> None:
    """One material for each node type of this Blender's shader trees, its inputs moved off their defaults."""
    group = bpy.data.node_groups.new("probe", "ShaderNodeTree")
    names = sorted(name for name in dir(bpy.types) if name.startswith(("ShaderNode", "Node", "GeometryNode")))
    for name in names:
        if name in SKIPPED:
            continue
        try:
            group.nodes.new(name)
        except RuntimeError:
            continue
        _one_node(name)
    bpy.data.node_groups.remove(group)


def _one_node(name: str) -> None:
    tree = material(f"one {name}")
    node = tree.nodes.new(name)
    image = getattr(node, "image", 0)
    if image is None:
        node.image = bpy.data.images["checks"]
    coordinates = add(tree, "TexCoord")
    for index, socket in enumerate(node.inputs):
        value = getattr(socket, "default_value", None)
        if socket.type == "VECTOR" and socket.hide_value and socket.name == "Vector":
            tree.links.new(socket, coordinates.outputs["UV"])
        elif isinstance(value, float):
            socket.default_value = value * 0.75 + 0.05 + 0.01 * index
        elif socket.type in ("RGBA", "VECTOR") and not socket.hide_value and value is not None:
            socket.default_value = [0.2 + 0.1 * index + 0.05 * i for i in range(len(value))]
    outputs = [socket for socket in node.outputs if socket.enabled and socket.type in (*EMITTED, "SHADER")]
    if outputs:
        shown(tree, outputs[0])
    elif name == "ShaderNodeOutputMaterial":
        tree.links.new(node.inputs[0], add(tree, "BsdfDiffuse").outputs[0])
    else:
        shown(tree, add(tree, "BsdfDiffuse").outputs[0])


def group(name: str, inputs: list[tuple[str, str]], outputs: list[tuple[str, str]]) -> Any:
    made = bpy.data.node_groups.new(name, "ShaderNodeTree")
    for side, items in (("INPUT", inputs), ("OUTPUT", outputs)):
        for title, kind in items:
            made.interface.new_socket(title, in_out=side, socket_type=f"NodeSocket{kind}")
    made.nodes.new("NodeGroupInput")
    made.nodes.new("NodeGroupOutput")
    return made


def ends(tree: Any) -> tuple[Any, Any]:
    return tree.nodes["Group Input"], tree.nodes["Group Output"]


def use(tree: Tree, inner: Any, name: str = "") -> Any:
    return add(tree, "Group", name, node_tree=inner)


def groups() -> None:
    twins = group("twins", [("X", "Float"), ("X", "Float")], [("Color", "Color")])
    start, stop = ends(twins)
    join = add(twins, "CombineXYZ")
    twins.links.new(join.inputs[0], start.outputs[0])
    twins.links.new(join.inputs[1], start.outputs[1])
    twins.links.new(stop.inputs[0], join.outputs[0])
    tree = material("two inputs of one name")
    node = use(tree, twins)
    node.inputs[0].default_value, node.inputs[1].default_value = 0.25, 0.75
    shown(tree, node.outputs[0])

    nested = group("nested", [("Amount", "Float")], [("Out", "Shader"), ("Height", "Vector")])
    start, stop = ends(nested)
    first, second = use(nested, twins, "first"), use(nested, twins, "second")
    nested.links.new(first.inputs[1], start.outputs[0])
    second.inputs[0].default_value = 0.9
    mix = add(nested, "Mix", data_type="RGBA")
    nested.links.new(mix.inputs[6], first.outputs[0])
    nested.links.new(mix.inputs[7], second.outputs[0])
    diffuse = add(nested, "BsdfDiffuse")
    nested.links.new(diffuse.inputs[0], mix.outputs[2])
    nested.links.new(stop.inputs[0], diffuse.outputs[0])
    wave, height = add(nested, "TexWave"), add(nested, "Displacement")
    nested.links.new(height.inputs[0], wave.outputs[1])
    nested.links.new(stop.inputs[1], height.outputs[0])
    tree = material("a group in a group, with displacement")
    node, output = use(tree, nested), add(tree, "OutputMaterial")
    node.inputs[0].default_value = 0.6
    tree.links.new(output.inputs["Surface"], node.outputs[0])
    tree.links.new(output.inputs["Displacement"], node.outputs[1])
    tree = material("a muted group")
    glow, node = add(tree, "Emission"), use(tree, twins)
    noise = add(tree, "TexNoise")
    tree.links.new(node.inputs[0], noise.outputs[0])
    tree.links.new(glow.inputs[0], node.outputs[0])
    node.mute = True
    shown(tree, glow.outputs[0])

    tree = material("a group without a tree")
    add(tree, "Group", "hollow")
    shown(tree, add(tree, "Emission").outputs[0])
    for kind, value in (("Float", 0.4), ("Vector", (0.2, 0.5, 0.8)), ("Color", (0.2, 0.9, 0.1, 1.0))):
        borders(kind, value)
    vectors()


def borders(kind: str, value: Any) -> None:
    """Constants and colors through a border of `kind` into a float, a vector and a color."""
    inner = group(f"border {kind}", [("In", kind)], [("Out", kind)])
    start, stop = ends(inner)
    inner.links.new(stop.inputs[0], start.outputs[0])
    for linked in (False, True):
        tree = material(f"through a {kind} border, {'linked' if linked else 'constant'}")
        node = use(tree, inner)
        node.inputs[0].default_value = value
        if linked:
            source = add(tree, "TexNoise")
            tree.links.new(node.inputs[0], source.outputs["Color"])
        power = add(tree, "Math", operation="POWER")
        power.inputs[1].default_value = 2.0
        tree.links.new(power.inputs[0], node.outputs[0])
        shift = add(tree, "VectorMath", operation="SUBTRACT")
        tree.links.new(shift.inputs[0], node.outputs[0])
        mix = add(tree, "Mix", data_type="RGBA")
        mix.inputs[0].default_value = 0.5
        tree.links.new(mix.inputs[6], shift.outputs[0])
        tree.links.new(mix.inputs[7], power.outputs[0])
        shown(tree, mix.outputs[2])


def vectors() -> None:
    """A border's own value at an input that would else take the geometry's, and one beyond the input's range."""
    inner = group("hidden", [("Where", "Vector"), ("Rough", "Float")], [("Out", "Shader")])
    start, stop = ends(inner)
    noise, shader = add(inner, "TexNoise"), add(inner, "BsdfPrincipled")
    inner.links.new(noise.inputs["Vector"], start.outputs[0])
    inner.links.new(shader.inputs["Base Color"], noise.outputs[0])
    inner.links.new(shader.inputs["Roughness"], start.outputs[1])
    inner.links.new(stop.inputs[0], shader.outputs[0])
    tree = material("a border feeds a hidden vector, out of range")
    node = use(tree, inner)
    node.inputs[0].default_value, node.inputs[1].default_value = (0.3, 0.1, 0.7), 5.0
    shown(tree, node.outputs[0])


def passing() -> None:
    tree = material("a chain of reroutes")
    noise, last = add(tree, "TexNoise"), None
    for _ in range(4):
        stop = add(tree, "NodeReroute")
        tree.links.new(stop.inputs[0], noise.outputs["Color"] if last is None else last.outputs[0])
        last = stop
    shown(tree, last.outputs[0])
    for mute, name in ((False, "a reroute without a source"), (True, "a muted node without a source")):
        tree = material(name)
        glow = add(tree, "Emission")
        glow.inputs[0].default_value = (0.9, 0.1, 0.2, 1.0)
        node = add(tree, "Invert" if mute else "NodeReroute")
        node.mute = mute
        tree.links.new(glow.inputs[0], node.outputs[0])
        shown(tree, glow.outputs[0])
    tree = material("muted nodes and links")
    noise, invert, gamma = add(tree, "TexNoise"), add(tree, "Invert"), add(tree, "Gamma")
    gamma.inputs[1].default_value, invert.mute = 2.2, True
    tree.links.new(invert.inputs["Color"], noise.outputs["Color"])
    tree.links.new(gamma.inputs[0], invert.outputs[0])
    tree.links.new(gamma.inputs[1], noise.outputs[0]).is_muted = True
    shown(tree, gamma.outputs[0])
    tree = material("a color as the surface")
    output, color = add(tree, "OutputMaterial"), add(tree, "RGB")
    color.outputs[0].default_value = (0.1, 0.8, 0.3, 1.0)
    tree.links.new(output.inputs[0], color.outputs[0])


def named() -> None:
    tree = material("木" * 20)
    shader = add(tree, "BsdfPrincipled", "原理化 BSDF", label="twin")
    noise = add(tree, "TexNoise", "Шум", label="twin")
    frame = add(tree, "NodeFrame", label="Macro")
    noise.parent = frame
    tree.links.new(shader.inputs["Base Color"], noise.outputs["Color"])
    output = add(tree, "OutputMaterial", "Ausgabe")
    tree.links.new(output.inputs[0], shader.outputs[0])
    material("empty")
    tree = material("two outputs")
    for color, target in (((0.3, 0.3, 0.3, 1.0), "ALL"), ((0.8, 0.1, 0.1, 1.0), "CYCLES")):
        glow = add(tree, "Emission")
        glow.inputs[0].default_value = color
        output = add(tree, "OutputMaterial", target=target)
        tree.links.new(output.inputs[0], glow.outputs[0])
    tree = material("a full ramp")
    noise, ramp = add(tree, "TexNoise"), add(tree, "ValToRGB")
    for index in range(30):
        ramp.color_ramp.elements.new((index + 1) / 32).color = (index / 30, 1 - index / 30, (index % 5) / 5, 1.0)
    tree.links.new(ramp.inputs[0], noise.outputs[0])
    shown(tree, ramp.outputs[0])
    tree = material("glass and glow, mixed and added")
    mix, both, glass, glow = (
        add(tree, "MixShader"),
        add(tree, "AddShader"),
        add(tree, "BsdfGlass"),
        add(tree, "Emission"),
    )
    tree.links.new(mix.inputs[1], glass.outputs[0])
    tree.links.new(mix.inputs[2], both.outputs[0])
    tree.links.new(both.inputs[0], glow.outputs[0])
    tree.links.new(both.inputs[1], add(tree, "BsdfTransparent").outputs[0])
    shown(tree, mix.outputs[0])


def pictures(folder: Path) -> None:
    for name, space in (("checks", "sRGB"), ("numbers", "Non-Color")):
        made = bpy.data.images.new(name, 8, 8)
        made.pixels = [((i // 4) % 8) / 8 if i % 4 < 3 else 1.0 for i in range(8 * 8 * 4)]
        made.filepath_raw, made.file_format = str(folder / f"{name}.png"), "PNG"
        made.save()
        bpy.data.images.remove(made)
        made = bpy.data.images.load(str(folder / f"{name}.png"))
        made.name, made.colorspace_settings.name = name, space
        made.use_fake_user = True
    inside = bpy.data.images.load(str(folder / "checks.png"))
    inside.name = "inside"
    inside.pack()
    drawn = bpy.data.images.new("drawn", 4, 4, float_buffer=True)
    drawn.generated_type = "COLOR_GRID"
    missing = bpy.data.images.new("gone", 4, 4)
    missing.source, missing.filepath = "FILE", "//missing.png"
    for name in ("checks", "numbers", "inside", "drawn", "gone"):
        tree = material(f"picture {name}")
        shown(tree, add(tree, "TexImage", image=bpy.data.images[name], interpolation="Closest").outputs[0])


def unsupported() -> None:
    tree = material("a script")
    script = add(tree, "Script", "osl")
    script.mode = "INTERNAL"
    shown(tree, add(tree, "BsdfDiffuse").outputs[0])
    tree = material("coordinates of an object")
    somewhere = bpy.data.objects.new("somewhere", None)
    somewhere.location = (1.0, 2.0, 3.0)
    where = add(tree, "TexCoord", object=somewhere)
    shown(tree, where.outputs["Object"])


def make(folder: Path) -> None:
    """All of them, in the open file."""
    pictures(folder)
    every_node()
    groups()
    passing()
    named()
    unsupported()
