"""Graphs for the tests of the preview: made at random from nodes it draws, or by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graph_api.catalog import load_catalog
from graph_api.model import ColorRamp, ColorStop, Graph, Link, Node, Value
from renderer import RenderRequest, RenderSettings

SOURCES = ("ShaderNodeTexNoise", "ShaderNodeTexVoronoi", "ShaderNodeTexWave", "ShaderNodeTexBrick",
           "ShaderNodeTexGradient", "ShaderNodeTexMagic")  # fmt: skip
STEPS = ("ShaderNodeMath", "ShaderNodeMix", "ShaderNodeValToRGB", "ShaderNodeMapRange", "ShaderNodeInvert",
         "ShaderNodeHueSaturation", "ShaderNodeBrightContrast", "ShaderNodeVectorMath", "ShaderNodeClamp")  # fmt: skip
MATH = ("ADD", "SUBTRACT", "MULTIPLY", "MULTIPLY_ADD", "MINIMUM", "MAXIMUM", "SINE", "POWER", "ABSOLUTE")
BLENDS = ("MIX", "MULTIPLY", "SCREEN", "OVERLAY", "SOFT_LIGHT", "ADD", "DIFFERENCE")
RANGES = {"Scale": (1.0, 9.0), "Detail": (0.0, 3.0), "Distortion": (0.0, 0.8), "Lacunarity": (1.8, 2.3)}


def ramp(*stops: tuple[float, tuple[float, float, float]], interpolation: str = "LINEAR") -> ColorRamp:
    return ColorRamp(tuple(ColorStop(p, (*c, 1.0)) for p, c in stops), interpolation=interpolation)


def graph(nodes: Sequence[Node], wires: Sequence[tuple[str, str, str, str]]) -> Graph:
    """`nodes` and `wires`, with a shader `shader` and an output where they are missing, and UV as `uv`."""
    known = {node.id: node for node in nodes}
    known.setdefault("uv", Node("uv", "ShaderNodeTexCoord"))
    known.setdefault("shader", Node("shader", "ShaderNodeBsdfPrincipled"))
    known.setdefault("output", Node("output", "ShaderNodeOutputMaterial"))
    links = [Link(*wire) for wire in wires]
    if not any(link.dst == "output" and link.dst_socket == "Surface" for link in links):
        links.append(Link("shader", "BSDF", "output", "Surface"))
    return Graph("5.0", known, tuple(links))


def request(made: Graph, *channels: str, size: int = 64, samples: int = 1, patch: float = 1.0) -> RenderRequest:
    settings = RenderSettings(resolution=size, samples=samples, patch_size_m=patch)
    return RenderRequest(made, "flat", channels or ("base_color",), settings)  # type: ignore[arg-type]


def random_graph(rng: np.random.Generator, count: int) -> Graph:
    """`count` nodes: textures first, then steps that each take up to two earlier outputs; the last is the color."""
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
            options = {"color_ramp": ramp(*((p, tuple(map(float, c))) for p, c in zip((0.1, 0.5, 0.9), colors,
                                                                                     strict=True)))}  # fmt: skip
        state = kind.state(options)
        assert state is not None
        inputs: dict[str, Value] = {}
        free = [s for s in state.enabled_inputs if s.type in ("VALUE", "VECTOR", "RGBA")]
        linked = 0
        for socket in free:
            if index < textures:
                if socket.identifier == "Vector":
                    wires.append(("map", "Vector", name, "Vector"))
                elif socket.name in RANGES:
                    inputs[socket.identifier] = float(np.float32(rng.uniform(*RANGES[socket.name])))
            elif linked < 2 and outputs:
                source = outputs[int(rng.integers(len(outputs)))] if linked else outputs[-1]
                wires.append((*source, name, socket.identifier))
                linked += 1
        nodes.append(Node(name, node_type, inputs, options))
        outputs.append((name, str(rng.choice([s.identifier for s in state.enabled_outputs]))))
    wires.append((*outputs[-1], "shader", "Base Color"))
    return graph(nodes, wires)
