"""The run folder: where everything of a run lies, and how it is written so that a kill leaves whole files."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from PIL import Image

from evaluators.pictures import centre_square
from material_agent.errors import BadInput
from material_agent.observation import FloatArray
from renderer.images import encode, linear_to_srgb, quantize, write_png
from renderer.protocol import Channel

GUTTER_PX = 8
FOLDERS = ("attempts", "maps", "views")
FILES = (
    "result.json",
    "graph.json",
    "material.blend",
    "material.py",
    "comparison.png",
    "reference.png",
    "report.html",
    "memory.sqlite",
    "memory.sqlite-wal",
    "memory.sqlite-shm",
    "events.jsonl",
)


class RunFolder:
    """Names and atomic writes of one run's files."""

    def __init__(self, root: Path) -> None:
        """Raises `BadInput` when `root` cannot be a folder."""
        self.root = root
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"expected a folder to write to, got {str(root)!r}: {error.strerror}") from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for this run: two that write one log would spoil it. The system lets go when we die.

        Raises `BadInput` when another run holds it.
        """
        handle = os.open(self.root, os.O_RDONLY)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BadInput(
                    f"expected a run folder of one's own, got {self.root}, where a run is going on"
                ) from None
            for name in FILES:  # a run that was killed while it wrote has left the half
                _partial(self.root / name).unlink(missing_ok=True)
            yield
        finally:
            os.close(handle)

    @property
    def events(self) -> Path:
        """The event log."""
        return self.root / "events.jsonl"

    @property
    def memory(self) -> Path:
        """The run's own memory."""
        return self.root / "memory.sqlite"

    @property
    def result(self) -> Path:
        """The result."""
        return self.root / "result.json"

    @property
    def used(self) -> bool:
        """Whether a run has been here."""
        return self.events.exists() or self.result.exists()

    def clear(self) -> None:
        """Remove what a run wrote here, and nothing else."""
        for name in FOLDERS:
            shutil.rmtree(self.root / name, ignore_errors=True)
        for name in FILES:
            (self.root / name).unlink(missing_ok=True)

    def path(self, name: str) -> Path:
        """A path inside the folder."""
        return self.root / name

    def write(self, name: str, fill: Callable[[Path], object]) -> str:
        """Write a file through a temporary one beside it, so that the name always means a whole file."""
        target = self.root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = _partial(target)
        try:
            fill(partial)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
        return name

    def write_text(self, name: str, text: str) -> str:
        """Write text atomically."""
        return self.write(name, lambda path: path.write_text(text, "utf-8", errors="replace"))

    def write_json(self, name: str, data: Mapping[str, Any]) -> str:
        """Write JSON atomically."""
        return self.write_text(name, json.dumps(data, indent=2, ensure_ascii=False) + "\n")

    def write_channel(self, name: str, channel: str, pixels: FloatArray) -> str:
        """Write a channel as an 8-bit PNG in the channel's usual encoding."""
        bits = quantize(encode(cast("Channel", channel), pixels).pixels)
        return self.write(name, lambda path: write_png(path, bits))

    def write_picture(self, name: str, image_srgb: FloatArray) -> str:
        """Write a display-referred picture in [0, 1] as an 8-bit PNG."""
        return self.write(name, lambda path: write_png(path, quantize(image_srgb)))

    def write_comparison(self, name: str, reference_srgb: FloatArray, beauty_linear: FloatArray) -> str:
        """Write reference and render side by side, the reference cut to its central square and scaled to the render."""
        side = beauty_linear.shape[0]
        left = _scaled(quantize(centre_square(reference_srgb)), side)
        right = quantize(linear_to_srgb(beauty_linear))
        gutter = np.full((side, GUTTER_PX, 3), 255, np.uint8)
        picture = np.concatenate([left, gutter, right.astype(np.uint8)], axis=1)
        return self.write(name, lambda path: write_png(path, picture))


def _partial(target: Path) -> Path:
    return target.with_name(f".{target.stem}.partial{target.suffix}")


def _scaled(square: npt.NDArray[Any], side: int) -> npt.NDArray[np.uint8]:
    return np.asarray(Image.fromarray(square).resize((side, side), Image.Resampling.LANCZOS), np.uint8)
