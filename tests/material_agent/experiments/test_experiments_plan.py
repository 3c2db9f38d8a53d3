"""What a plan is read to, and what is refused."""

from __future__ import annotations

import pytest
from experiment_world import RUN, plan

from material_agent.errors import BadInput
from material_agent.experiments import bundled_plans, load_plan
from material_agent.experiments.pictures import Picture
from material_agent.experiments.plan import plan_from
from material_agent.experiments.report import methods
from material_agent.experiments.units import unit_seed, units_of

FACTORS = {
    "context": {"raw": {"run": {"context": {"parts": []}}}, "structured": {}},
    "outer": {"retry": {"run": {"context": {"memory": "none"}}}, "reflexion": {}},
}
TEST = {"id": "H", "claim": "c", "measure": "reward", "factor": "context", "versus": "raw", "to": "structured"}


@pytest.mark.parametrize("name", bundled_plans())
def test_bundled_plans_are_whole(name):
    found = load_plan(name)
    assert found.file.name == name
    assert methods(found)


def test_factors_are_crossed_and_tables_merged():
    crossed = plan(factors=FACTORS)
    assert [arm.id for arm in crossed.arms] == [
        "raw-retry", "raw-reflexion", "structured-retry", "structured-reflexion"
    ]  # fmt: skip
    context = crossed.config(crossed.arms[0]).context
    assert (context.parts, context.memory) == ((), "none")


def test_a_block_holds_every_arm_and_its_order_is_not_the_plans():
    crossed = plan(factors=FACTORS, seeds=6)
    pictures = [Picture(name, path, "", "") for name, path in (("a", "a.png"), ("b", "b.png"))]
    units = units_of(crossed, pictures)
    blocks = [units[k : k + 4] for k in range(0, len(units), 4)]
    assert all(len({unit.arm.id for unit in block}) == 4 for block in blocks)
    assert all(len({(unit.picture.id, unit.seed_index) for unit in block}) == 1 for block in blocks)
    assert len({tuple(unit.arm.id for unit in block) for block in blocks}) > 3


def test_arms_share_their_seeds_unless_they_name_a_stream():
    streams = plan(arms={"a": {}, "b": {}, "c": {"stream": 1}}, seeds=2)
    units = units_of(streams, [Picture("x", "x.png", "", "")])
    seeds = {(unit.arm.id, unit.seed_index): unit_seed(streams, unit) for unit in units}
    assert seeds["a", 0] == seeds["b", 0] != seeds["c", 0]
    assert seeds["a", 0] != seeds["a", 1]


def test_the_hash_follows_what_is_asked():
    assert plan().sha256 == plan().sha256
    assert plan().sha256 != plan(tests=[{**TEST, "factor": "", "versus": "one", "to": "two"}]).sha256


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"factors": FACTORS, "tests": [{**TEST, "to": "cooked"}]}, "cooked"),
        ({"factors": FACTORS, "tests": [{**TEST, "measure": "beauty"}]}, "beauty"),
        ({"arms": {"a b": {}}}, "a b"),
        ({"arms": {"a": {"run": {"inner": "one_shot", "search": True}}}}, "one_shot"),
        ({"arms": {"a": {"run": {"attempts": 0}}}}, "attempts"),
        ({"run": {**RUN, "seed": 3}}, "seed"),
        ({"references": []}, "references"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_plan_is_told_where(changes, word):
    with pytest.raises(BadInput, match=word):
        plan(**changes)


def test_no_plan_is_told_which_there_are():
    with pytest.raises(BadInput, match="factorial"):
        load_plan("no_such_plan")


def test_not_toml(tmp_path):
    (tmp_path / "plan.toml").write_text("= nothing")
    with pytest.raises(BadInput, match="TOML"):
        load_plan(str(tmp_path / "plan.toml"))
    with pytest.raises(BadInput):
        plan_from({})
