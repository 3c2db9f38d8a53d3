"""The pictures of an imported material as files: on disk where they are, otherwise taken out of the .blend file."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from graph_api.ids import safe_id
from renderer.blender.types import Bpy

# Blender's name of a format, and how its files end.
_FORMATS = {"PNG": ".png", "OPEN_EXR": ".exr", "JPEG": ".jpg", "HDR": ".hdr", "TIFF": ".tif", "TARGA": ".tga",
            "BMP": ".bmp", "WEBP": ".webp", "OPEN_EXR_MULTILAYER": ".exr"}  # fmt: skip
_UNREAD = {"TILED": "UDIM tiles", "SEQUENCE": "image sequences", "MOVIE": "movies", "VIEWER": "render results"}


def picture_path(image: Bpy, folder: str) -> tuple[str | None, str]:
    """Path of the image's file and a warning, empty when there is none; the path is None for what no file can hold.

    What is packed or generated is written into `folder` under a name made of its content.
    """
    if image.source in _UNREAD:
        return None, f"{_UNREAD[image.source]} are not read ({image.name!r})"
    if image.source == "GENERATED":
        return _generated(image, folder)
    packed = image.packed_file
    if packed is not None:
        data = bytes(packed.data)
        suffix = Path(image.filepath).suffix or _FORMATS.get(image.file_format, ".png")
        return _keep(data, image.name, suffix, folder), ""
    path = image.filepath_from_user()
    path = os.path.normpath(path) if path else ""
    if not path:
        return None, f"the picture {image.name!r} has no file"
    return path, "" if Path(path).is_file() else f"the picture {image.filepath!r} cannot be read"


def _keep(data: bytes, name: str, suffix: str, folder: str) -> str:
    target = Path(folder) / f"{safe_id(Path(name).stem)[:24]}-{hashlib.sha256(data).hexdigest()[:16]}{suffix.lower()}"
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f".{os.getpid()}{target.name}")
        partial.write_bytes(data)
        partial.replace(target)
    return str(target)


def _generated(image: Bpy, folder: str) -> tuple[str | None, str]:
    """Pixels that Blender made or somebody painted, saved as they are."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    kind = "OPEN_EXR" if image.is_float else "PNG"
    draft = Path(folder) / f".{os.getpid()}-draft{_FORMATS[kind]}"
    before = image.filepath_raw, image.file_format
    try:
        image.filepath_raw, image.file_format = str(draft), kind
        image.save()
        return _keep(draft.read_bytes(), image.name, _FORMATS[kind], folder), ""
    except (RuntimeError, OSError) as error:
        return None, f"the picture {image.name!r} cannot be saved: {' '.join(str(error).split())}"
    finally:
        image.filepath_raw, image.file_format = before
        image.source = "GENERATED"  # saving has made a file of it
        draft.unlink(missing_ok=True)
