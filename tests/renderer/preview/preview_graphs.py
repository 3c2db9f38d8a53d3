"""Graphs for the tests of the preview: made by hand."""

from __future__ import annotations

from collections.abc import Sequence

from graph_api.model import ColorRamp, ColorStop, Graph, Link, Node
from renderer import RenderRequest, RenderSettings


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
