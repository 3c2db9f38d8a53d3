"""One task, from its description to its record: the same function for every engine."""

from __future__ import annotations

import io
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from PIL import Image

from evaluators import EvaluatorError, WeightsUnavailableError
from material_agent.api import fit_material
from material_agent.batch.config import Afterwards, TaskSpec
from material_agent.batch.result import LEARNT, RECORD, Kind, TaskResult, completed, failed
from material_agent.batch.store import open_store, sha256_of
from material_agent.errors import BadInput, MaterialAgentError
from material_agent.events import Event
from material_agent.fit import RunFolder, RunResult
from material_agent.memory import Memory
from references import Reference, ReferenceFault
from renderer import BlenderPool, RendererError

THUMB_SIDE = 320  # twice the width of a card's picture, for dense screens
THUMBS = {"reference": "thumbs/reference.webp", "render": "thumbs/render.webp"}
LOCK_PATIENCE_S = 15.0  # a worker that lost its batch needs a moment to notice and to let go of the folder
_RUNNING = "a run is going on"

# The first class that fits decides.
_KINDS: tuple[tuple[type[Exception], Kind], ...] = (
    (ReferenceFault, "reference"),
    (WeightsUnavailableError, "environment"),
    (EvaluatorError, "reference"),
    (RendererError, "environment"),
    (MaterialAgentError, "input"),
    (OSError, "system"),
    (MemoryError, "system"),
)


def run_task(
    spec: TaskSpec, *, renderer: BlenderPool | None = None, progress: Callable[[Event], None] | None = None
) -> TaskResult:
    """Fit one material and write its folder, the record last; every known fault becomes a failed result.

    What lies in the folder from an earlier try is replaced: a task starts from its beginning, so that interruptions
    never change a result. Raises what no table knows: a fault of ours, which whoever runs the task reports.
    """
    started = time.monotonic()
    store = open_store(spec.store)
    try:
        with _workplace(spec, store.local(spec.folder)) as folder:
            return _fit(spec, folder, renderer, progress)
    except tuple(kind for kind, _ in _KINDS) as error:
        kind = next(name for cls, name in _KINDS if isinstance(error, cls))
        result = failed(spec, kind, str(error) or type(error).__name__, time.monotonic() - started)
        write_record(spec, result)
        return result


def write_record(spec: TaskSpec, result: TaskResult) -> None:
    """Put a result beside its files; a place that cannot be written to has nothing to add to a failure."""
    try:
        open_store(spec.store).write(f"{spec.folder}/{RECORD}", record_bytes(result))
    except OSError:
        if result.complete:
            raise


def record_bytes(result: TaskResult) -> bytes:
    """A result as the content of its file."""
    return (json.dumps(result.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n").encode()


@contextmanager
def _workplace(spec: TaskSpec, own: Path | None) -> Iterator[Path]:
    """The folder to run in: the task's own, or one of this machine whose files are then uploaded."""
    if own is not None:
        (own / RECORD).unlink(missing_ok=True)
        yield own
        return
    with tempfile.TemporaryDirectory(prefix="material-agent-task-") as place:
        yield Path(place) / "run"


def _fit(
    spec: TaskSpec, folder: Path, renderer: BlenderPool | None, progress: Callable[[Event], None] | None
) -> TaskResult:
    store = open_store(spec.store)
    remote = store.local(spec.folder) is None
    with ExitStack() as stack:
        reference = _load(spec, stack)
        thumbs = {"reference": _thumbnail(reference)}
        config = spec.config.model_copy(update={"out": folder})
        shared: Memory | None = None
        if spec.memory is not None:
            place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="material-agent-memory-")))
            config = config.model_copy(update={"shared_memory": place / "memory.sqlite"})
            shared = Memory(place / "memory.sqlite")
            shared.put(json.loads(spec.memory))
        _wait_for(folder)
        run = fit_material(
            config,
            actor=spec.actor,
            reflector=spec.reflector,
            models=spec.models,
            reference=reference,
            run_id=spec.fingerprint[:12],
            renderer=renderer,
            progress=progress,
            overwrite=True,
        )
        if run.outcome == "interrupted":
            raise KeyboardInterrupt
        beauty = folder / "maps" / "beauty.png"
        if beauty.is_file():
            with Image.open(beauty) as picture:
                thumbs["render"] = _webp(picture.convert("RGB"))
        whole = RunFolder(folder)
        for name, data in thumbs.items():
            whole.write(THUMBS[name], partial(Path.write_bytes, data=data))
        if spec.afterwards is not None:
            _look_again(spec.afterwards, folder, run, renderer)
        if shared is not None:
            whole.write_json(LEARNT, shared.rows(run=run.run))
        result = completed(spec, run, _checksums(folder))
        if remote:
            store.upload(spec.folder, folder)
        write_record(spec, result)
        return result


def _look_again(step: Afterwards, folder: Path, run: RunResult, renderer: BlenderPool | None) -> None:
    if renderer is not None:
        step(folder, run, renderer)
        return
    with BlenderPool(1) as own:
        step(folder, run, own)


def _load(spec: TaskSpec, stack: ExitStack) -> Reference:
    """The picture; from the bytes in the task when it brought them, under its own file name."""
    item = spec.item
    place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="material-agent-picture-")))
    if spec.picture is not None:
        item = replace(item, source=_copy(place / "picture", item.source, spec.picture))
    if spec.mask is not None:
        mask = Path(_copy(place / "mask", str(item.preparation.mask), spec.mask))
        item = replace(item, preparation=replace(item.preparation, mask=mask))
    return item.load()


def _copy(folder: Path, name: str, data: bytes) -> str:
    folder.mkdir()
    path = folder / (Path(name).name or "picture")
    path.write_bytes(data)
    return str(path)


def _wait_for(folder: Path) -> None:
    """Wait until a run of a batch that was killed has let go of the folder. Raises `BadInput` when none does."""
    end = time.monotonic() + LOCK_PATIENCE_S
    while True:
        try:
            with RunFolder(folder).locked():
                return
        except BadInput as error:
            if _RUNNING not in str(error) or time.monotonic() > end:
                raise
        time.sleep(0.1)


def _checksums(folder: Path) -> dict[str, str]:
    """sha256 of every file of a finished run, by path. The log of a worker is no part of the result."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in files}
    return {name: sha256_of(path) for name, path in names.items() if name not in (RECORD, "worker.log")}


def _thumbnail(reference: Reference) -> bytes:
    picture = (reference.image_srgb * 255 + 0.5).astype("uint8")
    return _webp(Image.fromarray(picture))


def _webp(picture: Image.Image) -> bytes:
    small = picture.resize((THUMB_SIDE, THUMB_SIDE), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    small.save(buffer, "WEBP", quality=82)
    return buffer.getvalue()
