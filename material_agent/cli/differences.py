"""The picture that `evaluate` draws: both materials by scale, and where the candidate is off."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from material_agent.errors import BadInput

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from evaluators.where import Differences

    FloatArray = npt.NDArray[np.float32]

_MARGIN, _HEAD = 6, 18
_STRANGE_DELTA_E = 20.0


def draw_differences(found: Differences, path: Path) -> None:
    """Write a sheet: columns are the picture, macro, meso and micro; rows the reference, the candidate, and the places.

    In the last row white is as the reference, red too strong, blue too weak, and in the first column black is a colour
    that the reference has nowhere. Raises `BadInput` for a name that is no picture's.
    """
    import numpy as np
    from PIL import Image, ImageDraw

    rows: list[list[FloatArray]] = [[found.reference], [found.candidate], [_strangeness(found.colour_delta_e)]]
    for band in found.bands.values():
        spread = max(float(np.quantile(np.abs(band.reference), 0.99)), 0.01)
        for row, part in zip(rows, (band.reference, band.candidate), strict=False):
            row.append(np.repeat(np.clip(0.5 + part / (2 * spread), 0, 1)[..., None], 3, axis=-1))
        rows[2].append(_red_and_blue(band.deviation_db))
    size, heads = found.size, ("picture", *found.bands)
    width = len(heads) * (size + _MARGIN) + _MARGIN
    sheet = Image.new("RGB", (width, 3 * (size + _HEAD) + _MARGIN), (32, 32, 32))
    pen = ImageDraw.Draw(sheet)
    names = ("reference", "candidate", "where it differs")
    for y, (name, row) in enumerate(zip(names, rows, strict=True)):
        for x, (head, part) in enumerate(zip(heads, row, strict=True)):
            left, top = _MARGIN + x * (size + _MARGIN), _HEAD + y * (size + _HEAD)
            sheet.paste(Image.fromarray((255 * part + 0.5).astype(np.uint8)), (left, top))
            pen.text((left, top - _HEAD + 4), f"{name}: {head if name != names[2] else _told(head)}", (230, 230, 230))
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        sheet.save(path)
    except ValueError as error:
        raise BadInput(f"expected a picture's name such as differences.png, got {path}") from error


def _told(head: str) -> str:
    return "strange colours" if head == "picture" else f"{head} red strong, blue weak"


def _strangeness(delta_e: FloatArray) -> FloatArray:
    import numpy as np

    shade = np.clip(1 - delta_e / _STRANGE_DELTA_E, 0, 1)
    return np.asarray(np.repeat(shade[..., None], 3, axis=-1), dtype=np.float32)


def _red_and_blue(deviation_db: FloatArray) -> FloatArray:
    import numpy as np

    from evaluators.where import CEILING_DB

    share = deviation_db / CEILING_DB
    strong, weak = np.clip(share, 0, 1), np.clip(-share, 0, 1)
    shown = np.stack([1 - weak, 1 - np.maximum(strong, weak), 1 - strong], axis=-1)
    return np.asarray(shown, dtype=np.float32)
