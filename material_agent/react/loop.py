"""The inner loop: context, proposal, action, observation, until a stop rule speaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from graph_api.actions import Finish, Note, Render
from graph_api.model import Graph
from material_agent.actors.base import Actor, Turn
from material_agent.budget import Ledger
from material_agent.context import Context, Step
from material_agent.context_view import blunt_observation
from material_agent.environment import Best, Environment
from material_agent.errors import ActorError, ActorGone, BudgetExhausted
from material_agent.events import Decision, Log
from material_agent.observation import Observation
from material_agent.proposals import Proposed
from material_agent.react.assemble import Brief, assemble, context_event
from material_agent.react.bench import bench_for
from material_agent.react.labels import Trace, label_failure
from material_agent.react.stop import LoopWatch, Stop, StopRules

Outcome = Literal["success", "unfinished", "stopped"]
ONE_TURN = Render("flat", ("beauty",))
"""What the loop itself asks for after the one turn of an actor that sees nothing."""


@dataclass(frozen=True)
class Attempt:
    """One attempt as it went: how it ended, its kind of failure (empty after success), its best, its last context."""

    number: int
    outcome: Outcome
    stop: Stop
    label: str
    label_reason: str
    turns: int
    best: Best | None
    final_graph: Graph
    structure: str
    context: Context

    @property
    def reward(self) -> float | None:
        """The best reward of the attempt."""
        return self.best.evaluation.reward if self.best else None


class Inner:
    """The ReAct loop of one attempt; the environment has been reset for it."""

    def __init__(self, environment: Environment, ledger: Ledger, log: Log, rules: StopRules) -> None:
        self._environment = environment
        self._ledger = ledger
        self._log = log
        self._rules = rules

    def run(self, actor: Actor, brief: Brief) -> Attempt:
        """Run until a stop rule speaks. Every failure of actor, world or budget is an outcome, not an exception."""
        self._history: list[Step] = []
        self._watch = LoopWatch()
        self._before = dict(self._ledger.spent)
        self._turns = 0
        self._blunt = brief.context.verdict == "global"
        bench = bench_for(self._environment)
        structure = ""
        stop: Stop | None = None
        while stop is None:
            context = self._context(brief)
            self._log.write(context_event(context, self._environment.graph_hash), brief.attempt)
            try:
                turn = actor.act(context, bench)
                self._turns += 1
                structure = turn.structure or structure
                self._decide(actor, turn, brief)
                stop = self._play(turn) or (self._judged_unseen() if self._rules.one_turn else self._limits())
            except BudgetExhausted as error:
                stop = Stop("budget", str(error))
            except ActorGone as error:
                stop = Stop("actor_gone", str(error))
            except ActorError as error:
                stop = Stop("actor_failed", str(error))
        return self._end(brief, stop, structure)

    def _context(self, brief: Brief) -> Context:
        used = {name: amount - self._before.get(name, 0.0) for name, amount in self._ledger.spent.items()}
        left = self._rules.max_steps - self._turns
        return assemble(brief, self._environment, self._history, step=self._turns, steps_left=left, used=used)

    def _decide(self, actor: Actor, turn: Turn, brief: Brief) -> None:
        event = Decision(step=self._turns, actor=actor.name, reason=turn.reason, actions=len(turn.actions))
        self._log.write(event, brief.attempt)

    def _play(self, turn: Turn) -> Stop | None:
        """Do a turn's actions in order; one that is refused does not keep its siblings from running."""
        thought = ""
        for action in turn.actions:
            observation = self._environment.step(action)
            if isinstance(action, Note):
                thought = f"{thought}\n{action.text}".strip()
                continue
            self._remember(thought, action, observation)
            thought = ""
            if self._environment.finished is not None:
                return Stop("finished", self._environment.finished.reason)
            stop = self._watch.note(action, observation, self._environment.graph_hash)
            if stop is not None:
                return stop
        if all(isinstance(action, Note) for action in turn.actions):
            return self._watch.note_empty_turn()
        return None

    def _remember(self, thought: str, action: Proposed, observation: Observation) -> None:
        shown = blunt_observation(observation) if self._blunt else observation
        self._history.append(Step(thought, action, shown))

    def _judged_unseen(self) -> Stop:
        """Render the graph as the one turn left it, for the record and for what may cross attempts, and end."""
        if self._environment.edited_since_render:
            self._remember("", ONE_TURN, self._environment.step(ONE_TURN))
        evaluation = self._environment.evaluation
        if evaluation is not None and evaluation.success and not self._environment.edited_since_render:
            done = Finish("success", "accepted after its one turn")
            self._remember("", done, self._environment.step(done))
        return Stop("one_turn", "the one turn of this attempt")

    def _limits(self) -> Stop | None:
        idle = self._environment.tally.since_progress
        if idle >= self._rules.no_progress_actions:
            return Stop("no_progress", f"{idle} actions without a better render")
        if self._turns >= self._rules.max_steps:
            return Stop("step_limit", f"{self._turns} turns, the limit")
        return None

    def _used(self, brief: Brief) -> float:
        """The share of the attempt's turns, or of its candidates, that was used, whichever is larger."""
        candidates = self._ledger.spent["candidates"] - self._before["candidates"]
        share = brief.share.get("candidates", 0.0)
        return max(self._turns / self._rules.max_steps, candidates / share if share else 0.0)

    def _end(self, brief: Brief, stop: Stop, structure: str) -> Attempt:
        finish = self._environment.finished
        outcome: Outcome = "stopped" if finish is None else finish.outcome
        label, fact = "", ""
        if outcome != "success":
            label, fact = label_failure(Trace(self._history, stop, self._used(brief)))
        return Attempt(
            number=brief.attempt,
            outcome=outcome,
            stop=stop,
            label=label,
            label_reason=fact,
            turns=self._turns,
            best=self._environment.best,
            final_graph=self._environment.graph,
            structure=structure,
            context=self._context(brief),
        )
