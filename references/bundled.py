"""The references that ship with the package, and the photographs that scikit-image ships."""

from __future__ import annotations

import difflib
import importlib.util
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from references.errors import ReferenceFault

DATA = Path(__file__).parent / "data"
SKIMAGE_PREFIX = "skimage:"
SKIMAGE_TEXTURES = ("brick", "grass", "gravel")
"""Textures inside scikit-image's wheel: no download is needed."""


@dataclass(frozen=True)
class Bundled:
    """One bundled reference: a picture rendered by Blender from a graph, and the same graph re-seeded (`twin`).

    `family`: what it looks like (see `references.analysis.FAMILIES`); `structure`: the kind of graph behind it (see
    `STRUCTURES`). `lattice`: vectors (dx, dy) of the repetition in sides of the picture, y down, None where nothing
    repeats. `direction_deg`: along the grain, counter-clockwise in [0, 180), None where no direction dominates.
    """

    id: str
    family: str
    structure: str
    graph: Path
    image: Path
    image_sha256: str
    twin: Path
    twin_sha256: str
    lattice: tuple[tuple[float, float], tuple[float, float]] | None = None
    direction_deg: float | None = None


@lru_cache(maxsize=1)
def bundled() -> tuple[Bundled, ...]:
    """List the bundled references, in the manifest's order; empty when the package carries none."""
    path = DATA / "manifest.json"
    if not path.is_file():
        return ()
    entries = json.loads(path.read_text(encoding="utf-8"))["references"]
    return tuple(
        Bundled(
            id=entry["id"],
            family=entry["family"],
            structure=entry["structure"],
            graph=DATA / entry["graph"],
            image=DATA / entry["image"],
            image_sha256=entry["image_sha256"],
            twin=DATA / entry["twin"],
            twin_sha256=entry["twin_sha256"],
            lattice=_vectors(entry.get("lattice")),
            direction_deg=entry.get("direction_deg"),
        )
        for entry in entries
    )


def _vectors(pairs: list[list[float]] | None) -> tuple[tuple[float, float], tuple[float, float]] | None:
    if pairs is None:
        return None
    (a, b), (c, d) = pairs
    return (a, b), (c, d)


def bundled_names() -> tuple[str, ...]:
    """Names that `load_reference` knows without a file."""
    return (*(entry.id for entry in bundled()), *(SKIMAGE_PREFIX + name for name in SKIMAGE_TEXTURES))


def bundled_path(name: str) -> Path:
    """Find the file behind a bundled name. Raises `ReferenceFault` for an unknown one, with the nearest known names."""
    for entry in bundled():
        if name == entry.id:
            return entry.image
        if name == f"{entry.id}:twin":
            return entry.twin
    if name.startswith(SKIMAGE_PREFIX):
        return _skimage_path(name)
    known = bundled_names()
    near = difflib.get_close_matches(name, known, n=3) or known
    raise ReferenceFault(name, f"no such file, and no bundled reference of this name; known: {', '.join(near)}")


def _skimage_path(name: str) -> Path:
    texture = name.removeprefix(SKIMAGE_PREFIX)
    if texture not in SKIMAGE_TEXTURES:
        raise ReferenceFault(
            name, f"expected one of scikit-image's textures, got {texture!r}; known: {', '.join(SKIMAGE_TEXTURES)}"
        )
    spec = importlib.util.find_spec("skimage")
    path = Path(spec.origin).parent / "data" / f"{texture}.png" if spec and spec.origin else None
    if path is None or not path.is_file():
        raise ReferenceFault(name, "this scikit-image does not carry the picture; pip install 'scikit-image>=0.22'")
    return path
