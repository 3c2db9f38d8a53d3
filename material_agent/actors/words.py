"""The parts of the context in words: what every model is told, whether it sees or not."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from string import Template

from graph_api import summary_text
from material_agent.context import Constraints, Context, Evaluation, Feedback, Gap, Step, ToolState
from material_agent.context_view import compact
from material_agent.memory import Reflection
from material_agent.observation import Observation

GAPS = 8
PREVIOUS = 60
"""Steps of the last attempt that are told, the newest."""
COUNTED = ("actions", "renders", "candidates")
"""What of the budget is told: counts. Seconds and money would make a replay ask other things."""
MOST_WORDS = 6000
"""Characters of one quoted text: a graph of eighty nodes has about this many."""


@cache
def prompt(name: str) -> Template:
    """A prompt file of the package."""
    return Template(files("material_agent").joinpath(f"prompts/{name}.md").read_text("utf-8"))


def quoted(name: str, text: str) -> str:
    """A text that came from elsewhere as data: it can neither close its own quotation nor hide what it holds."""
    printable = text
    if not text.replace("\n", "").isprintable():  # rare, and slow to mend
        printable = "".join(char if char == "\n" or char.isprintable() else " " for char in text)
    safe = re.sub(r"</?data\b", "[data", printable, flags=re.IGNORECASE)
    cut = safe if len(safe) <= MOST_WORDS else safe[:MOST_WORDS] + f"\n[{len(safe) - MOST_WORDS} more characters]"
    return f'<data name="{name}">\n{cut}\n</data>'


def task_words(context: Context) -> str:
    """Task, decomposition, constraints and memory: what stays the same during an attempt."""
    task, state = context.task, context.state
    parts = [
        f"Task: {task.goal}",
        f"The picture shows a patch of {task.patch_size_m:g} m × {task.patch_size_m:g} m, "
        f"{task.image_srgb.shape[1]} × {task.image_srgb.shape[0]} pixels.",
        f"This is attempt {state.attempt}; {state.attempts_left} may follow.",
    ]
    if context.decomposition is not None:
        found = context.told or json.dumps(compact(context.decomposition.to_json()), ensure_ascii=False)
        parts.append("Measured on the picture and inferred from it:\n" + quoted("decomposition", found))
    parts.append(constraint_words(context.constraints))
    if context.memory:
        lessons = "\n".join(reflection_words(one) for one in context.memory)
        parts.append("Reflections on earlier attempts:\n" + quoted("memory", lessons))
    if context.previous:
        steps = "\n".join(step_words(one) for one in context.previous[-PREVIOUS:])
        parts.append("What the last attempt did, from the same start:\n" + quoted("previous", steps))
    if context.feedback is not None:
        parts.append("What is left of the last attempt:\n" + quoted("feedback", feedback_words(context.feedback)))
    if state.force_new_structure:
        tried = ", ".join(state.tried) or "the ones before"
        parts.append(f"The last attempts brought no progress: build another structure than {tried}.")
    return "\n\n".join(parts)


def constraint_words(constraints: Constraints) -> str:
    """What the graph API enforces."""
    lines = [f"At most {constraints.max_nodes} nodes."]
    lines += [f"Banned: {ban.describe()}" for ban in constraints.bans]
    lines += [lock.describe() for lock in constraints.locks]
    return "Enforced by the graph API:\n" + quoted("constraints", "\n".join(lines))


def reflection_words(reflection: Reflection) -> str:
    """One reflection in four lines."""
    change = reflection.graph_change
    wanted = [f"{action}" for action in change.actions]
    wanted += [f"a graph with {change.pattern.describe()}"] if change.pattern is not None else []
    return "\n".join(
        (
            f"- evidence: {'; '.join(fact.text for fact in reflection.evidence)}",
            f"  hypothesis ({reflection.scale.scale}, {reflection.scale.channel}): {reflection.scale.cause}",
            f"  change: {change.text}" + (f" [{'; '.join(wanted)}]" if wanted else ""),
            f"  do not: {reflection.forbidden_op.describe()}",
        )
    )


def state_words(context: Context) -> str:
    """Where the attempt stands: graph, verdict, gaps, budget."""
    state = context.state
    parts = ["The present graph:\n" + quoted("graph", summary_text(state.graph))]
    if state.evaluation is None:
        parts.append("It was not rendered yet." if state.step == 0 else "Nothing was judged yet.")
    else:
        stale = " (of an earlier graph: render again)" if state.edited_since_render else ""
        parts.append(f"Last verdict{stale}:\n" + quoted("verdict", verdict_words(state.evaluation, state.gaps)))
    if state.best_reward is not None:
        parts.append(f"Best reward of this attempt: {state.best_reward:.3f}.")
    parts.append(budget_words(state))
    return "\n\n".join(parts)


def budget_words(state: ToolState) -> str:
    """Turns and counts that are left for this attempt."""
    amounts = state.share or state.remaining
    left = ", ".join(f"{amounts[name]:.0f} {name}" for name in COUNTED if name in amounts)
    return f"Left for this attempt: {state.steps_left} turns" + (f", {left}." if left else ".")


def verdict_words(evaluation: Evaluation, gaps: Iterable[Gap]) -> str:
    """A verdict with its largest gaps."""
    terms = ", ".join(
        f"{name} {_figure(term.value)}"
        + (f" (needs {evaluation.thresholds[name]:.3f})" if name in evaluation.thresholds else "")
        for name, term in evaluation.terms.items()
    )
    lines = [f"reward {_figure(evaluation.reward)}; {'accepted' if evaluation.success else 'not accepted'}; {terms}"]
    lines += [f"failure: {text}" for text in evaluation.failures[:4]]
    for gap in list(gaps)[:GAPS]:
        hints = f" (try: {', '.join(gap.suggests)})" if gap.suggests else ""
        lines.append(f"gap in {gap.term}/{gap.scale}/{gap.channel}: {gap.message}{hints}")
    return "\n".join(lines)


def feedback_words(feedback: Feedback) -> str:
    """A reward and a difference picture, the picture by the means of its channels."""
    red, green, blue = (float(value) for value in feedback.difference.mean(axis=(0, 1)))
    reward = "none" if feedback.reward is None else f"{feedback.reward:.3f}"
    return (
        f"reward {reward}; its render minus the reference, sRGB in [-1, 1], on average: "
        f"red {red:+.3f}, green {green:+.3f}, blue {blue:+.3f}"
    )


def observation_words(seen: Observation) -> str:
    """What the environment answered to one action."""
    lines = [f"{seen.id} {seen.op}: {seen.status}" + (f", node {seen.node}" if seen.node else "")]
    lines += [f"changed: {text}" for text in seen.changed]
    lines += list(seen.messages)
    if seen.summary:
        lines.append(seen.summary)
    if seen.evaluation is not None:
        lines.append(verdict_words(seen.evaluation, seen.evaluation.gaps))
    return quoted("observation", "\n".join(lines))


def step_words(step: Step) -> str:
    """One step of history in a line, for a reflection."""
    seen = step.observation
    verdict = f", reward {seen.evaluation.reward:.3f}" if seen.evaluation is not None else ""
    said = f": {seen.messages[0]}" if seen.messages and seen.status != "ok" else ""
    return f"{seen.id} {step.action} -> {seen.status}{verdict}{said}"


def _figure(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) else "unscored"
