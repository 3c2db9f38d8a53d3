"""A run folder as the panel shows it, read from its events."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graph_api import GraphError, ban_from_json


class RunUnreadable(Exception):
    """A folder that holds no run; the text says what was expected."""


@dataclass(frozen=True)
class Remark:
    """A gap or a reflection, with the nodes (ids) and roles of the graph that it speaks of."""

    text: str
    nodes: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attempt:
    """One attempt: its best graph (JSON; None when nothing was judged), reward, verdict, gaps and reflection."""

    number: int
    graph: dict[str, Any] | None
    reward: float | None
    reason: str
    gaps: tuple[Remark, ...] = ()
    reflections: tuple[Remark, ...] = ()


@dataclass(frozen=True)
class Run:
    """A run: its folder, the reference's id, and its attempts in order."""

    folder: str
    reference: str
    attempts: tuple[Attempt, ...] = field(default=())

    @property
    def best_index(self) -> int:
        """The attempt with the highest reward, as a position in `attempts`."""
        rewards = [-1.0 if one.reward is None else one.reward for one in self.attempts]
        return max(range(len(rewards)), key=rewards.__getitem__, default=0)


def read_run(folder: str) -> Run:
    """Read the events of a run, also of one that is still going or was cut off. Raises `RunUnreadable`."""
    path = Path(folder)
    path = path.parent if path.is_file() else path
    try:
        lines = (path / "events.jsonl").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RunUnreadable(f"expected a run folder with events.jsonl, got {path}: {error}") from error
    events = [event for line in lines if (event := _event(line)) is not None]
    if not events or events[0].get("kind") != "run_started":
        raise RunUnreadable(f"expected a run, got a log without its first event: {path}")
    reference = str(events[0].get("reference", {}).get("id", ""))
    return Run(str(path.resolve()), reference, tuple(_attempts(events)))


def _event(line: str) -> dict[str, Any] | None:
    """One event; a line that a kill cut off is none."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) else None


def _attempts(events: list[dict[str, Any]]) -> list[Attempt]:
    numbers = sorted({int(event["attempt"]) for event in events if event.get("attempt")})
    return [_attempt(number, [event for event in events if event.get("attempt") == number]) for number in numbers]


def _attempt(number: int, events: list[dict[str, Any]]) -> Attempt:
    ended = next((one for one in reversed(events) if one["kind"] == "attempt_ended"), {})
    best = next((one for one in reversed(events) if one["kind"] == "best_updated"), {})
    graph = ended.get("best_graph") or best.get("graph")
    observation = ended.get("best_observation") or best.get("observation")
    judged = [one for one in events if one["kind"] == "evaluation"]
    verdict = next((one for one in judged if one["observation"] == observation), judged[-1] if judged else {})
    evaluation = verdict.get("evaluation", {})
    nodes = {node["id"]: node.get("role", "") for node in (graph or {}).get("nodes", ())}
    reflected = [one["reflection"] for one in events if one["kind"] == "reflection" and one.get("accepted")]
    return Attempt(
        number=number,
        graph=graph,
        reward=evaluation.get("reward", ended.get("best_reward")),
        reason=str(ended.get("reason", "not ended")),
        gaps=tuple(_gap(gap, nodes) for gap in evaluation.get("gaps", ())),
        reflections=tuple(_reflection(one, nodes) for one in reflected if one),
    )


def _gap(gap: dict[str, Any], nodes: dict[str, str]) -> Remark:
    text = str(gap.get("message", gap.get("kind", "")))
    roles = [str(gap.get("scale", ""))]
    roles += {"base_color": ["color"], "roughness": ["shading"], "normal": ["shading"]}.get(gap.get("channel", ""), [])
    return Remark(text, _named(text, nodes), tuple(roles), tuple(map(str, gap.get("suggests", ()))))


def _reflection(reflection: dict[str, Any], nodes: dict[str, str]) -> Remark:
    whole = json.dumps(reflection, ensure_ascii=False)
    scale = reflection.get("scale") or {}
    details = [str(fact.get("text", "")) for fact in reflection.get("evidence") or ()]
    details.append(f"do next: {(reflection.get('graph_change') or {}).get('text', '')}")
    try:
        details.append(f"forbidden: {ban_from_json(reflection.get('forbidden_op')).describe()}")
    except GraphError as error:
        details.append(f"forbidden: not readable ({error})")
    return Remark(str(scale.get("cause", "")), _named(whole, nodes), (str(scale.get("scale", "")),), tuple(details))


def _named(text: str, nodes: dict[str, str]) -> tuple[str, ...]:
    """Ids of the graph that a text names as words of their own."""
    words = set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())
    return tuple(name for name in nodes if name in words)


def concerning(attempt: Attempt, node: str, role: str) -> list[Remark]:
    """The gaps and reflections that speak of a node, by its id or by its role."""
    return [one for one in (*attempt.gaps, *attempt.reflections) if node in one.nodes or (role and role in one.roles)]
