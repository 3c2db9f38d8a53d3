"""A run folder made of real events and pictures, with names that would break a careless page."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from PIL import Image

from evaluators.result import Evaluation, Gap, TermResult
from material_agent import events as ev
from material_agent.budget import Ledger

HOSTILE = "<script>window.hacked=1</script>\"'&"


def picture(path: Path, side: int, seed: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    y, x = np.mgrid[0:side, 0:side] / side
    rng = np.random.default_rng(seed)
    wave = 0.5 + 0.5 * np.sin(2 * math.pi * (6 * x + rng.random())) * np.sin(2 * math.pi * (4 * y + rng.random()))
    colour = np.array([0.75, 0.45, 0.3]) + 0.1 * rng.random(3)
    Image.fromarray((255 * (0.25 + 0.6 * wave[..., None]) * colour).astype(np.uint8)).save(path)


def verdict(reward: float, *, success: bool = False) -> ev.EvaluationRecord:
    gap = Gap(
        "structure",
        "macro",
        "beauty",
        "lattice_period",
        "too_high",
        0.4,
        0.31,
        0.22,
        "m",
        f"The rows of {HOSTILE} are 0.31 m apart, the reference's 0.22 m",
        ("lower the row height of the brick texture",),
    )
    terms = {
        "structure": TermResult(
            "structure", reward, by_scale={"macro": reward, "meso": reward * 0.9, "micro": reward * 0.7}
        ),
        "appearance": TermResult(
            "appearance", reward * 0.95, by_scale={"global": reward * 0.95}, by_channel={"beauty": reward}
        ),
        "physical": TermResult("physical", 0.97, by_channel={"base_color": 1.0, "roughness": 0.94}),
        "compile": TermResult("compile", 1.0),
        "budget": TermResult("budget", 0.12, higher_is_better=False),
    }
    failures = () if success else ("structure 0.61 is under its threshold 0.70",)
    thresholds = {"structure": 0.7, "appearance": 0.65, "physical": 0.8}
    weights = {"structure": 0.4, "appearance": 0.4, "physical": 0.1, "compile": 0.1, "budget": 0.05}
    return ev.evaluation_record(Evaluation(reward, terms, success, failures, (gap,), thresholds, weights))


def make_run(folder: Path, *, ended: bool = True) -> Path:
    """Two attempts of two steps, one worker lost, one reflection with uptake."""
    picture(folder / "reference.png", 320, 0)
    ledger = Ledger({"renders": 24, "candidates": 480, "seconds": 300})
    with ev.EventLog(folder / "events.jsonl", ledger) as log:
        log.write(
            ev.RunStarted(
                run="r-1",
                reference={"id": HOSTILE, "sha256": "ab" * 32, "size": [320, 320]},
                config={
                    "reference": "brick",
                    "out": "runs/brick wall",
                    "seed": 7,
                    "quality": "draft",
                    "attempts": 2,
                    "memory_window": "3",
                    "limits": {"renders": 24},
                },
                actor="builtin",
                reflector="builtin",
                limits={"renders": 24, "candidates": 480, "seconds": 300},
                versions={"material-agent": "0.1.0", "blender": "5.0.1", "evaluator weights": "sha256 0123abcd"},
                start_graph={},
            )
        )
        for number in (1, 2):
            attempt(log, ledger, folder, number)
        if ended:
            log.write(ev.RunEnded(outcome="unfinished", reason="the attempt limit of 2 was reached", reward=0.66))
    return folder


def attempt(log: ev.EventLog, ledger: Ledger, folder: Path, number: int) -> None:
    log.write(
        ev.AttemptStarted(
            seed=number * 11,
            graph_hash="0" * 64,
            bans=("set_param Scale above 8",) * (number - 1),
            memory=("m1",) * (number - 1),
            force_new_structure=number == 2,
        ),
        number,
    )
    count = 0
    for step in (1, 2):
        log.write(
            ev.Decision(step=step, actor="builtin", reason=f"periodicity 0.41 says brick: try {HOSTILE}", actions=3),
            number,
        )
        log.write(ev.Thought(text="The mortar is darker than the stone."), number)
        ledger.charge(candidates=64)
        edits = ({"op": "set_param", "node": "brick", "key": "Scale", "value": 5.25},)
        log.write(
            ev.Search(
                tried=64,
                ok=63,
                judge="screen",
                resolution=128,
                best=3,
                best_score=0.71,
                best_edits=edits,
                problems={"timeout": 1},
            ),
            number,
        )
        for op in ("add_node", "set_param", "render"):
            count += 1
            name = f"a{number}.o{count}"
            action = {"op": op, "node": HOSTILE, "value": [0.1, 0.2, 0.3, 1.0]}
            log.write(ev.Proposal(observation=name, action=action), number)
            if op == "render" and number == 1 and step == 1:
                log.write(ev.WorkerLost(observation=name, status="crashed"), number)
                log.write(
                    ev.Observed(id=name, op=op, status="error", messages=("the worker died",), graph_hash="1"), number
                )
                continue
            images = {}
            if op == "render":
                ledger.charge(renders=1)
                for index, channel in enumerate(("beauty", "base_color", "roughness", "normal", "height")):
                    images[channel] = f"attempts/{number}/{name}-{channel}.png"
                    picture(folder / images[channel], 256, index + 10 * number)
            log.write(ev.Observed(id=name, op=op, status="ok", images=images, graph_hash="1" * 64, view="flat"), number)
            if op == "render":
                reward = 0.4 + 0.08 * number + 0.05 * step
                log.write(ev.Evaluated(observation=name, graph_hash="1" * 64, evaluation=verdict(reward)), number)
                best = ev.BestUpdated(
                    observation=name, graph_hash="1" * 64, graph={}, facts={}, evaluation=verdict(reward)
                )
                log.write(best, number)
    log.write(
        ev.AttemptEnded(
            outcome="unfinished",
            stop="no_progress",
            reason="no progress over 12 actions",
            label="wrong_argument",
            label_reason="the scale stayed above the target",
            steps=2,
            best_reward=0.5 + 0.08 * number,
            structure="brick",
        ),
        number,
    )
    if number == 1:
        log.write(
            ev.Reflected(
                accepted=True,
                reflector="builtin",
                reflection={
                    "id": "m1",
                    "evidence": [
                        {
                            "observation": "a1.o6",
                            "figure": "lattice_period",
                            "value": 0.31,
                            "text": f"Rows too far apart {HOSTILE}",
                        }
                    ],
                    "scale": {"scale": "macro", "channel": "beauty", "cause": "brick", "scope": "this reference"},
                    "graph_change": {
                        "text": "Lower the row height",
                        "actions": [{"op": "set_param", "node": "brick", "key": "Row Height", "value": 0.2}],
                    },
                    "forbidden_op": {"kind": "param", "type": "ShaderNodeTexBrick", "socket": "Scale", "low": 8.0},
                },
            ),
            number,
        )
    else:
        log.write(
            ev.UptakeMeasured(
                reflection="m1",
                change_made=True,
                ban_respected=True,
                reward_before=0.58,
                reward_after=0.66,
                helped=True,
            ),
            number,
        )
