"""Render the bundled references in Blender from their recipes; run it again after any change to a recipe.

Usage: python scripts/make_references.py [--check]
`--check` renders nothing and only tells whether the committed graphs are those of the recipes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from graph_api import (
    AddNode,
    Connect,
    Edit,
    Graph,
    SetParam,
    apply,
    compiles,
    content_hash,
    dumps,
    from_json,
    reseed,
    start_graph,
    validate,
)
from renderer import BlenderPool, RenderRequest, RenderSettings, linear_to_srgb, quantize, write_png

RECIPES = Path(__file__).parent / "reference_recipes.json"
DATA = Path(__file__).parent.parent / "references" / "data"
RESOLUTION, SAMPLES = 256, 16


def edits(recipe: dict[str, Any]) -> list[Edit]:
    """The typed edits of a recipe, in order."""
    return [
        *(AddNode(kind, node, role) for node, (kind, role) in recipe["nodes"].items()),
        *(SetParam(node, key, _value(value)) for node, key, value in recipe["set"]),
        *(Connect(src, dst, slot) for src, dst, slot in recipe["connect"]),
    ]


def _value(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def build(recipe: dict[str, Any]) -> Graph:
    """The graph of a recipe; raises when an edit is rejected or the graph does not compile."""
    graph = start_graph()
    for edit in edits(recipe):
        graph = apply(graph, edit).graph
    problems = validate(graph)
    if not compiles(problems):
        raise SystemExit(f"{recipe['id']}: {problems}")
    return graph


def render(pool: BlenderPool, graph: Graph, patch_size_m: float, path: Path) -> str:
    """Render the beauty of the flat view to a PNG; returns its checksum."""
    settings = RenderSettings(RESOLUTION, SAMPLES, patch_size_m, timeout_s=600.0)
    result = pool.render(RenderRequest(graph, "flat", ("beauty",), settings))
    if not result.ok:
        raise SystemExit(f"{path.name}: {result.status}: {result.messages}")
    write_png(path, quantize(linear_to_srgb(result.channels["beauty"])))
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> int:
    """Write graphs, pictures and the manifest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    recipes = json.loads(RECIPES.read_text(encoding="utf-8"))
    graphs = {recipe["id"]: build(recipe) for recipe in recipes["references"]}
    if check:
        stale = [name for name, graph in graphs.items() if _committed(name) != content_hash(graph)]
        print("stale: " + ", ".join(stale) if stale else "the committed graphs are those of the recipes")
        return 1 if stale else 0
    for folder in ("graphs", "images"):
        (DATA / folder).mkdir(parents=True, exist_ok=True)
    entries = []
    with BlenderPool() as pool:
        for recipe in recipes["references"]:
            name, graph = recipe["id"], graphs[recipe["id"]]
            (DATA / "graphs" / f"{name}.json").write_text(dumps(graph) + "\n", encoding="utf-8")
            entry: dict[str, Any] = {"id": name, "family": recipe["family"], "graph": f"graphs/{name}.json"}
            for role, seeded in (("image", graph), ("twin", reseed(graph, tuple(recipes["reseed_offset"])))):
                file = f"images/{name}{'_twin' if role == 'twin' else ''}.png"
                entry[role] = file
                entry[f"{role}_sha256"] = render(pool, seeded, recipes["patch_size_m"], DATA / file)
            entries.append(entry)
    manifest = {
        "schema": "references/1",
        "patch_size_m": recipes["patch_size_m"],
        "reseed_offset": recipes["reseed_offset"],
        "render": {"view": "flat", "channel": "beauty", "resolution": RESOLUTION, "samples": SAMPLES},
        "references": entries,
    }
    (DATA / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return 0


def _committed(name: str) -> str:
    path = DATA / "graphs" / f"{name}.json"
    return content_hash(from_json(path.read_text(encoding="utf-8"))) if path.is_file() else ""


if __name__ == "__main__":
    sys.exit(main())
