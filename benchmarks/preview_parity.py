"""The preview against Cycles: every node, option and output that it claims, from the catalog.

    python benchmarks/preview_parity.py [--quick] [--nodes TexNoise Mix …] [--version 5.0]

Six settings at random for each, 256², one sample, the node's output on Base Color. The table has one line for each node
type: the largest difference (relative above one), its case, and the share of pixels beyond the node's tolerance in the
worst picture. `--quick` moves one option at a time at 64².
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

# Python puts this folder first, where a neighbour would hide the package of its name.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _report import finish, table

from renderer import BlenderPool
from renderer.preview import PreviewRenderer
from renderer.preview.parity import Case, cases, difference

TOLERANCE, WARPED_TOLERANCE = 1e-4, 2e-4
# Pixels of one picture that may lie on the other side of a jump: a share, and never fewer than two.
FLIPPED_SHARE, FLIPPED_PIXELS = 1e-4, 2


def sweep(
    node_type: str, pool: BlenderPool, previews: PreviewRenderer, options: argparse.Namespace
) -> dict[str, object]:
    """All cases of one node type."""
    from renderer.preview.nodes import NODES  # noqa: PLC0415

    spec, size = NODES[node_type], 64 if options.quick else 256
    tolerance = WARPED_TOLERANCE if spec.warped else TOLERANCE
    found: list[Case] = list(
        cases(
            [node_type],
            {node_type: spec.options},
            outputs={node_type: spec.outputs},
            rng=np.random.default_rng(sum(map(ord, node_type))),
            resolution=size,
            full=not options.quick,
            version=options.version,
        )
    )
    worst, where, flipped, failed = 0.0, "-", 0.0, []
    allowed = max(FLIPPED_SHARE, FLIPPED_PIXELS / size**2)
    for case in found:
        pictures = zip(pool.render_many(case.requests), previews.render_many(case.requests), strict=True)
        for blender, preview in pictures:
            if not (blender.ok and preview.ok):
                failed.append(f"{case.label}: {[m.text for m in (*blender.messages, *preview.messages)]}")
                continue
            apart = difference(blender.channels["base_color"], preview.channels["base_color"], tolerance)
            flipped = max(flipped, apart.flipped)
            # A jump that lies between two pixels says nothing of the function: what counts is the rest.
            size_of_rest = apart.largest if apart.flipped == 0 else 0.0
            if size_of_rest > worst:
                worst, where = size_of_rest, case.label
            if apart.flipped > (0.0 if spec.smooth else allowed):
                failed.append(f"{case.label}: largest {apart.largest:.2g}, {apart.flipped:.3%} of the pixels")
    return {"cases": len(found), "largest": worst, "where": where, "flipped": flipped, "failed": failed}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one option at a time, 64²")
    parser.add_argument("--nodes", nargs="*", help="node types, without ShaderNode")
    parser.add_argument("--version", default="5.0", help="catalog of the graphs")
    options = parser.parse_args()
    from renderer.preview.nodes import NODES  # noqa: PLC0415

    wanted = [f"ShaderNode{name.removeprefix('ShaderNode')}" for name in options.nodes or sorted(NODES)]
    results: dict[str, dict[str, object]] = {}
    begun = time.perf_counter()
    with BlenderPool() as pool:
        previews = PreviewRenderer()
        for node_type in wanted:
            results[node_type] = sweep(node_type, pool, previews, options)
            print(f"{time.perf_counter() - begun:6.0f} s  {node_type}", file=sys.stderr, flush=True)
            for line in results[node_type]["failed"]:  # type: ignore[attr-defined]
                print(f"         {line}", file=sys.stderr, flush=True)
    rows = [
        (name.removeprefix("ShaderNode"), r["cases"], r["largest"], r["flipped"], len(r["failed"]), r["where"])  # type: ignore[arg-type]
        for name, r in results.items()
    ]
    table(("node", "cases", "largest", "flipped", "beyond", "where"), rows)
    beyond = sum(len(r["failed"]) for r in results.values())  # type: ignore[arg-type]
    total = sum(int(r["cases"]) for r in results.values())  # type: ignore[call-overload]
    figures = {"cases": float(total), "share_within": 1.0 - beyond / max(1, 6 * total)}
    print()
    return finish(
        "preview_parity", figures, {"share_within": 1.0}, details={"nodes": results}, packages=("bpy", "drjit")
    )


if __name__ == "__main__":
    sys.exit(main())
