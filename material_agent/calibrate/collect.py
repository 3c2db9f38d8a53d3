"""Where the development set's materials come from, how they are rendered, and the table of their distances."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np

from evaluators.functional.color import luma
from evaluators.functional.spectrum import radial_peak
from evaluators.functional.texture import deep_texture
from evaluators.pictures import centre_square
from graph_api import Graph, from_json
from material_agent.calibrate.degrade import FloatArray
from material_agent.calibrate.development import Material, Render, samples_of_graph, samples_of_photo, target_of
from material_agent.calibrate.kept import kept_samples
from material_agent.calibrate.table import Distances, Row, Table, joined, load, measured, save
from material_agent.errors import BadInput
from references import ReferenceFault, load_reference
from references.bundled import SKIMAGE_PREFIX, SKIMAGE_TEXTURES, bundled
from renderer import BlenderPool, RenderCache, RenderRequest, RenderSettings, linear_to_srgb
from renderer.router import Router

Say = Callable[[str], None]
LEAST_CYCLES = 4.0
"""Features across a picture, by the peak of its spectrum, from which its scale can be told: with fewer, two samples of
one material differ as much as scales half as large again do (patches of rust, veins of marble)."""
SCALE_KINDS = ("scale_up", "scale_down", "near_miss", "zoom")
SMALLEST_PHOTO = 128
"""Shortest side of a photograph, px: its quarters are compared at 64 px."""


def development_table() -> dict[str, Any]:
    """Read what is done to each material (`data/development.json`)."""
    source = resources.files("material_agent.calibrate.data") / "development.json"
    found: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    return found


def bundled_materials() -> list[Material]:
    """Every bundled reference that has twins, with its graph."""
    left_out = development_table()["without_twins"]
    return [
        Material(
            entry.id,
            entry.family,
            load_reference(entry.image).image_srgb,
            from_json(entry.graph.read_text(encoding="utf-8")),
        )
        for entry in bundled()
        if entry.family not in left_out
    ]


def chosen(materials: Sequence[Material], per_family: int | None = None) -> list[Material]:
    """The first so many of each family, by default as many as the table says."""
    most = development_table()["per_family"] if per_family is None else per_family
    found: list[Material] = []
    for material in materials:
        if sum(other.family == material.family for other in found) < most:
            found.append(material)
    return found


def photographs(folder: Path | None, say: Say) -> list[Material]:
    """scikit-image's textures and the pictures of a folder; what cannot be read or is too small is said and left out.

    Raises `BadInput` for a folder that is none.
    """
    if folder is not None and not folder.is_dir():
        raise BadInput(f"expected a folder of photographs, got {folder}")
    names = [SKIMAGE_PREFIX + name for name in SKIMAGE_TEXTURES]
    names += [str(path) for path in sorted(folder.iterdir()) if path.is_file()] if folder else []
    found = []
    for name in names:
        try:
            reference = load_reference(name)
        except ReferenceFault as fault:
            say(str(fault))
            continue
        image = centre_square(reference.image_srgb)
        if image.shape[0] < SMALLEST_PHOTO:
            say(f"{name}: left out, {image.shape[0]} px a side, {SMALLEST_PHOTO} are needed")
            continue
        found.append(Material(reference.id, f"photo:{reference.id}", image))
    return found


@contextmanager
def renderer(resolution: int, samples: int, cache: Path) -> Iterator[Render]:
    """The preview where it draws a graph, else Blender, whose renders are kept in `cache`."""

    def render(router: Router, graphs: Sequence[Graph]) -> list[FloatArray | None]:
        settings = RenderSettings(resolution, samples)
        requests = [RenderRequest(graph, "flat", ("beauty",), settings) for graph in graphs]
        return [
            linear_to_srgb(np.clip(result.channels["beauty"], 0, 1)).astype(np.float32) if result.ok else None
            for result in router.render_many(requests)
        ]

    kept = RenderCache(folder=cache / "renders")
    with Router(lambda: BlenderPool(cache=kept)) as router:
        yield partial(render, router)


def collect(
    materials: Sequence[Material], wanted: Sequence[Material], cache: Path, say: Say, *, at_hand: bool = False
) -> Table:
    """Make, render and measure the samples of those `wanted`; parts already in `cache` are read from there.

    With `at_hand` nothing is measured: what is not in the cache is left out, and said.
    What serves as another material comes from all the `materials`, so that a part does not depend on what is wanted.
    Raises `WeightsUnavailableError` without the network: thresholds that leave it out would not be those in use.
    """
    table, network = development_table(), deep_texture()
    graphs = [m for m in materials if m.graph is not None]
    photos = [m for m in materials if m.graph is None]
    parts = []
    with renderer(table["resolution"], table["samples"], cache) as render:
        for number, material in enumerate(wanted, start=1):
            same_kind = graphs if material.graph is not None else photos
            others = [m for m in same_kind if m.id != material.id]
            samples_key, distances_key = _keys(material, others, table)
            path = cache / "distances" / f"{distances_key}.json"
            if path.is_file():
                part = load(path)
            elif at_hand:
                say(f"{number} of {len(wanted)}: {material.id} is not in {cache}: left out")
                continue
            else:
                make = (
                    partial(samples_of_graph, material, others, render, table)
                    if material.graph is not None
                    else partial(samples_of_photo, material, others, table)
                )
                rows, own = measured(
                    material.id,
                    material.family,
                    photo=material.graph is None,
                    target=target_of(material),
                    samples=kept_samples(cache / "samples" / f"{samples_key}.npz", make),
                    network=network,
                    every={int(size): step for size, step in table["every"].items()},
                )
                part = Table(tuple(rows), own)
                save(part, path)
            parts.append(_told_apart(part, material))
            say(f"{number} of {len(wanted)}: {material.id}, {len(part.rows)} comparisons")
    return joined(parts)


def _told_apart(part: Table, material: Material) -> tuple[list[Row], dict[tuple[str, int], Distances]]:
    """The rows with labels as they should count; a photograph may bear the name of a bundled material."""
    name = material.id if material.graph is not None else material.family
    rows = [replace(_fairly_labelled(row, material), material=name) for row in part.rows]
    return rows, {(name, size): own for (_, size), own in part.own.items()}


def _fairly_labelled(row: Row, material: Material) -> Row:
    """A wrong scale is no wrong material where a picture shows too few features to tell its scale."""
    if row.kind not in SCALE_KINDS or radial_peak(luma(target_of(material))).cycles >= LEAST_CYCLES:
        return row
    return replace(row, label="graded") if row.label == "wrong" else row


def _keys(material: Material, others: Sequence[Material], table: dict[str, Any]) -> tuple[str, str]:
    """Names of what is kept of a material: samples by all that makes them, distances by what measures them, too."""
    made = {name: rule for name, rule in table.items() if name != "every"}
    digest = hashlib.sha256(json.dumps(made, sort_keys=True).encode())
    for one in (material, *others):
        digest.update(one.id.encode() + one.image.tobytes())
    calibrate, evaluators = resources.files("material_agent.calibrate"), resources.files("evaluators")
    for module in ("damage", "degrade", "development"):
        digest.update(_said(calibrate / f"{module}.py"))
    samples_key = digest.hexdigest()[:32]
    digest.update(json.dumps(table["every"], sort_keys=True).encode())
    for module in ("measure", "components", "pictures"):
        digest.update(_said(evaluators / f"{module}.py"))
    for module in sorted(p.name for p in (evaluators / "functional").iterdir() if p.is_file()):
        digest.update(_said(evaluators / "functional" / module))
    return samples_key, digest.hexdigest()[:32]


def _said(source: Traversable) -> bytes:
    """What a module does, without its comments and the strings that only say so."""
    tree = ast.parse(source.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [part for part in node.body if not _is_text(part)]
    return ast.dump(tree).encode()


def _is_text(part: ast.stmt) -> bool:
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and isinstance(part.value.value, str)
