"""What fidelity and baselines share: references, fits that are not done twice, and how near what came out is."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import psutil
from _sheet import read_picture
from judges import EfficientNetJudge, Judge, StLpipsVggJudge, gap_closed

from evaluators import Candidate, Evaluator, Target
from evaluators.functional.color import srgb_to_linear
from evaluators.functional.texture import TextureStatistics, statistics_distance
from graph_api import reseed
from graph_api.serialize import from_json
from material_agent.actors.base import Actor, AttemptSetup
from material_agent.actors.builtin import BuiltinReflector
from material_agent.calibrate.degrade import phase_scrambled, recoloured
from material_agent.config import RunConfig
from material_agent.fit import run_fit
from references.bundled import bundled
from renderer import BlenderPool, RenderRequest, RenderSettings, linear_to_srgb

FloatArray = npt.NDArray[np.float32]
QUICK = "skimage:gravel"
SKIMAGE = ("skimage:brick", "skimage:grass", "skimage:gravel")
CPU_FILE = "cpu.json"
ELSEWHERE = (4.3, 6.1, 0.0)
"""Where a graph is drawn once more: far enough for another sample of its noises, near enough for float32."""


class _Kept:
    """Statistics of pictures that a judge has seen: every reference serves as another's other."""

    def __init__(self) -> None:
        self._known: dict[int, TextureStatistics] = {}

    def statistics(self, image: npt.ArrayLike) -> TextureStatistics:
        key = hash(np.ascontiguousarray(image).tobytes())
        if key not in self._known:
            self._known[key] = super().statistics(image)  # type: ignore[misc]
        return self._known[key]

    def distance(self, a: npt.ArrayLike, b: npt.ArrayLike) -> float:
        return float(statistics_distance(self.statistics(a), self.statistics(b))[0])


class KeptVgg(_Kept, StLpipsVggJudge):
    """The judge that nothing in the product sees."""


class KeptEfficientNet(_Kept, EfficientNetJudge):
    """The network that the evaluator uses as well, at the finest scale alone."""


@dataclass(frozen=True)
class Reference:
    """What `load_reference` takes, whether the material is regular, and what it is ("" where nobody says)."""

    source: str
    regular: bool
    material: str = ""


def bundled_references() -> dict[str, Reference]:
    """Every bundled reference by name."""
    return {entry.id: Reference(entry.id, entry.lattice is not None, entry.structure) for entry in bundled()}


def find_references(photos: Path | None) -> dict[str, Reference]:
    """Photographs of a folder, with what the manifest.json beside it says of them, and scikit-image's textures."""
    found = {name: Reference(name, False, name.partition(":")[2]) for name in SKIMAGE}
    if photos is None:
        return found
    manifest = photos.parent / "manifest.json"
    known: dict[str, dict[str, Any]] = {}
    if manifest.exists():
        data = json.loads(manifest.read_text("utf-8"))
        entries = data if isinstance(data, list) else next(v for v in data.values() if isinstance(v, list))
        known = {Path(entry["file"]).stem: entry for entry in entries}
    files = [path for path in sorted(photos.iterdir()) if path.suffix.lower() in {".jpg", ".jpeg", ".png"}]
    listed = {
        path.stem: Reference(
            str(path), bool(known.get(path.stem, {}).get("regular")), known.get(path.stem, {}).get("material", "")
        )
        for path in files
    }
    return listed | found


def reference_options(parser: argparse.ArgumentParser, out: str) -> None:
    """The options that say what is fitted, with how much effort and where it goes."""
    parser.add_argument("--photos", type=Path, default=os.environ.get("MATERIAL_AGENT_PHOTOS"))
    parser.add_argument("--bundled", action="store_true", help="the bundled references instead of photographs")
    parser.add_argument("--quality", choices=("draft", "normal", "high"), default="draft")
    parser.add_argument("--out", type=Path, default=Path(out))
    parser.add_argument("--only", default="", help="names of references, separated by commas")
    parser.add_argument("--columns", type=int, default=9, help="pictures in a line of the contact sheet")
    parser.add_argument("--record", type=Path, help="a file for the figures, as JSON")
    parser.add_argument("--quick", action="store_true", help="one reference on a tiny budget, for a check")


def chosen_references(options: argparse.Namespace) -> tuple[dict[str, Reference], list[str]]:
    """All references that the options name, and those of them to fit."""
    sources = bundled_references() if options.bundled else find_references(options.photos and Path(options.photos))
    only = [QUICK] if options.quick else options.only.split(",") if options.only else list(sources)
    return sources, [name for name in sources if name in only]


def run_config(
    name: str, source: str, out: Path, arm: str, seed: int, attempts: int, options: argparse.Namespace
) -> RunConfig:
    """The settings of one fit of an arm; its folder is under `out`."""
    base = out.with_name(out.name + "-quick") if options.quick else out
    return RunConfig(
        reference=source, out=base / name.replace(":", "_") / arm, seed=seed, quality=options.quality,
        attempts=attempts, limits={"candidates": 60} if options.quick else {},
    )  # fmt: skip


def processor_seconds() -> float:
    """Processor time of this process, its Blender workers and the workers that have ended."""
    here = psutil.Process()
    total = 0.0
    for process in (here, *here.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            t = process.cpu_times()
            total += t.user + t.system + t.children_user + t.children_system
    return total


def fitted(config: RunConfig, make: Callable[[AttemptSetup], Actor], pool: BlenderPool, *, reflect: bool = True) -> Any:
    """The run's result as plain data; a finished run in the folder is taken as it is."""
    record = config.out / "result.json"
    if not (record.exists() and (config.out / "maps" / "beauty.png").exists()):
        before = processor_seconds()
        run_fit(
            config, actor_factory=make, reflector=BuiltinReflector() if reflect else None, renderer=pool, overwrite=True
        )
        (config.out / CPU_FILE).write_text(json.dumps(processor_seconds() - before), "utf-8")
    result = json.loads(record.read_text("utf-8"))
    spent = config.out / CPU_FILE
    return result | {"cpu_seconds": json.loads(spent.read_text("utf-8")) if spent.exists() else float("nan")}


def picture(folder: Path) -> FloatArray:
    """The final beauty of a run, sRGB in [0, 1]."""
    return read_picture(folder / "maps" / "beauty.png")


def views(folder: Path) -> list[FloatArray]:
    """The tilt and sphere views of a run, sRGB in [0, 1]; black where Blender did not draw one."""
    paths = [folder / "views" / f"{view}.png" for view in ("tilt", "sphere")]
    return [read_picture(path) if path.exists() else np.zeros((64, 64, 3), np.float32) for path in paths]


def drawn_elsewhere(folder: Path, side: int, pool: BlenderPool) -> FloatArray:
    """The final graph of a run drawn at another place of its noises, sRGB in [0, 1]."""
    graph = reseed(from_json((folder / "graph.json").read_text("utf-8")), ELSEWHERE)
    result = pool.render(RenderRequest(graph, "flat", ("beauty",), RenderSettings(resolution=side)))
    if not result.ok:
        raise RuntimeError(f"{folder} could not be drawn at another place: {result.status}")
    return np.asarray(linear_to_srgb(np.clip(result.channels["beauty"], 0, 1)), dtype=np.float32)


def scrambled(image: FloatArray) -> FloatArray:
    """The null of stationary materials: the picture's own spectrum and colours, without its structure."""
    return recoloured(phase_scrambled(image, 1.0, np.random.default_rng(0)), image)


def flat_color(image: FloatArray) -> FloatArray:
    """The picture's mean colour."""
    return np.full_like(image, 1.0) * image.mean(axis=(0, 1), keepdims=True)


class Scale:
    """Scores of pictures against one reference of a set: reward on the beauty alone, and gaps closed by two judges."""

    def __init__(self, name: str, pictures: Mapping[str, FloatArray], judges: tuple[Judge, Judge]) -> None:
        self._reference = pictures[name]
        self._others = [image for other, image in pictures.items() if other != name]
        self._evaluator = Evaluator(Target.from_image(self._reference))
        self._judges = judges
        self.own = gap_closed(self._reference, self._reference, self._others, judges[0]).own

    def reward(self, image: FloatArray) -> float:
        """The committed evaluator's reward."""
        beauty = srgb_to_linear(image).astype(np.float32)
        return self._evaluator.evaluate(Candidate({"beauty": beauty})).reward

    def gaps(self, image: FloatArray) -> tuple[float, float]:
        """Gap closed under ST-LPIPS VGG, and under EfficientNet-Lite0."""
        vgg, features = (gap_closed(image, self._reference, self._others, judge).value for judge in self._judges)
        return vgg, features
