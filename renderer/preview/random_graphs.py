"""Random material graphs of nodes that the preview draws: what whole graphs are compared with Blender on."""

from __future__ import annotations

import numpy as np

from graph_api.catalog import load_catalog
from graph_api.model import ColorRamp, ColorStop, Graph, Link, Node, Value

SOURCES = ("ShaderNodeTexNoise", "ShaderNodeTexVoronoi", "ShaderNodeTexWave", "ShaderNodeTexBrick",
           "ShaderNodeTexGradient", "ShaderNodeTexMagic")  # fmt: skip
STEPS = ("ShaderNodeMath", "ShaderNodeMix", "ShaderNodeValToRGB", "ShaderNodeMapRange", "ShaderNodeInvert",
         "ShaderNodeHueSaturation", "ShaderNodeBrightContrast", "ShaderNodeVectorMath", "ShaderNodeClamp")  # fmt: skip
MATH = ("ADD", "SUBTRACT", "MULTIPLY", "MULTIPLY_ADD", "MINIMUM", "MAXIMUM", "SINE", "POWER", "ABSOLUTE")
BLENDS = ("MIX", "MULTIPLY", "SCREEN", "OVERLAY", "SOFT_LIGHT", "ADD", "DIFFERENCE")
RANGES = {"Scale": (1.0, 9.0), "Detail": (0.0, 3.0), "Distortion": (0.0, 0.8), "Lacunarity": (1.8, 2.3)}

_LINKS = 3


def random_graph(rng: np.random.Generator, count: int) -> Graph:
    """A graph of `count` nodes: textures first, then steps that each take up to three earlier outputs.

    The last step is the base color. The four others are Texture Coordinate, Mapping, Principled BSDF and Material
    Output.
    """
    catalog = load_catalog("5.0")
    nodes = [Node("map", "ShaderNodeMapping", {"Rotation": (0.0, 0.0, float(rng.uniform(0, 2)))})]
    wires = [("uv", "UV", "map", "Vector")]
    outputs: list[tuple[str, str]] = []
    textures = max(2, count // 4)
    for index in range(count - 4):
        name = f"n{index}"
        node_type = str(rng.choice(SOURCES if index < textures else STEPS))
        kind = catalog.node(node_type)
        assert kind is not None
        options: dict[str, Value] = {}
        if node_type == "ShaderNodeMath":
            options = {"operation": str(rng.choice(MATH))}
        elif node_type == "ShaderNodeMix":
            options = {"data_type": "RGBA", "blend_type": str(rng.choice(BLENDS))}
        elif node_type == "ShaderNodeVectorMath":
            options = {"operation": str(rng.choice(["ADD", "MULTIPLY", "SCALE", "NORMALIZE"]))}
        elif node_type == "ShaderNodeValToRGB":
            colors = rng.uniform(0, 1, (3, 3))
            stops = (
                ColorStop(position, (float(c[0]), float(c[1]), float(c[2]), 1.0))
                for position, c in zip((0.1, 0.5, 0.9), colors, strict=True)
            )
            options = {"color_ramp": ColorRamp(tuple(stops))}
        state = kind.state(options)
        assert state is not None
        inputs: dict[str, Value] = {}
        free = [s for s in state.enabled_inputs if s.type in ("VALUE", "VECTOR", "RGBA")]
        # Colors first: hue and saturation of a constant would make a constant of the whole graph.
        free.sort(key=lambda socket: socket.type != "RGBA")
        linked = 0
        for socket in free:
            if index < textures:
                if socket.identifier == "Vector":
                    wires.append(("map", "Vector", name, "Vector"))
                elif socket.name in RANGES:
                    inputs[socket.identifier] = float(np.float32(rng.uniform(*RANGES[socket.name])))
            elif linked < _LINKS and outputs:
                source = outputs[int(rng.integers(len(outputs)))] if linked else outputs[-1]
                wires.append((*source, name, socket.identifier))
                linked += 1
        nodes.append(Node(name, node_type, inputs, options))
        outputs.append((name, str(rng.choice([s.identifier for s in state.enabled_outputs]))))
    wires += [(*outputs[-1], "shader", "Base Color"), ("shader", "BSDF", "output", "Surface")]
    nodes += [Node("uv", "ShaderNodeTexCoord"), Node("shader", "ShaderNodeBsdfPrincipled")]
    nodes.append(Node("output", "ShaderNodeOutputMaterial"))
    return Graph("5.0", {node.id: node for node in nodes}, tuple(Link(*wire) for wire in wires))
