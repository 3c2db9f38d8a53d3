"""Small pictures, a short script and quick settings for the tests of batches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
from PIL import Image

from material_agent.batch import BatchConfig, Listener
from material_agent.config import RunConfig

ROOT = Path(__file__).resolve().parents[3]
SIDE = 48
# Case L4: names that fall together when only the stem, or only the lower case, counts.
SAME_STEMS = ("a.png", "a.jpg", "A.png", "sub/a.png", "ü b.png")
BROKEN = ("cut.jpg", "empty.png", "noise.png", "small.png", "text.png", "tiny.png")


def picture(path: Path, number: int) -> Path:
    """Stripes that differ by number."""
    path.parent.mkdir(parents=True, exist_ok=True)
    y, x = np.mgrid[:SIDE, :SIDE] / SIDE
    wave = 0.5 + 0.5 * np.sin(2 * np.pi * (2 + number % 5) * (x if number % 2 else y))
    colour = np.random.default_rng(number).uniform(0.2, 1.0, 3)
    Image.fromarray((255 * (0.2 + 0.8 * wave[..., None]) * colour).astype(np.uint8)).save(path)
    return path


def broken(folder: Path) -> None:
    """One of each kind of picture that cannot be used."""
    whole = picture(folder / "cut.jpg", 1).read_bytes()
    (folder / "cut.jpg").write_bytes(whole[: len(whole) * 6 // 10])
    (folder / "empty.png").touch()
    (folder / "text.png").write_text("no picture")
    (folder / "noise.png").write_bytes(b"\x89PNG\r\n\x1a\n" + np.random.default_rng(0).bytes(900))
    Image.new("RGB", (8, 8)).save(folder / "tiny.png")
    Image.new("RGB", (20, 20)).save(folder / "small.png")  # enough to load, too little to judge by


def script(path: Path, *, renders: bool = True) -> Path:
    """A script for the actor: one checker texture, or nothing at all, which costs no Blender."""
    build = [
        {"op": "add_node", "type": "ShaderNodeTexChecker", "id": "checks", "role": "macro"},
        {"op": "connect", "src": "checks.Color", "dst": "principled", "slot": "Base Color"},
        {"op": "render", "view": "flat", "maps": ["beauty"]},
    ]
    end = [{"op": "finish", "outcome": "unfinished", "reason": "the script ends here"}]
    turn = {"reason": "as written", "structure": "checks", "actions": [*(build if renders else []), *end]}
    path.write_text(json.dumps({"attempts": [[turn]], "reflections": []}))
    return path


def settings(references: list[str], out: Path | str, actor: Path, **more: object) -> BatchConfig:
    """A batch of quick tasks."""
    given = {"quality": "draft", "attempts": 1, "network": "off", "step_resolution": 32, "report_resolution": 32}
    run = RunConfig(reference="", out=Path(), **{**given, **more.pop("run", {})})
    # One worker unless a test asks for more: its start costs more than most of these tasks.
    return BatchConfig(
        references=tuple(references), out=str(out), run=run, actor=f"scripted:{actor}", **{"jobs": 1, **more}
    )


class Ears(Listener):
    """Remembers what was done."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.notes: tuple[str, ...] = ()

    def planned(self, board, plan, faults, notes) -> None:
        self.notes = notes

    def ended(self, result) -> None:
        self.done.append(result.id)


def started(references: Path, out: Path, actor: Path, *more: str) -> subprocess.Popen[str]:
    """The same batch by way of the command line, in a process of its own."""
    words = ["batch", str(references), "-o", str(out), "--actor", f"scripted:{actor}", "--attempts", "1", *more]
    command = [sys.executable, "-m", "material_agent.cli", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def family(pid: int) -> list[psutil.Process]:
    """The processes below one."""
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def survivors(processes: list[psutil.Process], patience_s: float = 10.0) -> list[psutil.Process]:
    """Which of these still run after a while."""
    _, alive = psutil.wait_procs(processes, patience_s)
    return [one for one in alive if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


def until(happens, patience_s: float = 60.0) -> None:
    """Wait for something. Fails after a while."""
    end = time.monotonic() + patience_s
    while not happens():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
