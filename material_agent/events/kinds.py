"""The kinds of event that a run writes, one JSON object a line.

What an actor says (`thought`, `action`, `decision`), what the world answered (`observation`, `search`), what was
verified (`evaluation`, `best_updated`) and what was concluded (`reflection`, `attempt_ended`, `run_ended`) are
different kinds, so that a log can never pass a claim off as evidence.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, TypeAdapter

from material_agent.events.records import EvaluationRecord, Record

SCHEMA_VERSION = 1


class Event(Record):
    """What every event has.

    `seq` counts from 0 over the whole file, resumes included. `at` is the UTC time, for people: nothing is computed
    from it. `attempt` is 0 outside attempts. `spent` is the ledger after the event's charge.
    """

    durable: ClassVar[bool] = False

    kind: str
    seq: int = 0
    at: str = ""
    attempt: int = 0
    spent: dict[str, float] = Field(default_factory=dict)


class RunStarted(Event):
    """The first event: what was asked, with which actor, on what."""

    durable: ClassVar[bool] = True
    kind: Literal["run_started"] = "run_started"
    schema_version: int = SCHEMA_VERSION
    run: str
    reference: dict[str, Any]
    config: dict[str, Any]
    actor: str
    reflector: str
    limits: dict[str, float]
    versions: dict[str, str]
    start_graph: dict[str, Any]
    start_notes: tuple[str, ...] = ()
    locks: tuple[str, ...] = ()
    decomposition: dict[str, Any] | None = None


class OriginRecord(Record):
    """Where a reflection comes from that another run wrote; `reference` is the sha256 of its picture."""

    run: str
    attempt: int
    reference: str
    reward: float | None = None


class AttemptStarted(Event):
    """An attempt begins, from the task's start graph. `origins`: of those in `memory` that other runs wrote."""

    durable: ClassVar[bool] = True
    kind: Literal["attempt_started"] = "attempt_started"
    seed: int
    graph_hash: str
    memory: tuple[str, ...] = ()
    origins: dict[str, OriginRecord] = Field(default_factory=dict)
    bans: tuple[str, ...] = ()
    force_new_structure: bool = False


class ContextBuilt(Event):
    """What the actor was given to read for one step, counted from 1; parts withheld are absent from `parts`."""

    kind: Literal["context"] = "context"
    step: int
    graph_hash: str
    parts: tuple[str, ...]
    memory: tuple[str, ...] = ()
    bans: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    edited_since_render: bool
    best_reward: float | None = None
    remaining: dict[str, float] = Field(default_factory=dict)


class Thought(Event):
    """A note of the actor: language only, no effect on the world."""

    kind: Literal["thought"] = "thought"
    text: str


class Proposal(Event):
    """An action that the actor proposed, before the environment answered."""

    kind: Literal["action"] = "action"
    observation: str
    action: dict[str, Any]


class Observed(Event):
    """What the environment answered: evidence, made by no model."""

    kind: Literal["observation"] = "observation"
    id: str
    op: str
    status: Literal["ok", "rejected", "error"]
    changed: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    node: str | None = None
    view: str = ""
    images: dict[str, str] = Field(default_factory=dict)
    graph_hash: str
    useless: bool = False


class Decision(Event):
    """Why the actor proposed the actions of this step, in its own words."""

    kind: Literal["decision"] = "decision"
    step: int
    actor: str
    reason: str
    actions: int


class Charge(Event):
    """Spending booked ahead of work that may never come back, so that a killed run has paid for it."""

    kind: Literal["charge"] = "charge"
    purpose: str
    amounts: dict[str, float]


class ModelCall(Event):
    """One request to a language model, whatever came of it.

    `purpose` is "act" or "reflect"; `retry` counts from 0 over the tries of one request. `status` is "ok" or the kind
    of failure, `error` what was said. `money_usd` is null when the price is unknown; `estimated` says that the tokens
    were counted by us because the answer did not tell. `waited_s` was spent before this try.
    """

    kind: Literal["model_call"] = "model_call"
    purpose: str
    model: str
    retry: int = 0
    status: str
    error: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    money_usd: float | None = None
    latency_s: float = 0.0
    waited_s: float = 0.0
    images: int = 0
    replayed: bool = False


class Search(Event):
    """A batch of candidates that went through the bulk door.

    `best` is the index of the best candidate, `best_edits` its actions; `scores` are those of all (0 when not ok);
    `engines`: how many each engine drew ("cycles" is Blender).
    """

    kind: Literal["search"] = "search"
    tried: int
    ok: int
    judge: Literal["none", "screen", "texture", "sketch", "full"]
    resolution: int
    best: int | None = None
    best_score: float | None = None
    best_edits: tuple[dict[str, Any], ...] = ()
    scores: tuple[float, ...] = ()
    engines: dict[str, int] = Field(default_factory=dict)
    problems: dict[str, int] = Field(default_factory=dict)


class Evaluated(Event):
    """The committed evaluator's verdict on the render of `observation`."""

    kind: Literal["evaluation"] = "evaluation"
    observation: str
    graph_hash: str
    evaluation: EvaluationRecord


class BestUpdated(Event):
    """The best of the run so far; `graph` is the whole graph, so that a resume needs nothing else."""

    durable: ClassVar[bool] = True
    kind: Literal["best_updated"] = "best_updated"
    observation: str
    graph_hash: str
    graph: dict[str, Any]
    facts: dict[str, Any]
    evaluation: EvaluationRecord


class Reflected(Event):
    """A reflection that was proposed; refused ones carry the reason and are not remembered."""

    durable: ClassVar[bool] = True
    kind: Literal["reflection"] = "reflection"
    accepted: bool
    reasons: tuple[str, ...] = ()
    reflector: str
    reflection: dict[str, Any] | None = None


class UptakeMeasured(Event):
    """Whether the last reflection was followed in this attempt, and whether that helped."""

    durable: ClassVar[bool] = True
    kind: Literal["uptake"] = "uptake"
    reflection: str
    change_made: bool
    ban_respected: bool
    reward_before: float | None
    reward_after: float | None
    helped: bool | None
    demoted: bool = False
    retired: bool = False


class AttemptEnded(Event):
    """An attempt is over; `label` is its kind of failure, empty after success."""

    durable: ClassVar[bool] = True
    kind: Literal["attempt_ended"] = "attempt_ended"
    outcome: Literal["success", "unfinished", "stopped"]
    stop: str
    reason: str
    label: str = ""
    label_reason: str = ""
    steps: int
    best_reward: float | None = None
    best_observation: str | None = None
    best_graph: dict[str, Any] | None = None
    start_hash: str = ""
    structure: str = ""


class WorkerLost(Event):
    """A render did not come back: a worker crashed or ran out of time. It cost this observation."""

    kind: Literal["worker_lost"] = "worker_lost"
    observation: str
    status: str
    messages: tuple[str, ...] = ()


class Resumed(Event):
    """The run goes on after an interruption; what attempt `repeats` logged before this event is void."""

    durable: ClassVar[bool] = True
    kind: Literal["resumed"] = "resumed"
    repeats: int | None = None
    torn_line: bool = False


class RunEnded(Event):
    """The last event of a run that was not killed."""

    durable: ClassVar[bool] = True
    kind: Literal["run_ended"] = "run_ended"
    outcome: Literal["success", "unfinished", "interrupted", "failed"]
    reason: str
    reward: float | None = None


AnyEvent = Annotated[
    RunStarted
    | AttemptStarted
    | ContextBuilt
    | Thought
    | Proposal
    | Observed
    | Decision
    | Charge
    | ModelCall
    | Search
    | Evaluated
    | BestUpdated
    | Reflected
    | UptakeMeasured
    | AttemptEnded
    | WorkerLost
    | Resumed
    | RunEnded,
    Field(discriminator="kind"),
]
ADAPTER: TypeAdapter[AnyEvent] = TypeAdapter(AnyEvent)
