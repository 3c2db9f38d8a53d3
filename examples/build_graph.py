"""Build a material by typed actions, render it, and export it.

Run: .venv/bin/python examples/build_graph.py
"""

from __future__ import annotations

from pathlib import Path

from graph_api import ActionRejected, AddNode, Connect, SetParam, apply, dumps, start_graph, summary_text
from renderer import BlenderPool, RenderRequest, RenderSettings, export_blend, write_maps

OUT = Path("runs/built")


def main() -> None:
    """A rust-red noise, its maps, and a .blend file."""
    graph = start_graph("5.0")
    shading = next(node.id for node in graph.nodes.values() if node.type == "ShaderNodeBsdfPrincipled")
    mapping = next(node.id for node in graph.nodes.values() if node.type == "ShaderNodeMapping")
    edits = (
        AddNode("ShaderNodeTexNoise", id="stains", role="macro"),
        SetParam("stains", "Scale", 6.0),
        SetParam("stains", "Detail", 8.0),
        Connect(mapping, "stains", "Vector"),
        AddNode("ShaderNodeMix", id="tint", role="color"),
        SetParam("tint", "data_type", "RGBA"),
        SetParam("tint", "A", (0.25, 0.06, 0.02, 1.0)),
        SetParam("tint", "B", (0.55, 0.25, 0.12, 1.0)),
        Connect("stains", "tint", "Factor"),
        Connect("tint.Result", shading, "Base Color"),
    )
    for edit in edits:
        graph = apply(graph, edit).graph
    try:
        apply(graph, SetParam("stains", "Sclae", 3.0))
    except ActionRejected as error:
        print(f"refused, and the graph is as it was: {error}")
    print(summary_text(graph))
    with BlenderPool(jobs=1) as pool:
        request = RenderRequest(graph, "flat", ("beauty", "base_color"), RenderSettings(resolution=256, samples=4))
        result = pool.render(request)
    write_maps(OUT / "maps", result)
    export_blend(graph, OUT / "stains.blend", name="Stains")
    (OUT / "graph.json").write_text(dumps(graph), encoding="utf-8")
    print(f"written to {OUT}")


if __name__ == "__main__":
    main()
