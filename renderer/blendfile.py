"""Materials in .blend files, from the side without bpy: each call runs a Blender process of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph_api.model import Graph
from renderer.errors import BlenderUnavailable, RendererError
from renderer.missing import explain_import_error
from renderer.process import Process
from renderer.protocol import RenderMessage, RenderSettings

TIMEOUT_S = 120.0
_LONGEST_NAME = 63  # of Blender 4; 5 has more
_PREVIEW = RenderSettings(resolution=512)


class BlendFileError(RendererError):
    """A .blend file could not be read or written; the message says which and why."""


@dataclass(frozen=True)
class ImportedMaterial:
    """A material read from a file. `graph` is None when there is none to read; `messages` say what was left out.

    `materials`: every material of the file, also those on no object. `engine`, `view_transform`: the author's own.
    """

    name: str | None
    graph: Graph | None
    materials: tuple[str, ...]
    engine: str
    view_transform: str
    messages: tuple[RenderMessage, ...] = ()


def export_blend(
    graph: Graph,
    path: Path,
    *,
    name: str = "Material",
    into: Path | None = None,
    settings: RenderSettings = _PREVIEW,
    pictures: Mapping[str, Path] | None = None,
) -> tuple[RenderMessage, ...]:
    """Write `graph` as the material `name` (see `block_name`) of a .blend file, with a fake user, so that it is kept.

    The nodes stand in a group whose inputs are the parameters that matter (`graph_api.knobs`), left to right in frames
    by role. A new file holds the flat view: patch, camera, sun, Cycles and the Standard view transform. With `into`,
    that file is opened, the material replaced or added, and everything else kept (engine, view transform, objects).
    Pictures that the material uses are packed, and so are `pictures`, files by the name they get. Raises
    `BlendFileError` and `BlenderUnavailable`.
    """
    if into is not None and not into.is_file():
        raise BlendFileError(f"expected a .blend file, got {str(into)!r}, which does not exist")
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = {title: str(file.resolve()) for title, file in (pictures or {}).items()}
    arguments = (
        graph,
        str(path.resolve()),
        block_name(name),
        None if into is None else str(into.resolve()),
        settings,
        packed,
    )
    messages: tuple[RenderMessage, ...] = _run("export_blend", arguments, path)
    return messages


def import_blend(path: Path, name: str | None = None, *, pictures: Path | None = None) -> ImportedMaterial:
    """Read the material `name`, or the one the file shows, from a .blend file of any version this Blender reads.

    Groups are read in place; reroutes, frames and muted nodes are resolved. Pictures inside the file are written into
    `pictures`, by default a folder of the user's cache, under names made of their content. The graph does not
    depend on the file's engine or view transform. Scripts in the file are not run. Raises `BlendFileError` and
    `BlenderUnavailable`.
    """
    if not path.is_file():
        raise BlendFileError(f"expected a .blend file, got {str(path)!r}, which does not exist")
    folder = str((pictures or picture_folder()).resolve())
    material: ImportedMaterial = _run("import_blend", (str(path.resolve()), name, folder), path)
    return material


def export_gltf(
    maps: Mapping[str, Path], path: Path, *, name: str = "Material", patch_size_m: float = 1.0
) -> tuple[RenderMessage, ...]:
    """Write a .glb with a flat patch of `patch_size_m` metres that shows `maps`, through Blender's exporter.

    `maps`: PNG files of base_color, roughness, metallic and normal (OpenGL), optionally ambient_occlusion. Raises
    `BlendFileError` and `BlenderUnavailable`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    files = {channel: str(file.resolve()) for channel, file in maps.items()}
    # The exporter appends the suffix of its format to any other.
    draft = path.resolve().with_name(f".{path.stem}.partial.glb")
    messages: tuple[RenderMessage, ...] = _run("export_gltf", (files, str(draft), block_name(name), patch_size_m), path)
    draft.replace(path)
    return messages


def block_name(name: str) -> str:
    """A name that Blender takes as it is: without NUL and lone surrogates, at most 63 bytes, never empty."""
    kept = name.replace("\0", "").encode("utf-8", "ignore")[:_LONGEST_NAME].decode("utf-8", "ignore").strip()
    return kept or "Material"


def picture_folder() -> Path:
    """Where pictures that lay inside .blend files are kept: `material-agent/pictures` in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "material-agent" / "pictures"


def _run(task: str, arguments: tuple[object, ...], path: Path) -> Any:
    process = Process("renderer.blender.task", ())
    try:
        process.connection.send((task, arguments))
        if not process.connection.poll(TIMEOUT_S):
            raise BlendFileError(f"{path}: Blender did not finish within {TIMEOUT_S:g} s")
        kind, answer = process.connection.recv()
    except (EOFError, OSError) as error:
        raise BlendFileError(f"{path}: the Blender process ended ({process.exit_text()})") from error
    finally:
        process.kill()
    if kind == "unavailable":
        raise BlenderUnavailable(explain_import_error(answer))
    if kind == "error":
        raise BlendFileError(f"{path}: {answer}")
    return answer
