"""Two hundred tasks with results as they come, made cheaply: pictures, verdicts and failures of every kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from material_agent.batch import BatchConfig, TaskResult, TaskSpec
from material_agent.batch.config import task_seed
from material_agent.batch.output import write_outputs
from material_agent.batch.store import open_store
from material_agent.config import RunConfig
from references import SetItem

COUNT = 200
HOSTILE = "<script>window.hacked=1</script>\"'&.png"
STRUCTURES = ("brick", "tiles", "wood", "marble", "noise")


def material(number: int, side: int = 160) -> Image.Image:
    """A picture with a look of its own."""
    y, x = np.mgrid[:side, :side] / side
    rng = np.random.default_rng(number)
    fold = rng.integers(2, 9)
    wave = 0.5 + 0.5 * np.sin(2 * np.pi * fold * (x + 0.1 * np.sin(2 * np.pi * y * rng.integers(1, 6))))
    if number % 3 == 0:
        wave = ((x * fold % 1 > 0.08) & (y * fold % 1 > 0.08)).astype(float)
    colours = rng.uniform(0.1, 0.9, (2, 3))
    return Image.fromarray((255 * (wave[..., None] * colours[0] + (1 - wave[..., None]) * colours[1])).astype(np.uint8))


def make_batch(out: Path, count: int = COUNT) -> list[TaskResult | None]:
    """Write a batch folder; every report is a page of its own."""
    store = open_store(str(out))
    config = BatchConfig(references=("bundled",), out=str(out), run=RunConfig(reference="", out=Path()))
    tasks, results = [], []
    for number in range(count):
        name = HOSTILE if number == 7 else f"material {number:03}.png"
        item = SetItem(f"m{number:03}", name, name)
        folder = f"runs/{item.id}"
        run = config.run.model_copy(update={"seed": task_seed(0, item.id)})
        task = TaskSpec(item, run, "builtin", "", config.models, str(out), folder, {}, "", 1)
        result = _result(task, number)
        tasks.append(task)
        results.append(result)
        if result is not None and result.complete:
            place = out / folder / "thumbs"
            place.mkdir(parents=True)
            material(number).save(place / "reference.webp")
            material(number + number % 2).save(place / "render.webp")
            (out / folder / "report.html").write_text(f"<title>report of {number}</title>")
    write_outputs(store, config, tasks, {one.id: one for one in results if one is not None}, ())
    return results


def _result(task: TaskSpec, number: int) -> TaskResult | None:
    given = {"id": task.id, "name": task.item.name, "folder": task.folder, "seed": task.config.seed}
    if number % 25 == 24:
        return None
    if number % 20 == 19:
        return TaskResult(**given, status="failed", kind="reference", reason=f"{task.item.name}: is empty")
    rng = np.random.default_rng(1000 + number)
    terms = {name: float(rng.uniform(0.3, 1)) for name in ("structure", "appearance", "physical")}
    good = terms["structure"] > 0.6 and terms["appearance"] > 0.5
    failures = tuple(
        f"{name}: {terms[name]:.3f} is not above {least:.3f}"
        for name, least in (("structure", 0.6), ("appearance", 0.5))
        if terms[name] <= least
    )
    return TaskResult(
        **given,
        status="accepted" if good else "not_accepted",
        reason="; ".join(failures),
        failures=failures,
        reward=float(np.mean(list(terms.values()))),
        reseeded=float(np.mean(list(terms.values()))) - 0.01,
        terms={**terms, "compile": 1.0, "budget": 0.1, "physical": None if number % 10 == 0 else terms["physical"]},
        structure=STRUCTURES[number % len(STRUCTURES)],
        attempts=1 + number % 3,
        nodes=10 + number % 30,
        files=dict.fromkeys(("report.html", "thumbs/reference.webp", "thumbs/render.webp"), ""),
    )
