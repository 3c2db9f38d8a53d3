"""Render the bundled references in Blender from their recipes; run it again after any change to a recipe.

Usage: python scripts/make_references.py [--check | --only ID ...]
`--check` renders nothing and only tells whether the committed graphs are those of the recipes; `--only` renders some
and keeps the pictures of the others.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
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


def expanded(recipes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Recipes with the edits of their bases before their own."""
    by_id = {recipe["id"]: recipe for recipe in recipes}
    full = []
    for recipe in recipes:
        base = by_id[recipe["base"]] if "base" in recipe else {"nodes": {}, "set": [], "connect": []}
        full.append({
            **recipe,
            "nodes": {**base["nodes"], **recipe.get("nodes", {})},
            "set": [*base["set"], *recipe.get("set", [])],
            "connect": [*base["connect"], *recipe.get("connect", [])],
        })  # fmt: skip
    return full


def truth(recipe: dict[str, Any]) -> dict[str, Any]:
    """What the recipe says of lattice and direction, as seen in the picture: vectors in sides, y down; degrees."""
    said = recipe.get("truth", {})
    turns = [value[2] for node, key, value in recipe["set"] if (node, key) == ("mapping", "Rotation")]
    angle = turns[-1] if turns else 0.0
    # Mapping turns the coordinates, so the picture turns the other way.
    cos, sin = math.cos(-angle), math.sin(-angle)
    seen: dict[str, Any] = {}
    if "lattice" in said:
        seen["lattice"] = [[round(cos * x - sin * y, 6), round(-(sin * x + cos * y), 6)] for x, y in said["lattice"]]
    if "direction_deg" in said:
        seen["direction_deg"] = round((said["direction_deg"] - math.degrees(angle)) % 180.0, 3)
    return seen


def edits(recipe: dict[str, Any]) -> list[Edit]:
    """The typed edits of a recipe, in order."""
    return [
        *(AddNode(kind, node, role) for node, (kind, role) in recipe["nodes"].items()),
        *(SetParam(node, key, _value(value)) for node, key, value in recipe["set"]),
        *(Connect(src, dst, slot) for src, dst, slot in recipe["connect"]),
    ]


def _value(value: Any) -> Any:
    """A parameter's value; {"ramp": [[position, R, G, B], …]} is short for a color ramp."""
    if isinstance(value, dict) and "ramp" in value:
        stops = [{"position": place, "color": [*color, 1.0]} for place, *color in value["ramp"]]
        return {"stops": stops, "interpolation": value.get("interpolation", "LINEAR")}
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
    return _checksum(path)


def main() -> int:
    """Write graphs, pictures and the manifest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", nargs="+", metavar="ID", default=[])
    options = parser.parse_args()
    data = json.loads(RECIPES.read_text(encoding="utf-8"))
    recipes = expanded(data["references"])
    graphs = {recipe["id"]: build(recipe) for recipe in recipes}
    if options.check:
        stale = [name for name, graph in graphs.items() if _committed(name) != content_hash(graph)]
        print("stale: " + ", ".join(stale) if stale else "the committed graphs are those of the recipes")
        return 1 if stale else 0
    for folder in ("graphs", "images"):
        (DATA / folder).mkdir(parents=True, exist_ok=True)
    entries = []
    with BlenderPool() as pool:
        for recipe in recipes:
            name, graph = recipe["id"], graphs[recipe["id"]]
            offset = recipe.get("reseed_offset", data["reseed_offset"])
            entry: dict[str, Any] = {
                **{key: recipe[key] for key in ("id", "family", "structure")},
                **truth(recipe),
                "graph": f"graphs/{name}.json",
                "reseed_offset": offset,
            }
            fresh = not options.only or name in options.only
            if fresh:
                (DATA / "graphs" / f"{name}.json").write_text(dumps(graph) + "\n", encoding="utf-8")
            for role, seeded in (("image", graph), ("twin", reseed(graph, tuple(offset)))):
                file = f"images/{name}{'_twin' if role == 'twin' else ''}.png"
                entry[role] = file
                entry[f"{role}_sha256"] = (
                    render(pool, seeded, data["patch_size_m"], DATA / file) if fresh else _checksum(DATA / file)
                )
            entries.append(entry)
    manifest = {
        "schema": "references/1",
        "patch_size_m": data["patch_size_m"],
        "render": {"view": "flat", "channel": "beauty", "resolution": RESOLUTION, "samples": SAMPLES},
        "references": entries,
    }
    (DATA / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return 0


def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _committed(name: str) -> str:
    path = DATA / "graphs" / f"{name}.json"
    return content_hash(from_json(path.read_text(encoding="utf-8"))) if path.is_file() else ""


if __name__ == "__main__":
    sys.exit(main())
