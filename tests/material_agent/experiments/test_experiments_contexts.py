"""What a context withholds is withheld, from the built-in actor and from a model; what it names is read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from agent_world import RENDER, SIDE, actions, brick

from graph_api import Ban, start_graph
from material_agent.actors import Turn
from material_agent.actors.builtin import DirectActor
from material_agent.actors.builtin.measurements import measure
from material_agent.actors.builtin.prior import samples
from material_agent.actors.builtin.structure import structures
from material_agent.actors.words import task_words
from material_agent.config import RunConfig
from material_agent.context import Constraints, Context, Task, ToolState
from material_agent.context_config import PARTS, RAW, WHOLE, ContextConfig, context_toml, load_context
from material_agent.context_view import view_of
from material_agent.errors import ActorError, BadInput
from material_agent.fit import run_fit
from material_agent.react.bench import NoBench
from references import load_reference
from references.analysis import Analysis, analyze
from renderer import BlenderPool


@pytest.fixture(scope="module")
def bricks() -> tuple[Task, Analysis]:
    reference = load_reference("brick_wall")
    return Task("bricks", reference.image_srgb, 1.0, "bricks"), analyze(reference, patch_size_m=1.0)


def context(bricks: tuple[Task, Analysis], config: ContextConfig, **changes: Any) -> Context:
    task, analysis = bricks
    view = view_of(analysis, config)
    constraints = Constraints(search=False, **changes.pop("constraints", {}))
    made = Context(task, view.analysis, constraints, (), (), ToolState(start_graph("5.0")), view.parts, view.words)
    return replace(made, **changes)


def written(bricks: tuple[Task, Analysis], config: ContextConfig, seed: int = 3, **changes: Any) -> Turn:
    return DirectActor(seed).act(context(bricks, config, **changes), NoBench())


def test_the_raw_context_tells_nothing_that_was_measured(bricks):
    raw = context(bricks, RAW)
    found = measure(raw)
    assert (raw.decomposition, raw.parts, raw.told) == (None, (), "")
    assert (found.numbers, found.hypotheses, found.lattices, found.regions, found.deviation) == ({}, {}, (), None, 0.0)
    # Another picture of the same size would have led to the same graph.
    task, analysis = bricks
    other = replace(task, image_srgb=np.ascontiguousarray(task.image_srgb[::-1, :, ::-1]) ** 2)
    assert written(bricks, RAW).actions == written((other, analysis), RAW).actions
    assert written(bricks, WHOLE).actions != written((other, analysis), WHOLE).actions


@pytest.mark.parametrize("part", [part for part in PARTS if part not in ("light", "cues", "orientation")])
def test_each_part_that_is_taken_away_changes_what_the_built_in_actor_reads(bricks, part):
    rest = ContextConfig(parts=tuple(one for one in PARTS if one != part))
    whole, without = measure(context(bricks, WHOLE)), measure(context(bricks, rest))
    told = view_of(bricks[1], rest).words
    assert f'"{part}"' not in told
    assert (whole.numbers, whole.hypotheses, whole.lattices) != (
        without.numbers,
        without.hypotheses,
        without.lattices,
    ) or ((whole.regions is None) != (without.regions is None))


def test_grain_is_read_from_the_orientation_and_from_nowhere_else():
    reference = load_reference("wood_grain")
    wood = (Task("wood", reference.image_srgb, 1.0, "wood"), analyze(reference, patch_size_m=1.0))
    rest = ContextConfig(parts=tuple(part for part in PARTS if part != "orientation"))
    assert "grain_angle" in measure(context(wood, WHOLE)).numbers
    assert "grain_angle" not in measure(context(wood, rest)).numbers


def test_a_model_is_told_the_parts_in_their_order_and_nothing_else(bricks):
    shown = context(bricks, ContextConfig(parts=("palette", "lattice")))
    words = task_words(shown)
    assert words.index('"palette"') < words.index('"lattice"')
    assert not any(word in words for word in ("hypotheses", "coherence", "slope", "separation"))
    assert "Measured on the picture" not in task_words(context(bricks, RAW))


def test_tokens_leave_out_the_last_parts_and_brief_is_shorter(bricks):
    analysis = bricks[1]
    small = view_of(analysis, ContextConfig(tokens=200, parts=("palette", "lattice", "structure", "spectrum")))
    assert small.parts[:1] == ("palette",)
    assert len(small.parts) < 4
    assert small.analysis is not None
    assert small.analysis.lattice is None or "lattice" in small.parts
    whole, brief = view_of(analysis, WHOLE), view_of(analysis, ContextConfig(detail="brief"))
    assert len(brief.words) < 0.8 * len(whole.words)
    assert brief.analysis is not None
    assert (len(brief.analysis.hypotheses), brief.analysis.harmonics) == (2, ())


def test_a_configuration_survives_its_file(tmp_path: Path):
    chosen = ContextConfig(parts=("lattice", "palette"), detail="brief", memory="scalar", tokens=300, verdict="global")
    (tmp_path / "context.toml").write_text(context_toml(chosen, "why\nso"))
    assert load_context(tmp_path / "context.toml") == chosen
    (tmp_path / "raw.toml").write_text(context_toml(RAW))
    assert load_context(tmp_path / "raw.toml") == RAW
    (tmp_path / "bad.toml").write_text('[context]\nparts = ["colour"]')
    with pytest.raises(BadInput, match="parts"):
        load_context(tmp_path / "bad.toml")


class Sees:
    """Builds bricks, or with `then` renders and goes on; keeps what it was shown."""

    name = "sees"

    def __init__(self, turns: int = 1) -> None:
        self.turns = turns
        self.contexts: list[Context] = []
        self.refused = 0

    def act(self, context: Context, bench: Any) -> Turn:
        self.contexts.append(context)
        try:
            bench.try_many([actions(*brick())])
        except ActorError:
            self.refused += 1
        return Turn(actions(*(brick() if len(self.contexts) == 1 else ()), RENDER))


def seen(pool: BlenderPool, brick_file: Path, out: Path, **settings: Any) -> tuple[list[Sees], Any]:
    given = {"quality": "draft", "network": "off", "step_resolution": SIDE, "report_resolution": SIDE, "search": False}
    config = RunConfig(reference=str(brick_file), out=out, artifacts="figures", max_steps=2, **{**given, **settings})
    actors: list[Sees] = []

    def factory(setup: Any) -> Sees:
        actors.append(Sees())
        return actors[-1]

    result = run_fit(config, actor_factory=factory, reflector=None, renderer=pool)
    return [actor for actor in actors if actor.contexts], result


def test_no_render_and_no_score_reaches_the_one_turn_of_a_one_shot_attempt(pool, brick_file, tmp_path):
    memory = ContextConfig(memory="none")
    actors, result = seen(pool, brick_file, tmp_path, inner="one_shot", attempts=2, context=memory, accept_reward=0.99)
    assert [len(actor.contexts) for actor in actors] == [1, 1]
    assert all(actor.refused == 1 for actor in actors)
    for actor in actors:
        (shown,) = actor.contexts
        state = shown.state
        assert (state.evaluation, state.gaps, state.best_reward, state.best_graph) == (None, (), None, None)
        assert (shown.history, shown.memory, shown.previous, shown.feedback) == ((), (), (), None)
        assert (state.tried, state.force_new_structure) == ((), False)
    assert [one.stop for one in result.attempts] == ["one_turn", "one_turn"]
    assert all(one.reward is not None for one in result.attempts)
    with pytest.raises(ValueError, match="search = false"):
        RunConfig(reference="x", out=tmp_path, inner="one_shot")


def test_a_react_attempt_sees_renders_and_a_global_verdict_hides_where_it_fails(pool, brick_file, tmp_path):
    actors, _ = seen(pool, brick_file, tmp_path / "a", attempts=1, accept_reward=0.99)
    shown = actors[0].contexts[1]
    assert shown.state.gaps
    assert shown.history[-1].observation.images
    blunt = ContextConfig(verdict="global")
    actors, _ = seen(pool, brick_file, tmp_path / "b", attempts=1, accept_reward=0.99, context=blunt)
    state, verdict = actors[0].contexts[1].state, actors[0].contexts[1].history[-1].observation.evaluation
    assert state.evaluation is not None and verdict is not None
    assert (state.gaps, dict(verdict.terms), verdict.gaps) == ((), {}, ())
    assert verdict.reward == pytest.approx(shown.state.evaluation.reward)


def test_the_other_memories_cross_attempts_and_are_read(pool, brick_file, bricks, tmp_path):
    kinds = {}
    for kind in ("trajectory", "scalar"):
        config = ContextConfig(memory=kind)
        actors, _ = seen(pool, brick_file, tmp_path / kind, attempts=2, context=config, accept_reward=0.99)
        kinds[kind] = actors[1].contexts[0]
        assert actors[0].contexts[0].previous == () and actors[0].contexts[0].feedback is None
    assert [step.action.op for step in kinds["trajectory"].previous][-1] == "render"
    feedback = kinds["scalar"].feedback
    assert feedback is not None and feedback.reward is not None
    assert feedback.difference.shape == (SIDE, SIDE, 3)
    assert "What the last attempt did" in task_words(kinds["trajectory"])
    assert f"reward {feedback.reward:.3f}" in task_words(kinds["scalar"])
    shifted = written(bricks, WHOLE, feedback=replace(feedback, difference=feedback.difference + 0.2))
    assert shifted.actions != written(bricks, WHOLE).actions
    failed = tuple(
        replace(step, observation=replace(step.observation, evaluation=replace(verdict, reward=0.2)))
        if (verdict := step.observation.evaluation)
        else step
        for step in kinds["trajectory"].previous
    )
    built = {written(bricks, WHOLE, seed, previous=failed).structure for seed in range(12)}
    assert "brick" in {written(bricks, WHOLE, seed).structure for seed in range(4)}
    assert "brick" not in built


def test_bans_are_told_and_refused_or_only_told(pool, brick_file, tmp_path):
    from agent_runs import Bans, Plays, config

    outcomes = {}
    for bans in ("enforced", "advisory"):
        plays = Plays([[*brick(), RENDER]])
        made = config(brick_file, tmp_path / bans, attempts=2, bans=bans, max_steps=1)
        run_fit(made, actor_factory=plays, reflector=Bans("ShaderNodeTexBrick", "ShaderNodeTexNoise"), renderer=pool)
        last = plays.contexts[-1]
        assert last.constraints.bans == (Ban("node", type="ShaderNodeTexBrick", role="macro"),)
        outcomes[bans] = (tmp_path / bans / "events.jsonl").read_text().count('"status":"rejected"')
    assert outcomes["enforced"] > outcomes["advisory"] == 0


def test_the_prior_knows_the_structures():
    known = [name for name in structures() if not np.array_equal(samples(name), samples("layered_noise"))]
    assert len(known) >= 14
    assert all(samples(name).shape[1] == 4 for name in structures())
