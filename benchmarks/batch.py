"""A batch against its bars: time beside single fits, what random kills leave, the driver's memory over many tasks.

    python benchmarks/batch.py [--quick] [--count N] [--kills N] [--tasks N] [--quality draft] [--sheet FILE]

`speed`: N bundled references by `fit` processes one after another, then by one batch of two tasks at once; figures are
ratios, so that a busy machine slows both; --sheet makes a contact sheet of the batch, good and bad alike. `kills`:
thirty references, five of them broken, while the main process and the workers are killed at random moments. `memory`:
tasks that do next to nothing, so that the driver is what is seen.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil

# Python puts this folder first, where a benchmark hides the package of its name.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _report import finish
from _sheet import FloatArray, read_picture, sheet
from PIL import Image

from material_agent.batch import BatchConfig, Listener, TaskResult, gather, run_batch
from material_agent.batch.config import task_seed
from material_agent.config import RunConfig
from references import bundled_names

ROOT = Path(__file__).resolve().parent.parent
IDLE = {"attempts": [[{"reason": "", "actions": [{"op": "finish", "outcome": "unfinished", "reason": "done"}]}]]}
# At least: one over the share of time, one less the share outside, shares of what must hold, flatness.
BARS = {
    "speed_gain": 1 / 0.75,
    "same_results": 1.0,
    "inside_share": 0.98,
    "complete_after_kills": 1.0,
    "without_orphans": 1.0,
    "memory_flat": 1.0,
    "cost_flat": 0.67,
}
PATIENCE_S = 15.0  # for processes to notice that their owner is gone
GROWTH_MB = 20.0  # of the driver between the tenth task and the last: results are kept, at two kilobytes each


def main() -> int:
    """Measure and print; the exit code is 1 below a bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="within 50 s on an idle machine")
    parser.add_argument("--count", type=int, help="references of the speed part; default 24")
    parser.add_argument("--kills", type=int, help="kills; default 10")
    parser.add_argument("--tasks", type=int, help="tasks of the memory part; default 1000")
    parser.add_argument("--quality", default="draft")
    parser.add_argument("--attempts", type=int, default=3)
    parser.add_argument("--sheet", type=Path, help="picture of the batch: references above, results below")
    parser.add_argument("--only", choices=("speed", "kills", "memory"), action="append")
    asked = parser.parse_args()
    defaults = {"count": 2, "kills": 2, "tasks": 40} if asked.quick else {"count": 24, "kills": 10, "tasks": 1000}
    for name, value in defaults.items():
        if getattr(asked, name) is None:
            setattr(asked, name, value)
    parts = {"speed": speed, "kills": kills, "memory": memory}
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="batch-benchmark-") as place:
        for name in asked.only or parts:
            (Path(place) / name).mkdir()
            figures |= parts[name](asked, Path(place) / name)
    bars = {name: bar for name, bar in BARS.items() if name in figures}
    if asked.quick:  # two references share no time: what one task takes alone is the batch's
        bars.pop("speed_gain", None)
        bars.pop("inside_share", None)
    details = {"count": asked.count, "kills": asked.kills, "tasks": asked.tasks, "quality": asked.quality}
    return finish("batch", figures, bars, details=details, packages=("material-agent", "bpy", "torch"))


class Clock(Listener):
    """Notes when the first task was handed out and when the last one ended."""

    def __init__(self) -> None:
        self.first = self.last = 0.0
        self.ends: list[float] = []
        self.memory: list[float] = []

    def progress(self, task: str, state: object) -> None:
        """The first word of a task."""
        self.first = self.first or time.monotonic()

    def ended(self, result: TaskResult) -> None:
        """A task is over."""
        self.last = time.monotonic()
        self.ends.append(self.last)
        self.memory.append(psutil.Process().memory_info().rss / 2**20)


def speed(asked: argparse.Namespace, place: Path) -> dict[str, float]:
    """Single fits one after another beside one batch with two tasks at once."""
    known = bundled_names()
    names = [known[index * len(known) // asked.count] for index in range(min(asked.count, len(known)))]
    seeds = {item.source: task_seed(0, item.id) for item in gather(names).items}
    common = ["--quality", asked.quality, "--attempts", str(asked.attempts), "--quiet"]
    if asked.quick:
        common += ["--max-candidates", "20"]
    start = time.monotonic()
    for name in names:
        _command("fit", name, "--seed", str(seeds[name]), "-o", str(place / "fits" / name), *common)
    alone = time.monotonic() - start
    clock = Clock()
    limits: dict[str, Any] = {"candidates": 20} if asked.quick else {}
    run = RunConfig(reference="", out=Path(), quality=asked.quality, attempts=asked.attempts, limits=limits)
    start = time.monotonic()
    result = run_batch(BatchConfig(references=tuple(names), out=str(place / "batch"), run=run, jobs=2), listener=clock)
    together = time.monotonic() - start
    same = 0
    for one in result.results:
        fitted = json.loads((place / "fits" / one.name / "result.json").read_text())
        final = fitted["final"] or fitted["best"]
        same += (fitted["best"]["graph_hash"], final["evaluation"]["reward"]) == (one.graph_hash, one.reward)
    if asked.sheet is not None:
        sheet([_stack(one, place / "batch") for one in result.results], asked.sheet, 8, 144)
    return {
        "speed_gain": alone / together,
        "same_results": same / len(names),
        "inside_share": (clock.last - clock.first) / together,
        "seconds_for_each_fit": alone / len(names),
        "seconds_for_each_task": together / len(names),
    }


def _stack(result: TaskResult, batch: Path) -> tuple[str, list[FloatArray]]:
    """A result as a column of the sheet: its name and reward, marked when accepted; the reference and the render."""
    folder = batch / result.folder
    pictures = [read_picture(folder / name) for name in ("reference.png", "maps/beauty.png")]
    mark = " +" if result.status == "accepted" else ""
    return f"{result.name} {result.reward or 0:.2f}{mark}", pictures


def kills(asked: argparse.Namespace, place: Path) -> dict[str, float]:
    """SIGKILL of main process and workers in turn, at random moments; the same command goes on each time."""
    total = 12 if asked.quick else 30
    pictures(place / "pictures", total - 5)
    for name in ("b1.png", "b2.png", "b3.png", "b4.jpg", "b5.png"):
        (place / "pictures" / name).write_bytes(b"" if name == "b1.png" else b"\x89PNG\r\n\x1a\nno picture")
    script = ROOT / "examples" / "script.json"
    command = ["batch", str(place / "pictures"), "-o", str(place / "out"), "--jobs", "2", "--attempts", "1"]
    command += ["--actor", f"scripted:{_idle(place) if asked.quick else script}"]
    moments = random.Random(0)
    orphans = 0
    for number in range(asked.kills):
        process = _start(command)
        time.sleep(moments.uniform(3.0, 5.0 if asked.quick else 20.0))
        children = _family(process.pid)
        victim = process.pid if number % 2 == 0 or not children else moments.choice(children).pid
        _kill(victim)
        if victim != process.pid:
            time.sleep(moments.uniform(0.0, 2.0))
            children = [*children, *_family(process.pid)]
            _kill(process.pid)
        process.wait()
        for one in _alive(children):
            print("still there:", one.pid, one.status(), one.cmdline()[-1:], file=sys.stderr)
            orphans += 1
    _start(command).wait()
    rows = json.loads((place / "out" / "summary.json").read_text())["references"]
    records = [json.loads(path.read_text()) for path in (place / "out" / "runs").glob("*/task.json")]
    complete = [one for one in records if one["status"] != "failed"]
    good = {one["sha256"] for one in complete} if len({one["folder"] for one in complete}) == len(complete) else set()
    valid = sum(_valid(place / "out" / one["folder"], one) for one in complete)
    return {
        "complete_after_kills": float(len(good) == valid == total - 5 and len(rows) == total),
        "without_orphans": float(orphans == 0),
    }


def _valid(folder: Path, record: dict[str, Any]) -> bool:
    result = json.loads((folder / "result.json").read_text())
    hashes = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in record["files"]}
    partial = [path for path in folder.rglob("*") if "partial" in path.name]
    return hashes == record["files"] and result["reference"]["sha256"] == record["sha256"] and not partial


def memory(asked: argparse.Namespace, place: Path) -> dict[str, float]:
    """The driver's resident memory after ten tasks and after all, and the pace of the first and last tenth."""
    pictures(place / "pictures", asked.tasks)
    run = RunConfig(reference="", out=Path(), quality="draft", attempts=1, network="off")
    clock = Clock()
    config = BatchConfig(
        references=(str(place / "pictures"),),
        out=str(place / "out"),
        run=run,
        actor=f"scripted:{_idle(place)}",
        jobs=2,
    )
    result = run_batch(config, listener=clock)
    assert not result.failed, result.results[0]
    tenth = max(5, asked.tasks // 10)
    gaps = np.diff(clock.ends)
    growth = clock.memory[-1] - clock.memory[min(9, len(clock.memory) - 1)]
    early, late = float(np.median(gaps[:tenth])), float(np.median(gaps[-tenth:]))
    own = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "memory_flat": float(growth <= GROWTH_MB),
        "cost_flat": early / late,
        "growth_mb": growth,
        "driver_mb": clock.memory[-1],
        "tasks_a_second": len(clock.ends) / (clock.ends[-1] - clock.first),
        "driver_cpu_s": own.ru_utime + own.ru_stime,
    }


def pictures(folder: Path, count: int) -> None:
    """Small pictures that differ."""
    folder.mkdir(parents=True)
    ramp = np.linspace(0, 1, 48)
    for number in range(count):
        wave = 0.5 + 0.5 * np.sin(2 * np.pi * (2 + number % 7) * ramp)
        colour = np.random.default_rng(number).uniform(0.2, 1, 3)
        picture = np.broadcast_to(wave[:, None, None], (48, 48, 1)) * colour * 255
        Image.fromarray(picture.astype(np.uint8)).save(folder / f"p{number:04}.png")


def _idle(place: Path) -> Path:
    path = place / "idle.json"
    path.write_text(json.dumps(IDLE))
    return path


def _command(*words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "material_agent.cli", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)


def _start(words: list[str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "material_agent.cli", *words, "--quiet"]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _family(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def _alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Which of these still run after a while; one that only waits to be taken note of has ended."""
    _, left = psutil.wait_procs(processes, PATIENCE_S)
    running = []
    for one in left:
        try:
            if one.status() != psutil.STATUS_ZOMBIE:
                running.append(one)
        except psutil.Error:
            continue
    return running


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


if __name__ == "__main__":
    sys.exit(main())
