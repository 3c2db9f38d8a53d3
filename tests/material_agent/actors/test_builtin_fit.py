"""The built-in actor in the real loop: rendered bricks are found again, reproducibly; failures are learnt from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graph_api import from_json
from material_agent.actors.builtin import BuiltinActor, BuiltinReflector, Options
from material_agent.config import RunConfig
from material_agent.fit import RunResult, run_fit
from renderer import BlenderPool

CANDIDATES = 64


def fit(reference: str, out: Path, pool: BlenderPool, attempts: int = 1) -> RunResult:
    config = RunConfig(
        reference=reference, out=out, quality="draft", attempts=attempts, limits={"candidates": CANDIDATES * attempts},
        network="off", step_resolution=128, report_resolution=128,
    )  # fmt: skip
    return run_fit(
        config,
        actor_factory=lambda setup: BuiltinActor(setup.seed, Options(edits=1)),
        reflector=BuiltinReflector(),
        renderer=pool,
    )


def events(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "events.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def bricks(brick_file: Path, pool: BlenderPool, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunResult]:
    out = tmp_path_factory.mktemp("bricks") / "run"
    return out, fit(str(brick_file), out, pool)


@pytest.fixture(scope="module")
def grass(pool: BlenderPool, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunResult]:
    """Grass is no structure that we have: no small budget satisfies the evaluator, so there is something to learn."""
    out = tmp_path_factory.mktemp("grass") / "run"
    return out, fit("skimage:grass", out, pool, attempts=2)


def test_bricks_are_found_again(bricks: tuple[Path, RunResult]) -> None:
    out, result = bricks
    assert result.attempts[0].structure == "brick"
    assert result.reward is not None
    assert result.reward > 0.7
    graph = from_json((out / "graph.json").read_text("utf-8"))
    brick = next(node for node in graph.nodes.values() if node.type == "ShaderNodeTexBrick")
    # The reference has Scale 4 with Brick Width .5 and Row Height .25: 8 bricks by 16 rows, in running bond.
    assert 1 / brick.inputs["Brick Width"] == pytest.approx(8, rel=0.05)
    assert 1 / brick.inputs["Row Height"] == pytest.approx(16, rel=0.05)
    assert brick.properties["offset"] == pytest.approx(0.5, abs=0.1)


def test_every_decision_has_a_reason_and_nothing_was_refused(bricks: tuple[Path, RunResult]) -> None:
    lines = events(bricks[0])
    decisions = [line for line in lines if "reason" in line and "actions" in line]
    assert decisions
    assert all(line["reason"] for line in decisions)
    assert not [line for line in lines if line.get("status") == "rejected"]


def test_the_same_seed_gives_the_same_graph(
    bricks: tuple[Path, RunResult], brick_file: Path, pool: BlenderPool
) -> None:
    out, first = bricks
    again = out.with_name("again")
    assert fit(str(brick_file), again, pool).reward == first.reward
    assert (again / "graph.json").read_text("utf-8") == (out / "graph.json").read_text("utf-8")


def test_a_failure_is_reflected_upon_and_the_next_attempt_follows(grass: tuple[Path, RunResult]) -> None:
    out, result = grass
    assert len(result.attempts) == 2
    lines = events(out)
    reflected = [line for line in lines if "reflector" in line and "accepted" in line]
    assert [line["reasons"] for line in reflected if not line["accepted"]] == []
    assert len(reflected) == 1
    uptake = [line for line in lines if "change_made" in line]
    assert [(line["change_made"], line["ban_respected"]) for line in uptake] == [(True, True)]
    assert [line for line in lines if "follows reflection" in str(line.get("reason", ""))]


@pytest.mark.parametrize("candidates", [1, 5])
def test_a_budget_for_hardly_any_candidate_still_builds(
    candidates: int, brick_file: Path, pool: BlenderPool, tmp_path: Path
) -> None:
    config = RunConfig(
        reference=str(brick_file), out=tmp_path / "run", quality="draft", attempts=1, network="off",
        limits={"candidates": candidates}, step_resolution=128, report_resolution=128,
    )  # fmt: skip
    result = run_fit(config, actor_factory=lambda setup: BuiltinActor(setup.seed), reflector=None, renderer=pool)
    assert result.attempts[0].structure == "brick"
    assert result.reward is not None
    assert result.reward > 0.5
