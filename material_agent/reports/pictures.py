"""Pictures of a run folder as data URIs, so that the report needs no other file."""

from __future__ import annotations

import base64
import io
from pathlib import Path

from PIL import Image, UnidentifiedImageError


class Album:
    """Loads pictures below one folder, each shrunk to a stated side; a picture that cannot be read is None."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._seen: dict[tuple[str, int], str | None] = {}

    def uri(self, path: str, side: int) -> str | None:
        """The data URI of `path` (relative to the folder), at most `side` pixels wide and high.

        Pictures of up to 160 pixels are thumbnails and lossy; larger ones keep every value.
        """
        key = (path, side)
        if key not in self._seen:
            self._seen[key] = self._load(path, side)
        return self._seen[key]

    def _load(self, path: str, side: int) -> str | None:
        file = (self._folder / path).resolve()
        # A log may come from elsewhere: it must not pull files of this machine into a page that gets passed on.
        if not path or not file.is_relative_to(self._folder) or not file.is_file():
            return None
        try:
            with Image.open(file) as picture:
                picture.load()
                shown = picture.convert("RGB")
        except (OSError, UnidentifiedImageError, Image.DecompressionBombError):
            return None
        if max(shown.size) > side:
            shown.thumbnail((side, side), Image.Resampling.LANCZOS)
        lossy = side <= 160
        buffer = io.BytesIO()
        if lossy:
            shown.save(buffer, "JPEG", quality=88)
        else:
            shown.save(buffer, "PNG", optimize=True)
        kind = "jpeg" if lossy else "png"
        return f"data:image/{kind};base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"
