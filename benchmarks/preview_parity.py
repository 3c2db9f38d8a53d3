"""The preview against Cycles: every node, option and output that it claims, from the catalog.

    python benchmarks/preview_parity.py [--quick] [--nodes TexNoise Mix …] [--version 5.0] [--keep FOLDER]

Six settings at random for each, 256², one sample, the node's output on Base Color. The table has one line for each node
type: the largest difference (relative above one), its case, and the share of pixels beyond the node's tolerance in the
worst picture. Then thirty random graphs of 5 to 20 nodes, of which the mean difference counts. `--quick` moves one
option at a time at 64².

The full sweep takes about an hour: with `--keep` each node type's result so far is written to FOLDER after every case,
and a further run goes on from there. A result carries the commit that it was begun at.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

# Python puts this folder first, where a neighbour would hide the package of its name.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _report import environment, finish, table

from renderer import BlenderPool, RenderRequest, RenderResult, RenderSettings
from renderer.preview import PreviewRenderer
from renderer.preview.parity import Case, cases, difference
from renderer.preview.random_graphs import random_graph

TOLERANCE, WARPED_TOLERANCE = 1e-4, 2e-4
# Pixels of one picture that may lie on the other side of a jump: a share, and never fewer than two.
FLIPPED_SHARE, FLIPPED_PIXELS = 1e-4, 2
RANDOM_GRAPHS, RANDOM_MEAN = 30, 1e-4
PATIENCE_S = 3600.0
"""For one picture of Blender: smooth four-dimensional Voronoi with nine octaves takes a minute on a busy machine."""


def both(
    requests: tuple[RenderRequest, ...], pool: BlenderPool, previews: PreviewRenderer
) -> list[tuple[RenderResult, RenderResult]]:
    """Each request by Blender and by the preview, at the same time."""
    requests = tuple(replace(r, settings=replace(r.settings, timeout_s=PATIENCE_S)) for r in requests)
    with ThreadPoolExecutor(1) as other:
        rendered = other.submit(pool.render_many, requests)
        drawn = previews.render_many(requests)
        return list(zip(rendered.result(), drawn, strict=True))


def sweep(
    node_type: str, pool: BlenderPool, previews: PreviewRenderer, options: argparse.Namespace, file: Path | None
) -> dict[str, object]:
    """All cases of one node type that `file` does not have yet."""
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
    result: dict[str, object] = {"cases": len(found), "done": 0, "largest": 0.0, "where": "-", "flipped": 0.0,
                                 "failed": [], "commit": environment(())["commit"]}  # fmt: skip
    if file is not None and file.is_file():
        result = json.loads(file.read_text(encoding="utf-8"))
    allowed = max(FLIPPED_SHARE, FLIPPED_PIXELS / size**2)
    for number in range(int(result["done"]), len(found)):  # type: ignore[call-overload]
        case = found[number]
        for blender, preview in both(case.requests, pool, previews):
            failed: list[str] = result["failed"]  # type: ignore[assignment]
            if not (blender.ok and preview.ok):
                failed.append(f"{case.label}: {[m.text for m in (*blender.messages, *preview.messages)]}")
                continue
            apart = difference(blender.channels["base_color"], preview.channels["base_color"], tolerance)
            result["flipped"] = max(float(result["flipped"]), apart.flipped)  # type: ignore[arg-type]
            # A jump that lies between two pixels says nothing of the function: what counts is the rest.
            size_of_rest = apart.largest if apart.flipped == 0 else 0.0
            if size_of_rest > float(result["largest"]):  # type: ignore[arg-type]
                result |= {"largest": size_of_rest, "where": case.label}
            if apart.flipped > (0.0 if spec.smooth else allowed):
                failed.append(f"{case.label}: largest {apart.largest:.2g}, {apart.flipped:.3%} of the pixels")
        result["done"] = number + 1
        keep(result, file)
    return result


def keep(result: dict[str, object], file: Path | None) -> None:
    """Write a result, whole or so far, where it is kept."""
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(result), encoding="utf-8")


def random_graphs(pool: BlenderPool, previews: PreviewRenderer, size: int) -> dict[str, object]:
    """Random graphs: the mean difference of each, and which are beyond the bar."""
    rng = np.random.default_rng(30)
    graphs = [random_graph(rng, int(rng.integers(5, 21))) for _ in range(RANDOM_GRAPHS)]
    requests = tuple(RenderRequest(g, "flat", ("base_color",), RenderSettings(size)) for g in graphs)
    means, beyond, failed = [], 0.0, []
    for number, (blender, preview) in enumerate(both(requests, pool, previews)):
        if not (blender.ok and preview.ok):
            failed.append(f"graph {number}: {[m.text for m in (*blender.messages, *preview.messages)]}")
            continue
        apart = difference(blender.channels["base_color"], preview.channels["base_color"])
        means.append(apart.mean)
        beyond = max(beyond, apart.flipped)
        if not apart.mean < RANDOM_MEAN:
            failed.append(f"graph {number}: mean {apart.mean:.2g}")
    return {
        "cases": len(graphs),
        "largest_mean": max(means, default=0.0),
        "flipped": beyond,
        "failed": failed,
        "commit": environment(())["commit"],
    }


def kept(name: str, options: argparse.Namespace) -> Path | None:
    """Where a result is kept, if at all."""
    return Path(options.keep) / f"{name}.json" if options.keep else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one option at a time, 64²")
    parser.add_argument("--nodes", nargs="*", help="node types, without ShaderNode")
    parser.add_argument("--version", default="5.0", help="catalog of the graphs")
    parser.add_argument("--keep", metavar="FOLDER", help="keep each node type's result here, and do not repeat it")
    parser.add_argument("--kept", action="store_true", help="draw nothing: sum up what --keep has so far")
    options = parser.parse_args()
    if options.kept and not options.keep:
        parser.error("expected --keep FOLDER with --kept")
    from renderer.preview.nodes import NODES  # noqa: PLC0415

    wanted = [f"ShaderNode{name.removeprefix('ShaderNode')}" for name in options.nodes or sorted(NODES)]
    results: dict[str, dict[str, object]] = {}
    begun = time.perf_counter()
    with BlenderPool(1) as pool:
        previews = PreviewRenderer()
        for node_type in ["random graphs", *wanted]:
            file = kept(node_type.replace(" ", "_"), options)
            if options.kept and not (file is not None and file.is_file()):
                continue
            if node_type in NODES and not options.kept:
                results[node_type] = sweep(node_type, pool, previews, options, file)
            elif file is not None and file.is_file():
                results[node_type] = json.loads(file.read_text(encoding="utf-8"))
            else:
                results[node_type] = random_graphs(pool, previews, 64 if options.quick else 256)
                keep(results[node_type], file)
            print(f"{time.perf_counter() - begun:6.0f} s  {node_type}", file=sys.stderr, flush=True)
            for line in results[node_type]["failed"]:  # type: ignore[attr-defined]
                print(f"         {line}", file=sys.stderr, flush=True)
    mixed = results.pop("random graphs")
    rows = [
        (name.removeprefix("ShaderNode"), r["done"], r["largest"], r["flipped"], len(r["failed"]), r["where"])  # type: ignore[arg-type]
        for name, r in results.items()
    ]
    table(("node", "cases", "largest", "flipped", "beyond", "where"), rows)
    beyond = sum(len(r["failed"]) for r in results.values())  # type: ignore[arg-type]
    total = sum(int(r["done"]) for r in results.values())  # type: ignore[call-overload]
    figures = {
        "cases": float(total),
        "share_within": 1.0 - beyond / max(1, 6 * total),
        "random_graphs": float(mixed["cases"]),  # type: ignore[arg-type]
        "random_graphs_within": 1.0 - len(mixed["failed"]) / RANDOM_GRAPHS,  # type: ignore[arg-type]
        "random_graphs_largest_mean": float(mixed["largest_mean"]),  # type: ignore[arg-type]
    }
    print()
    return finish(
        "preview_parity",
        figures,
        {"share_within": 1.0, "random_graphs_within": 1.0},
        details={"nodes": results, "random_graphs": mixed, "side": 64 if options.quick else 256},
        packages=("bpy", "drjit"),
    )


if __name__ == "__main__":
    sys.exit(main())
