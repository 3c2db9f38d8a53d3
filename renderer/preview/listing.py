"""The table of drawn nodes in docs/preview.md, from the code: `python -m renderer.preview.listing` prints it."""

from __future__ import annotations

from graph_api.catalog import load_catalog
from renderer.preview import backend
from renderer.preview.structure import OUTPUT, REROUTE

BEGIN, END = "<!-- nodes: begin -->", "<!-- nodes: end -->"

# Frames and groups are gone from a graph: they are inlined when it is read.
_NOT_IN_GRAPHS = ("NodeFrame", "ShaderNodeGroup", "NodeGroupInput", "NodeGroupOutput")


def listing(version: str = "5.0") -> str:
    """Markdown: each drawn node, what of its options is drawn, whether its output jumps; then the other nodes."""
    backend.require()
    from renderer.preview.nodes import NODES  # noqa: PLC0415
    from renderer.preview.surface import SHADER_TREE, required_inputs  # noqa: PLC0415

    catalog = load_catalog(version)
    rows = ["| node | options | left to Blender | jumps |", "|---|---|---|---|"]
    for name in sorted({*NODES, *SHADER_TREE, OUTPUT, REROUTE}):
        kind = catalog.node(name)
        if kind is None:
            continue
        spec = NODES.get(name)
        options, left = [], []
        for prop, items in spec.options.items() if spec is not None else ():
            if prop not in kind.properties:
                continue
            missing = [item for item in kind.properties[prop].items if item not in items]
            options.append(f"{prop}: {'all' if not missing else ', '.join(items)}")
            left += [f"{prop} {item}" for item in missing]
        if spec is not None and spec.outputs is not None:
            undrawn = [s.identifier for s in kind.default_state.enabled_outputs if s.identifier not in spec.outputs]
            left += [f"output {output}" for output in undrawn]
        left += [f"beauty with {key} ≠ {value:g}" for key, value in required_inputs(name).items()]
        jumps = "yes" if spec is not None and not spec.smooth else ""
        cells = ("; ".join(options), ", ".join(left), jumps)
        rows.append(f"| {kind.label} (`{name.removeprefix('ShaderNode')}`) | " + " | ".join(cells) + " |")
    drawn = {*NODES, *SHADER_TREE, OUTPUT, REROUTE, *_NOT_IN_GRAPHS}
    others = (catalog.node(name) for name in catalog.types if name not in drawn)
    left_out = sorted({kind.label for kind in others if kind is not None})
    return "\n".join([*rows, "", f"Wholly left to Blender: {', '.join(left_out)}."])


if __name__ == "__main__":
    print(listing())
