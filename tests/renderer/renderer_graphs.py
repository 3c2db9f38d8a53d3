"""Small graphs with known pictures, for the renderer's tests."""

from __future__ import annotations

from collections.abc import Mapping

from graph_api.model import ColorRamp, ColorStop, Graph, Link, Node, Value
from renderer import CHANNELS, RenderRequest, RenderSettings, View

Inputs = Mapping[str, Value]


def graph(nodes: Mapping[str, str | tuple], links: str = "", version: str = "5.0") -> Graph:
    """`nodes`: id to type, or to (type, inputs, properties, outputs); `links`: "a.Out>b.In c.Out>d.In"."""
    made = {}
    for node_id, spec in nodes.items():
        kind, inputs, properties, outputs = (*((spec,) if isinstance(spec, str) else spec), {}, {}, {})[:4]
        made[node_id] = Node(node_id, f"ShaderNode{kind}", inputs, properties, outputs)
    wires = []
    for link in links.split(";") if links else []:
        source, target = (end.strip().split(".", 1) for end in link.split(">"))
        wires.append(Link(source[0], source[1], target[0], target[1]))
    return Graph(version, made, tuple(wires))


def principled(inputs: Inputs | None = None) -> Graph:
    """A Principled BSDF with constant inputs."""
    return graph({"shader": ("BsdfPrincipled", inputs or {}), "out": "OutputMaterial"}, "shader.BSDF>out.Surface")


def emission(color: tuple[float, ...]) -> Graph:
    """A uniform emission of strength 1."""
    nodes = {"light": ("Emission", {"Color": color, "Strength": 1.0}), "out": "OutputMaterial"}
    return graph(nodes, "light.Emission>out.Surface")


def textured(scale: float = 8.0, roughness: float = 0.4, low: float = 0.2) -> Graph:
    """A noise that drives color, height and, through the bump, the normal."""
    ramp = ColorRamp((ColorStop(low, (0.1, 0.05, 0.02, 1.0)), ColorStop(0.8, (0.6, 0.5, 0.3, 1.0))))
    return graph(
        {
            "place": "TexCoord",
            "noise": ("TexNoise", {"Scale": scale, "Detail": 3.0}),
            "ramp": ("ValToRGB", {}, {"color_ramp": ramp}),
            "bump": ("Bump", {"Distance": 0.02}),
            "shader": ("BsdfPrincipled", {"Roughness": roughness}),
            "out": "OutputMaterial",
        },
        "place.UV>noise.Vector; noise.Fac>ramp.Fac; noise.Fac>bump.Height; ramp.Color>shader.Base Color;"
        "bump.Normal>shader.Normal; shader.BSDF>out.Surface",
    )


def request(
    material: Graph, view: View = "flat", size: int = 16, samples: int = 1, **settings: object
) -> RenderRequest:
    """All channels of `material`."""
    return RenderRequest(material, view, CHANNELS, RenderSettings(resolution=size, samples=samples, **settings))  # type: ignore[arg-type]
