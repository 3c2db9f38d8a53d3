"""Derivatives of the preview against central differences: every node, option, output and numeric parameter.

    python benchmarks/preview_gradients.py [--quick] [--nodes TexNoise Mix …] [--keep FOLDER]

For each parameter the pixels are compared where differences over three steps agree (`renderer.preview.slopes`). The
table has one line for each node type: how many derivatives were compared, the largest error in parts of the sum of
magnitudes, those of which less than half the pixels are smooth, and whether every derivative was finite. `--quick`
takes each node type's first option only. With `--keep` each node type's result is written to FOLDER when it is done,
and a further run goes on from there.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

# Python puts this folder first, where a neighbour would hide the package of its name.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _report import finish, table

from renderer.preview import PreviewEngine
from renderer.preview.parity import SUBJECT, Case, cases
from renderer.preview.slopes import Slope, differentiable, slopes, tamed

LARGEST_ERROR, SMOOTH_SHARE, SIDE = 0.01, 0.5, 12


def measured(engine: PreviewEngine, case: Case, rng: np.random.Generator) -> list[Slope]:
    """The derivatives of one case by the subject's numbers and by the coordinates that feed it."""
    kernel = engine.compile(tamed(case.requests[0].graph, SUBJECT))
    keys = differentiable(kernel, SUBJECT)
    return slopes(kernel, keys, rng, SIDE) if keys else []


def sweep(engine: PreviewEngine, node_type: str, *, quick: bool) -> dict[str, object]:
    """All cases of a node type."""
    from renderer.preview.nodes import NODES  # noqa: PLC0415

    spec = NODES[node_type]
    rng = np.random.default_rng(5)
    found = cases([node_type], {node_type: spec.options}, outputs={node_type: spec.outputs}, rng=rng, settings=1)
    compared, largest, where, endless, beyond = 0, 0.0, "-", [], []
    rough: dict[str, int] = {}
    for number, case in enumerate(found):
        if quick and number:
            break
        for slope in measured(engine, case, rng):
            node, key = slope.key
            name = f"{case.label} by {key if node == SUBJECT else f'{node}.{key}'}"
            if not slope.finite:
                endless.append(name)
            if slope.smooth < SMOOTH_SHARE:
                rough[key] = rough.get(key, 0) + 1
                continue
            compared += 1
            if slope.error > largest:
                largest, where = slope.error, name
            if slope.error > LARGEST_ERROR:
                beyond.append(f"{name}: {slope.found:.4g} for {slope.expected:.4g}")
    return {"compared": compared, "largest": largest, "where": where, "rough": rough, "beyond": beyond,
            "not finite": endless}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the first option of each node type")
    parser.add_argument("--nodes", nargs="*", help="node types, without ShaderNode")
    parser.add_argument("--keep", metavar="FOLDER", help="keep each node type's result here, and do not repeat it")
    options = parser.parse_args()
    engine = PreviewEngine()
    from renderer.preview.nodes import NODES  # noqa: PLC0415

    results: dict[str, dict[str, object]] = {}
    begun = time.perf_counter()
    for name in options.nodes or sorted(NODES):
        node_type = f"ShaderNode{name.removeprefix('ShaderNode')}"
        file = Path(options.keep) / f"{node_type}.json" if options.keep else None
        if file is not None and file.is_file():
            results[node_type] = json.loads(file.read_text(encoding="utf-8"))
            continue
        results[node_type] = found = sweep(engine, node_type, quick=options.quick)
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(found), encoding="utf-8")
        print(f"{time.perf_counter() - begun:6.0f} s  {node_type}", file=sys.stderr, flush=True)
        for line in (*found["beyond"], *found["not finite"]):  # type: ignore[misc]
            print(f"         {line}", file=sys.stderr, flush=True)
    rows = [
        (name.removeprefix("ShaderNode"), r["compared"], r["largest"], sum(r["rough"].values()), len(r["not finite"]),  # type: ignore[attr-defined, arg-type]
         r["where"])
        for name, r in results.items()
    ]  # fmt: skip
    table(("node", "compared", "largest", "rough", "not finite", "where"), rows)
    compared = sum(int(r["compared"]) for r in results.values())  # type: ignore[call-overload]
    beyond = sum(len(r["beyond"]) for r in results.values())  # type: ignore[arg-type]
    figures = {
        "compared": float(compared),
        "share_within": 1.0 - beyond / max(1, compared),
        "not_finite": float(sum(len(r["not finite"]) for r in results.values())),  # type: ignore[arg-type]
    }
    figures["share_finite"] = 1.0 - figures["not_finite"] / max(1, compared)
    print()
    return finish(
        "preview_gradients",
        figures,
        {"share_within": 1.0, "share_finite": 1.0},
        details={"nodes": results},
        packages=("drjit", "karellen-llvm-core"),
    )


if __name__ == "__main__":
    sys.exit(main())
