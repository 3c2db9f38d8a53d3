"""The outer loop: attempts, each from the start graph with a fresh actor; what crosses is memory alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from graph_api import BanInvalid, Catalog, Lock, Rules, content_hash, to_json
from graph_api.model import Graph
from material_agent.actors.base import ActorFactory, AttemptSetup, Reflector
from material_agent.budget import Ledger
from material_agent.config import attempt_seed
from material_agent.context import Feedback, Step, Task
from material_agent.context_config import PARTS, WHOLE, ContextConfig, Part
from material_agent.environment import PROGRESS, Environment
from material_agent.errors import ActorError, BudgetExhausted, ReflectionRefused
from material_agent.events import AttemptEnded, AttemptStarted, Log, OriginRecord, Reflected, UptakeMeasured
from material_agent.memory import (
    Memory,
    Origin,
    OutcomeRecord,
    Reflection,
    Remembered,
    Window,
    observation_figures,
    reflection_to_json,
)
from material_agent.react import Attempt, Brief, Inner, StopRules
from material_agent.reflexion.feedback import feedback_on
from material_agent.reflexion.uptake import Uptake, measure_uptake
from material_agent.reflexion.validate import Ground, check_reflection
from references.analysis import Analysis

REFLECTION_TRIES = 2  # a refused reflection is asked for once more, with the reasons


@dataclass(frozen=True)
class Plan:
    """What the outer loop is to do.

    `run` identifies the run in memory, `reference` the picture by its content; `features` describe it for retrieval.
    `context`: what actors are shown and what crosses attempts; `parts` and `told`: of the decomposition, as left by it.
    """

    run: str
    reference: str
    seed: int
    attempts: int
    window: Window
    stop: StopRules
    start: Graph
    catalog: Catalog
    features: tuple[float, ...] = ()
    locks: tuple[Lock, ...] = ()
    keep_last_reflection: bool = False
    context: ContextConfig = WHOLE
    parts: tuple[Part, ...] = PARTS
    told: str = ""

    @property
    def reflects(self) -> bool:
        """Whether reflections are what crosses attempts."""
        return self.context.memory == "reflections"


@dataclass(frozen=True)
class Ended:
    """What is kept of an attempt that is over: enough to go on from after a resume."""

    number: int
    outcome: str
    stop: str
    reason: str
    label: str
    reward: float | None
    structure: str
    turns: int
    observation: str | None = None

    @property
    def ends_run(self) -> bool:
        """Whether no attempt may follow: accepted, the budget spent, or nobody there to act."""
        return self.outcome == "success" or self.stop in ("budget", "actor_gone")


@dataclass
class Progress:
    """Where the outer loop stands; a resume fills it from the events."""

    ended: list[Ended] = field(default_factory=list)
    seen: dict[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)
    measured: set[str] = field(default_factory=set)


class Outer:
    """The Reflexion loop of one run."""

    def __init__(
        self,
        plan: Plan,
        task: Task,
        decomposition: Analysis | None,
        environment: Environment,
        memory: Memory,
        ledger: Ledger,
        log: Log,
        progress: Progress | None = None,
    ) -> None:
        self.progress = progress or Progress()
        self._plan = plan
        self._task = task
        self._decomposition = decomposition
        self._environment = environment
        self._memory = memory
        self._ledger = ledger
        self._log = log
        self._previous: tuple[Step, ...] = ()
        self._feedback: Feedback | None = None

    def run(self, actor_factory: ActorFactory, reflector: Reflector | None) -> list[Ended]:
        """Run attempts until one succeeds, the budget is spent or none is left; returns all, resumed ones included."""
        ended = self.progress.ended
        while len(ended) < self._plan.attempts and not (ended and ended[-1].ends_run):
            number = len(ended) + 1
            offered = self._offered()
            attempt = self._attempt(number, offered, actor_factory)
            self._measure(attempt, offered)
            self._note_end(attempt)
            ended.append(_ended(attempt))
            fed_back = number < self._plan.attempts or self._plan.keep_last_reflection
            self._carry(attempt)
            if reflector is not None and self._plan.reflects and fed_back and not ended[-1].ends_run:
                self._reflect(attempt, reflector)
        return ended

    def _offered(self) -> tuple[Remembered, ...]:
        """What memory offers, the newest first choice where bans of several runs leave no road open together."""
        if not self._plan.reflects:
            return ()
        label = self.progress.ended[-1].label if self.progress.ended else ""
        recalled = self._memory.recall(self._plan.window, self._plan.run, self._plan.features, label)
        rules, offered = Rules(), []
        for item in reversed(recalled):
            try:
                rules = rules.with_ban(item.reflection.forbidden_op, self._plan.catalog)
            except BanInvalid:
                continue
            offered.append(item)
        return tuple(reversed(offered))

    def _attempt(self, number: int, offered: Sequence[Remembered], actor_factory: ActorFactory) -> Attempt:
        plan = self._plan
        reflections = tuple(item.reflection for item in offered)
        bans = tuple(reflection.forbidden_op for reflection in reflections)
        seed = attempt_seed(plan.seed, number)
        left = plan.attempts - number
        brief = Brief(
            task=self._task,
            decomposition=self._decomposition,
            memory=reflections,
            bans=bans,
            locks=plan.locks,
            attempt=number,
            attempts_left=left,
            share={name: amount / (left + 1) for name, amount in self._ledger.remaining.items()},
            # What was tried before is memory too.
            force_new_structure=plan.reflects and stuck(self.progress.ended),
            tried=self._tried() if plan.reflects else (),
            parts=plan.parts,
            told=plan.told,
            previous=self._previous,
            feedback=self._feedback,
            context=plan.context,
        )
        started = AttemptStarted(
            seed=seed,
            graph_hash=content_hash(plan.start),
            memory=tuple(reflection.id for reflection in reflections),
            origins={
                item.reflection.id: OriginRecord(
                    run=item.origin.run,
                    attempt=item.origin.attempt,
                    reference=item.origin.reference,
                    reward=item.origin.reward,
                )
                for item in offered
                if item.origin.run != plan.run
            },
            bans=tuple(ban.describe() for ban in bans),
            force_new_structure=brief.force_new_structure,
        )
        self._log.write(started, number)
        self._environment.reset(plan.start, bans, plan.locks, number)
        actor = actor_factory(AttemptSetup(number, seed, self._ledger))
        attempt = Inner(self._environment, self._ledger, self._log, plan.stop).run(actor, brief)
        self.progress.seen.update(
            {step.observation.id: observation_figures(step.observation) for step in attempt.context.history}
        )
        return attempt

    def _tried(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.structure for one in self.progress.ended if one.structure))

    def _carry(self, attempt: Attempt) -> None:
        """Keep of an attempt what crosses it beside reflections."""
        kind = self._plan.context.memory
        if kind == "trajectory":
            self._previous = attempt.context.history
        elif kind == "scalar":
            self._feedback = feedback_on(attempt, self._task)

    def _measure(self, attempt: Attempt, offered: Sequence[Remembered]) -> None:
        """Measure every offered reflection that has not been measured in this run."""
        graphs = [*([attempt.best.graph] if attempt.best else []), attempt.final_graph]
        for reflection, origin in offered:
            if reflection.id in self.progress.measured:
                continue
            self.progress.measured.add(reflection.id)
            comparable = origin.reference == self._plan.reference
            uptake = measure_uptake(
                reflection,
                reward_before=origin.reward if comparable else None,
                reward_after=attempt.reward,
                start=self._plan.start,
                reached=graphs,
                steps=attempt.context.history,
                catalog=self._plan.catalog,
            )
            self._note_uptake(uptake, attempt.number)

    def _note_uptake(self, uptake: Uptake, attempt: int) -> None:
        hurt = uptake.helped is False
        self._memory.record(
            OutcomeRecord(
                reflection=uptake.reflection,
                run=self._plan.run,
                attempt=attempt,
                change_made=uptake.change_made,
                ban_respected=uptake.ban_respected,
                reward_before=uptake.reward_before,
                reward_after=uptake.reward_after,
                hurt=hurt,
            )
        )
        event = UptakeMeasured(
            reflection=uptake.reflection,
            change_made=uptake.change_made,
            ban_respected=uptake.ban_respected,
            reward_before=uptake.reward_before,
            reward_after=uptake.reward_after,
            helped=uptake.helped,
            demoted=hurt,
            retired=self._memory.retired(uptake.reflection),
        )
        self._log.write(event, attempt)

    def _note_end(self, attempt: Attempt) -> None:
        best = attempt.best
        event = AttemptEnded(
            outcome=attempt.outcome,
            stop=attempt.stop.kind,
            reason=attempt.stop.reason,
            label=attempt.label,
            label_reason=attempt.label_reason,
            steps=attempt.turns,
            best_reward=attempt.reward,
            best_observation=best.observation if best else None,
            best_graph=to_json(best.graph) if best else None,
            start_hash=content_hash(self._plan.start),
            structure=attempt.structure,
        )
        self._log.write(event, attempt.number)

    def _reflect(self, attempt: Attempt, reflector: Reflector) -> None:
        """Ask for a reflection; a refused one is asked for once more, then the attempt has none."""
        outcome = f"{attempt.outcome}: {attempt.stop.reason}"
        complaint = ""
        for _ in range(REFLECTION_TRIES):
            reflection: Reflection | None = None
            try:
                reflection = reflector.reflect(attempt.context, outcome + complaint, attempt.label)
                reflection = replace(reflection, id=f"{self._plan.run}.a{attempt.number}")
                check_reflection(reflection, self._ground(attempt))
            except ReflectionRefused as error:
                self._note_reflection(attempt.number, reflector, reflection, error.problems)
                complaint = f". Your reflection was refused: {error}"
                continue
            except (ActorError, BudgetExhausted) as error:
                self._note_reflection(attempt.number, reflector, None, (str(error),))
                return
            origin = Origin(
                self._plan.run,
                attempt.number,
                self._plan.reference,
                self._plan.features,
                attempt.label,
                attempt.reward,
            )
            self._memory.add(reflection, origin)
            self._note_reflection(attempt.number, reflector, reflection, ())
            return

    def _ground(self, attempt: Attempt) -> Ground:
        active = [item.reflection.forbidden_op for item in self._offered()]
        return Ground(
            seen=self.progress.seen,
            graphs=[self._plan.start, *([attempt.best.graph] if attempt.best else [])],
            bans=active,
            catalog=self._plan.catalog,
            max_nodes=self._environment.settings.max_nodes,
        )

    def _note_reflection(
        self, attempt: int, reflector: Reflector, reflection: Reflection | None, problems: tuple[str, ...]
    ) -> None:
        event = Reflected(
            accepted=not problems,
            reasons=problems,
            reflector=reflector.name,
            reflection=None if reflection is None else reflection_to_json(reflection),
        )
        self._log.write(event, attempt)


def stuck(ended: Sequence[Ended]) -> bool:
    """Whether the last two attempts brought no progress: the second was no better than what came before it."""
    if len(ended) < 2:
        return False
    before = max((one.reward for one in ended[:-1] if one.reward is not None), default=None)
    last = ended[-1].reward
    return last is None or (before is not None and last <= before + PROGRESS)


def _ended(attempt: Attempt) -> Ended:
    return Ended(
        number=attempt.number,
        outcome=attempt.outcome,
        stop=attempt.stop.kind,
        reason=attempt.stop.reason,
        label=attempt.label,
        reward=attempt.reward,
        structure=attempt.structure,
        turns=attempt.turns,
        observation=attempt.best.observation if attempt.best else None,
    )
