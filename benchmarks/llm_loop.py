"""What a step of a language model costs beside the model, the renderer and the judge.

    python benchmarks/llm_loop.py [--quick]

A whole run with the real loop, log, run folder and prompts. The model is a transport inside this process that answers
at once: each turn edits a value and renders, so that every request holds a graph, a verdict and pictures, and the
conversation grows until its budget drops old pictures and turns. Processor time is the measure, because other load on
the machine does not change it; the time on the wall is told beside it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Python puts this folder first, where this very file would hide the package of its name.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _report import finish, table
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.usage import RequestUsage

from evaluators import Evaluator
from material_agent.actors.llm import Client, LLMActors
from material_agent.actors.llm.wire import Request
from material_agent.actors.models import parse_model
from material_agent.config import RunConfig
from material_agent.fit import run_fit
from renderer import BlenderPool

BAR_MS = 30.0
BARS = {"headroom_to_30_ms": 1.0}


@dataclass
class Account:
    """Seconds that are somebody else's: on the wall and of this process's processors."""

    wall: dict[str, float] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)

    def timed(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            wall, cpu = time.perf_counter(), time.process_time()
            try:
                return work(*args, **kwargs)
            finally:
                self.wall[name] = self.wall.get(name, 0.0) + time.perf_counter() - wall
                self.cpu[name] = self.cpu.get(name, 0.0) + time.process_time() - cpu

        return run


class Answers:
    """A transport that answers at once, with an edit and a render in each turn."""

    replayed = False
    sees = True

    def __init__(self, turns: int) -> None:
        self._turns = turns
        self.number = 0
        self.characters: list[int] = []

    def send(self, request: Request, timeout_s: float) -> ModelResponse:
        self.number += 1
        build = [
            ("add_node", {"type": "ShaderNodeTexNoise", "id": "noise", "role": "macro"}),
            ("connect", {"src": "mapping", "dst": "noise", "slot": "Vector"}),
            ("connect", {"src": "noise.Color", "dst": "principled", "slot": "Base Color"}),
        ]
        edit = ("set_param", {"node": "noise", "key": "Scale", "value": 2.0 + 0.1 * self.number})
        render = ("render", {"view": "flat", "maps": ["beauty", "height"]})
        calls = [*(build if self.number == 1 else []), edit, render]
        if self.number == self._turns:
            calls = [("finish", {"outcome": "unfinished", "reason": "enough"})]
        parts = [ToolCallPart(name, given, f"c{self.number}.{i}") for i, (name, given) in enumerate(calls)]
        usage = RequestUsage(input_tokens=1000, output_tokens=50)
        return ModelResponse(parts=[TextPart("The next value."), *parts], usage=usage, model_name="instant")

    def close(self) -> None:
        """Nothing is held."""


def measure(turns: int, pool: BlenderPool) -> tuple[Account, int]:
    """One run of one attempt; what the loop took is under "loop"."""
    account, marks, attempt = Account(), {}, Account()
    answers = Answers(turns)
    client = Client(parse_model("openai:instant", "http://127.0.0.1:9/v1"), transport=answers)
    judge, draw = Evaluator.evaluate, pool.render_many

    def hear(event: Any) -> None:
        if event.kind in ("attempt_started", "attempt_ended"):
            # What comes before and after the attempt is not the loop's.
            attempt.wall, attempt.cpu = dict(account.wall), dict(account.cpu)
            marks[event.kind] = (time.perf_counter(), time.process_time())
            if event.kind == "attempt_started":
                account.wall.clear()
                account.cpu.clear()

    Evaluator.evaluate = account.timed("judge", judge)  # type: ignore[method-assign]
    pool.render_many = account.timed("renderer", draw)  # type: ignore[method-assign]
    answers.send = account.timed("model", answers.send)  # type: ignore[method-assign]
    try:
        with tempfile.TemporaryDirectory() as out:
            config = RunConfig(
                reference="brick_wall", out=Path(out), quality="high", attempts=1, network="off",
                step_resolution=256, report_resolution=64, max_steps=turns + 1, no_progress_actions=10_000,
            )  # fmt: skip
            run_fit(config, actor_factory=LLMActors(client), reflector=None, renderer=pool, progress=hear)
    finally:
        Evaluator.evaluate = judge  # type: ignore[method-assign]
        del pool.render_many
        client.close()
    start, end = marks["attempt_started"], marks["attempt_ended"]
    attempt.wall["loop"] = end[0] - start[0] - sum(attempt.wall.values())
    attempt.cpu["loop"] = end[1] - start[1] - sum(attempt.cpu.values())
    return attempt, answers.number


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    turns = 16 if parser.parse_args().quick else 48
    with BlenderPool(jobs=2) as pool:
        account, steps = measure(turns, pool)
    per_step = {name: 1000 * value / steps for name, value in account.cpu.items()}
    walls = {name: 1000 * value / steps for name, value in account.wall.items()}
    table(("milliseconds a step", "processor", "wall"), [(name, per_step[name], walls[name]) for name in per_step])
    figures = {
        "headroom_to_30_ms": BAR_MS / per_step["loop"],
        "loop_cpu_ms": per_step["loop"],
        "loop_wall_ms": walls["loop"],
    }
    return finish("llm_loop", figures, BARS, details={"steps": steps, "judge_cpu_ms": round(per_step["judge"], 2)},
                  packages=("bpy", "numpy", "pydantic-ai-slim"))  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
