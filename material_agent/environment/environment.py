"""The environment: the one room where graph, renderer, evaluator, rules and ledger meet.

It takes an action and gives an observation. The inner loop, searches, tests and every other front end come through
`step` or `try_many`; there is no third way to change or to judge a graph.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np

from evaluators.result import Candidate, Evaluation
from graph_api import (
    ActionRejected,
    Ban,
    Catalog,
    Lock,
    Rules,
    action_to_json,
    apply,
    content_hash,
    load_catalog,
    summary_text,
    validate,
)
from graph_api.actions import (
    AddNode,
    Connect,
    Disconnect,
    Edit,
    Finish,
    InspectGraph,
    Note,
    RemoveNode,
    Render,
    SetParam,
)
from graph_api.model import Graph
from material_agent.budget import Ledger
from material_agent.context import Task
from material_agent.environment.bench import errors_of, run_candidates
from material_agent.environment.best import PROGRESS, Best, Recorder
from material_agent.environment.gate import Evidence, missing_evidence
from material_agent.environment.scene import CHANNELS, Judge, Scene, Settings
from material_agent.environment.tally import Tally
from material_agent.environment.tune import affordable, knobs_of, search
from material_agent.events import Evaluated, Log, Observed, Proposal, Thought, WorkerLost, evaluation_record
from material_agent.observation import FloatArray, Judging, Observation, Trial
from material_agent.proposals import BadCall, Proposed, Tune, proposed_to_json
from renderer.protocol import Channel, Renderer

TUNE_RESOLUTION = 256


class Environment:
    """Graph, renderer, evaluator, rules and ledger behind two doors: `step` and `try_many`."""

    def __init__(
        self,
        task: Task,
        renderer: Renderer,
        evaluator: Judge,
        ledger: Ledger,
        log: Log,
        settings: Settings | None = None,
        recorder: Recorder | None = None,
        sketcher: Renderer | None = None,
    ) -> None:
        """`sketcher` draws the candidates of a search that the full evaluator does not see; see `Scene`."""
        self.task = task
        self.settings = settings or Settings()
        self._scene = Scene(renderer, self.settings, task.patch_size_m, sketcher)
        self._judge = evaluator
        self._ledger = ledger
        self._log = log
        self._recorder = recorder
        self.attempt = 0

    def reset(
        self, start_graph: Graph, bans: Sequence[Ban] = (), locks: Sequence[Lock] = (), attempt: int = 1
    ) -> Observation:
        """Begin an attempt from `start_graph`, under these bans and locks; nothing else is left of the one before."""
        self.attempt = attempt
        self.rules = Rules(tuple(bans) if self.settings.enforce else (), tuple(locks), self.settings.max_nodes)
        self.tally = Tally()
        self.finished: Finish | None = None
        self.best: Best | None = None
        self._catalog: Catalog = load_catalog(start_graph.blender_version)
        self._judged: tuple[str, Evaluation] | None = None
        self._answered: set[tuple[str, str]] = set()
        self._set_graph(start_graph)
        return self._observe("reset", "ok", messages=("attempt started",), text=self._summary())

    @property
    def graph(self) -> Graph:
        """The present graph."""
        return self._graph

    @property
    def graph_hash(self) -> str:
        """The content hash of the present graph."""
        return self._hash

    @property
    def evaluation(self) -> Evaluation | None:
        """The last verdict; stale when `edited_since_render`."""
        return self._judged[1] if self._judged else None

    @property
    def edited_since_render(self) -> bool:
        """Whether the present graph differs from the one that was last judged."""
        return self._judged is None or self._judged[0] != self._hash

    @property
    def compile_problems(self) -> tuple[str, ...]:
        """What keeps the present graph from being rendered; empty when it compiles."""
        return errors_of(validate(self._graph, self._catalog))

    @property
    def remaining(self) -> Mapping[str, float]:
        """What the ledger has left."""
        return self._ledger.remaining

    def step(self, action: Proposed) -> Observation:
        """Do one action and answer with what happened.

        Raises `BudgetExhausted` when the ledger does not allow it; every other failure is an observation.
        """
        if isinstance(action, Note):
            self._log.write(Thought(text=action.text), self.attempt)
            return self._observe(action.op, "ok", write=False)
        price = self._price(action)
        self._ledger.require(**price)
        self._ledger.charge(**price)
        self.tally.since_progress += 1
        self._log.write(Proposal(observation=self._next_id(), action=proposed_to_json(action)), self.attempt)
        handler: Callable[[Environment, Any], Observation] = HANDLERS[type(action)]
        return handler(self, action)

    def try_many(
        self,
        candidates: Sequence[Sequence[Edit]],
        *,
        resolution: int = 128,
        channels: tuple[str, ...] = ("beauty",),
        judge: Judging = "screen",
    ) -> list[Trial]:
        """Search: see `Bench.try_many`."""
        return run_candidates(
            self._graph,
            candidates,
            rules=self.rules,
            catalog=self._catalog,
            scene=self._scene,
            evaluator=self._judge,
            ledger=self._ledger,
            log=self._log,
            tally=self.tally,
            attempt=self.attempt,
            resolution=resolution,
            channels=cast("tuple[Channel, ...]", channels),
            judge=judge,
        )

    def restore(self, graph: Graph) -> Observation:
        """Go back to a graph of this attempt that was here before, as one action. Raises `BudgetExhausted`."""
        self._ledger.require(actions=1)
        self._ledger.charge(actions=1)
        self._log.write(Proposal(observation=self._next_id(), action={"op": "revert"}), self.attempt)
        self._set_graph(graph)
        return self._observe("revert", "ok", text=self._summary())

    def _edit(self, action: Edit) -> Observation:
        try:
            applied = apply(self._graph, action, self._catalog, self.rules)
        except ActionRejected as error:
            self.tally.rejected += 1
            return self._observe(action.op, "rejected", messages=(str(error),))
        before = self._hash
        self._set_graph(applied.graph)
        useless = self._hash == before
        self.tally.useless += useless
        notices = (
            *(notice.message for notice in applied.notices),
            *(("this action changed nothing",) if useless else ()),
        )
        return self._observe(
            action.op, "ok", changed=applied.changes, messages=notices, node=applied.node, useless=useless
        )

    def _bad_call(self, call: BadCall) -> Observation:
        self.tally.rejected += 1
        return self._observe(call.op, "rejected", messages=(call.error,))

    def _tune(self, action: Tune) -> Observation:
        try:
            knobs = knobs_of(self._graph, action, self._catalog, allowed=self.settings.tune)
            action = affordable(action, self.remaining.get("candidates"))
        except ActionRejected as error:
            self.tally.rejected += 1
            return self._observe(action.op, "rejected", messages=(str(error),))
        problems = self.compile_problems
        if problems:
            self.tally.rejected += 1
            return self._observe(action.op, "rejected", messages=tuple(f"does not compile: {p}" for p in problems))
        resolution = min(TUNE_RESOLUTION, self.settings.resolution)
        found = search(self._graph, action, knobs, self, resolution)
        said = f"{action.goal} {found.before:.3f} → {found.after:.3f} over {found.tried} candidates at {resolution} px"
        if not found.edits:
            self.tally.useless += 1
            return self._observe(action.op, "ok", messages=(f"{said}: nothing beat the present values",), useless=True)
        graph = self._graph
        for edit in found.edits:
            graph = apply(graph, edit, self._catalog, self.rules).graph
        self._set_graph(graph)
        return self._observe(action.op, "ok", changed=found.moved, messages=(said,))

    def _inspect(self, action: InspectGraph) -> Observation:
        useless = self._already_answered(action)
        problems = tuple(f"does not compile: {text}" for text in self.compile_problems)
        return self._observe(action.op, "ok", messages=problems, text=self._summary(), useless=useless)

    def _finish(self, action: Finish) -> Observation:
        evaluation = None if self.edited_since_render else self.evaluation
        missing = missing_evidence(action, Evidence(evaluation, self.compile_problems))
        if missing:
            self.tally.rejected += 1
            return self._observe(action.op, "rejected", messages=missing)
        self.finished = action
        return self._observe(action.op, "ok", messages=(f"attempt finished: {action.outcome}",))

    def _render(self, action: Render) -> Observation:
        unknown = [name for name in action.maps if name not in CHANNELS]
        if unknown or action.view not in ("flat", "tilt", "sphere"):
            self.tally.rejected += 1
            text = f"expected maps and a view that exist, got {[*unknown, action.view]}; known: {', '.join(CHANNELS)}"
            return self._observe(action.op, "rejected", messages=(text,))
        useless = self._already_answered(action)
        problems = self.compile_problems
        if problems:
            return self._compile_failed(action, problems)
        self.tally.samples_pixels += self._scene.cost()
        flat = action.view == "flat"
        if flat:
            self._judged = None  # whatever happens now, the former picture is no longer evidence
        channels = CHANNELS if flat else cast("tuple[Channel, ...]", action.maps)
        result = self._scene.render(self._graph, action.view, channels)
        texts = tuple(f"{message.level}: {message.text}" for message in result.messages)
        if result.status == "compile_error":
            return self._compile_failed(action, texts or ("Blender reported an error",))
        if not result.ok:
            self._log.write(WorkerLost(observation=self._next_id(), status=result.status, messages=texts), self.attempt)
            return self._observe(action.op, "error", messages=(f"render failed: {result.status}", *texts))
        return self._rendered(action, result.channels, texts, useless)

    def _rendered(
        self, action: Render, channels: Mapping[str, FloatArray], texts: tuple[str, ...], useless: bool
    ) -> Observation:
        observation = self._next_id()
        shown = {name: channels[name] for name in action.maps if name in channels}
        paths = {name: self._save(observation, action.view, name, pixels) for name, pixels in shown.items()}
        facts = self.tally.facts(len(self._graph.nodes))
        evaluation = self._judge.evaluate(Candidate(channels, facts)) if action.view == "flat" else None
        answer = self._observe(
            action.op,
            "ok",
            messages=texts,
            view=action.view,
            images=shown,
            paths={name: path for name, path in paths.items() if path},
            evaluation=evaluation,
            useless=useless,
        )
        if evaluation is not None:
            self._judged = (self._hash, evaluation)
            self._note_best(Best(self._graph, evaluation, observation, self.attempt, facts, channels))
        return answer

    def _compile_failed(self, action: Render, problems: tuple[str, ...]) -> Observation:
        self.tally.rejected += 1
        facts = self.tally.facts(len(self._graph.nodes), problems)
        evaluation = self._judge.evaluate(Candidate({}, facts))
        self._judged = (self._hash, evaluation)
        messages = tuple(f"does not compile: {text}" for text in problems)
        return self._observe(action.op, "rejected", messages=messages, view=action.view, evaluation=evaluation)

    def _note_best(self, candidate: Best) -> None:
        before = self.best.evaluation.reward if self.best else -np.inf
        if candidate.beats(self.best):
            self.best = candidate
            if candidate.evaluation.reward > before + PROGRESS:
                self.tally.since_progress = 0
        if self._recorder is not None:
            self._recorder.judged(candidate)

    def _save(self, observation: str, view: str, channel: str, pixels: FloatArray) -> str:
        if self._recorder is None:
            return ""
        name = channel if view == "flat" else f"{view}.{channel}"
        return self._recorder.save_picture(f"{observation}.{name}", self.attempt, channel, pixels)

    def _price(self, action: Proposed) -> dict[str, float]:
        if isinstance(action, Render):
            return {"actions": 1, "renders": 1, "samples_pixels": self._scene.cost()}
        return {"actions": 1}

    def _already_answered(self, question: Render | InspectGraph) -> bool:
        key = (self._hash, json.dumps(action_to_json(question), sort_keys=True))
        known = key in self._answered
        self._answered.add(key)
        self.tally.useless += known
        return known

    def _set_graph(self, graph: Graph) -> None:
        self._graph = graph
        self._hash = content_hash(graph)

    def _summary(self) -> str:
        return summary_text(self._graph)

    def _next_id(self) -> str:
        return f"a{self.attempt}.o{self.tally.observations}"

    def _observe(
        self,
        op: str,
        status: Literal["ok", "rejected", "error"],
        *,
        changed: Sequence[str] = (),
        messages: Sequence[str] = (),
        node: str | None = None,
        text: str = "",
        view: str = "",
        images: Mapping[str, FloatArray] | None = None,
        paths: Mapping[str, str] | None = None,
        evaluation: Evaluation | None = None,
        useless: bool = False,
        write: bool = True,
    ) -> Observation:
        observation = Observation(
            id=self._next_id(),
            op=op,
            status=status,
            changed=tuple(changed),
            messages=tuple(messages),
            node=node,
            summary=text,
            view=view,
            images=images or {},
            image_paths=paths or {},
            evaluation=evaluation,
            remaining=self.remaining,
        )
        self.tally.observations += 1
        if write:
            self._log_observation(observation, useless)
        return observation

    def _log_observation(self, seen: Observation, useless: bool) -> None:
        event = Observed(
            id=seen.id,
            op=seen.op,
            status=seen.status,
            changed=seen.changed,
            messages=seen.messages,
            node=seen.node,
            view=seen.view,
            images=dict(seen.image_paths),
            graph_hash=self._hash,
            useless=useless,
        )
        self._log.write(event, self.attempt)
        if seen.evaluation is not None:
            record = evaluation_record(seen.evaluation)
            self._log.write(Evaluated(observation=seen.id, graph_hash=self._hash, evaluation=record), self.attempt)


HANDLERS: dict[type[Any], Callable[[Environment, Any], Observation]] = {
    AddNode: Environment._edit,
    Connect: Environment._edit,
    SetParam: Environment._edit,
    RemoveNode: Environment._edit,
    Disconnect: Environment._edit,
    InspectGraph: Environment._inspect,
    Finish: Environment._finish,
    Render: Environment._render,
    Tune: Environment._tune,
    BadCall: Environment._bad_call,
}
