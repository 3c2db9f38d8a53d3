"""The physical limits, the budget, the gate and the combination, on inputs whose verdict is known."""

import math
from dataclasses import replace

import numpy as np
import pytest

from evaluators import UNSCORED, Candidate, Facts, TermResult, load_calibration
from evaluators.calibration import Calibration
from evaluators.combine import combine
from evaluators.components import COMPONENTS, lattice_difference, value_of
from evaluators.data import load_table
from evaluators.errors import EvaluatorError
from evaluators.functional.color import srgb_to_linear
from evaluators.functional.lattice import Lattice
from evaluators.functional.relief import slopes_of_height
from evaluators.result import Gap
from evaluators.terms import Budget, Compile, Physical

SIDE = 64


def surface(**changed):
    """Channels of a plausible rough dielectric with relief."""
    y, x = (np.mgrid[:SIDE, :SIDE] + 0.5) / SIDE
    height = (0.005 * np.cos(6 * np.pi * x) * np.cos(4 * np.pi * y)).astype(np.float32)
    normal = np.concatenate([-slopes_of_height(height, 1 / SIDE), np.ones((SIDE, SIDE, 1), np.float32)], axis=-1)
    channels = {
        "base_color": np.full((SIDE, SIDE, 3), srgb_to_linear(0.5), np.float32),
        "roughness": np.full((SIDE, SIDE, 1), 0.6, np.float32),
        "metallic": np.zeros((SIDE, SIDE, 1), np.float32),
        "normal": (normal / np.linalg.norm(normal, axis=-1, keepdims=True)).astype(np.float32),
        "height": height[..., None],
    }
    return Candidate(channels | {k: v for k, v in changed.items() if v is not None})


def plane(value, depth=1):
    return np.full((SIDE, SIDE, depth), value, np.float32)


def kinds(result):
    return {gap.kind for gap in result.gaps}


def test_a_plausible_surface_passes_every_check():
    result = Physical().score(surface(), None)
    assert result.value == 1
    assert result.gaps == ()
    assert set(result.by_channel) == {"base_color", "roughness", "metallic", "normal", "height"}


@pytest.mark.parametrize(
    ("changed", "kind", "fails"),
    [
        ({"base_color": plane(1.0, 3)}, "dielectric_too_bright", True),
        ({"base_color": plane(srgb_to_linear(20 / 255), 3)}, "dielectric_too_dark", False),
        ({"metallic": plane(1), "base_color": plane(srgb_to_linear(140 / 255), 3)}, "metal_too_dark", True),
        ({"metallic": plane(1), "base_color": plane(srgb_to_linear(170 / 255), 3)}, "metal_dull", False),
        ({"metallic": plane(0.4)}, "metallic_between", True),
        ({"roughness": plane(0.01)}, "roughness_out_of_range", True),
        ({"roughness": plane(1.2)}, "roughness_out_of_range", True),
        ({"roughness": plane(0.06)}, "roughness_mirror", False),
        ({"normal": plane(0.5, 3)}, "normal_length", True),
        ({"normal": np.broadcast_to(np.array([0.6, 0, -0.8], np.float32), (SIDE, SIDE, 3))}, "normal_backward", True),
        ({"height": surface().channels["height"] * 200}, "height_span", True),
        ({"height": -surface().channels["height"]}, "height_agrees", False),
        ({"height": np.full((SIDE, SIDE, 1), np.inf, np.float32)}, "height_unusable", True),
        ({"roughness": plane(0.5, 3)}, "roughness_unusable", True),
    ],
)
def test_each_limit_is_noticed(changed, kind, fails):
    result = Physical().score(surface(**changed), None)
    assert kind in kinds(result)
    assert result.value <= 0.5 if fails else 0.5 < result.value < 1
    gap = next(g for g in result.gaps if g.kind == kind)
    assert gap.size > 0
    assert gap.channel in changed or kind in ("dielectric_too_dark", "height_agrees", "metal_dull", "metal_too_dark")


def test_noise_for_normals_belongs_to_no_surface():
    tilt = np.random.default_rng(0).normal(0, 0.3, (SIDE, SIDE, 2))
    normal = np.concatenate([tilt, np.ones((SIDE, SIDE, 1))], axis=-1)
    normal = (normal / np.linalg.norm(normal, axis=-1, keepdims=True)).astype(np.float32)
    assert "normal_integrable" in kinds(Physical().score(surface(normal=normal), None))


def test_a_metallic_edge_of_few_pixels_is_allowed():
    metallic = plane(0)
    metallic[:2] = 0.5  # 3 % of the pixels
    assert Physical().score(surface(metallic=metallic), None).value == 1


def test_missing_channels_are_said_and_no_channel_at_all_is_unscored():
    partial = Physical().score(Candidate({"roughness": plane(0.5)}), None)
    assert partial.value == 1
    assert partial.reason == "not rendered: base_color, height, metallic, normal"
    nothing = Physical().score(Candidate({"beauty": plane(0.5, 3)}), None)
    assert not nothing.scored
    assert "none of the channels" in nothing.reason


def test_heights_are_judged_by_the_size_of_the_patch():
    relief = surface().channels["height"] * 30  # 30 cm: too much on a metre, little on ten
    assert "height_span" in kinds(Physical(1.0).score(surface(height=relief), None))
    assert "height_span" not in kinds(Physical(10.0).score(surface(height=relief), None))


def test_constants_are_held_against_a_surface_only_where_the_reference_calls_for_more():
    flat_normal = np.zeros((64, 64, 3), np.float32)
    flat_normal[..., 2] = 1
    flat = surface(height=plane(0.0), normal=flat_normal, roughness=plane(0.5))
    assert not {"height_constant", "roughness_constant"} & kinds(Physical().score(flat, None))
    called = Physical(varying={"height": "dark joints are usually recessed", "roughness": "two materials meet"})
    result = called.score(flat, None)
    assert {"height_constant", "roughness_constant"} <= kinds(result)
    assert result.value == pytest.approx(0.75 * 0.9 * Physical().score(flat, None).value)
    assert any("though dark joints are usually recessed" in gap.message for gap in result.gaps)
    ramp = np.linspace(0, 1, 64, dtype=np.float32)[None, :, None].repeat(64, axis=0)
    varied = surface(height=0.01 * ramp, normal=flat_normal, roughness=0.3 + 0.3 * ramp)
    assert not {"height_constant", "roughness_constant"} & kinds(called.score(varied, None))


def test_budget_counts_and_saturates():
    def cost(**facts):
        return Budget().score(Candidate({}, Facts(**facts)), None)

    halves = load_table("budget.json")["half"]
    assert cost().value == 0
    assert not cost().higher_is_better
    half = cost(node_count=halves["nodes"], rejected_actions=halves["wasted_actions"] - 1, useless_actions=1)
    assert half.value == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert cost(samples_pixels=10**15).value < 1
    assert cost(node_count=5).value < cost(node_count=6).value


def test_compile_is_a_gate_with_its_messages():
    bad = Compile().score(Candidate({}, Facts(compile_ok=False, compile_messages=("no output", "cycle"))), None)
    assert (bad.value, bad.reason) == (0.0, "no output; cycle")
    assert Compile().score(Candidate({}), None).reason.startswith("the graph compiles but")


def term(name, value, **kwargs):
    return TermResult(name, value, **kwargs)


WEIGHTS = {"structure": 0.3, "appearance": 0.5, "physical": 0.1, "compile": 0.1, "budget": 0.05}
THRESHOLDS = {"structure": 0.5, "appearance": 0.6, "physical": 0.5, "compile": 0.5}


def terms(structure=0.8, appearance=0.9, physical=1.0, compiled=1.0, budget=0.2):
    return {
        "structure": term("structure", structure),
        "appearance": term("appearance", appearance),
        "physical": term("physical", physical),
        "compile": term("compile", compiled, reason="" if compiled else "no output"),
        "budget": term("budget", budget, higher_is_better=False),
    }


def test_reward_is_the_weighted_sum_less_the_cost():
    verdict = combine(terms(), WEIGHTS, THRESHOLDS)
    assert verdict.reward == pytest.approx(0.3 * 0.8 + 0.5 * 0.9 + 0.1 + 0.1 - 0.05 * 0.2)
    assert verdict.success
    assert verdict.failures == ()


def test_unscored_terms_drop_out_and_never_count_as_nought():
    with_physical = combine(terms(physical=1.0), WEIGHTS, THRESHOLDS)
    without = combine(terms(physical=UNSCORED), WEIGHTS, THRESHOLDS)
    assert without.reward == pytest.approx((0.3 * 0.8 + 0.5 * 0.9 + 0.1) / 0.9 - 0.05 * 0.2)
    assert without.success
    assert without.reward > combine(terms(physical=0.0), WEIGHTS, THRESHOLDS).reward
    assert not math.isnan(with_physical.reward)


def test_a_failed_compile_gives_nought_whatever_else():
    verdict = combine(terms(compiled=0.0), WEIGHTS, THRESHOLDS)
    assert verdict.reward == 0
    assert verdict.failures == ("compile: no output",)


def test_success_needs_every_scored_term_above_its_threshold_and_something_compared():
    at = combine(terms(structure=0.5), WEIGHTS, THRESHOLDS)
    assert at.failures == ("structure: 0.500 is not above 0.500",)
    expensive = combine(terms(budget=1.0), WEIGHTS, THRESHOLDS)
    assert expensive.success
    blind = combine(terms(structure=UNSCORED, appearance=UNSCORED), WEIGHTS, THRESHOLDS)
    assert not blind.success
    assert "nothing was compared" in blind.failures[0]


def test_a_component_with_a_threshold_of_its_own_is_not_made_up_for():
    found = terms(appearance=0.95)
    found["appearance"] = replace(found["appearance"], numbers={"value_palette": 0.4, "distance_palette": 6.0})
    verdict = combine(found, WEIGHTS, {**THRESHOLDS, "palette": 0.5, "lattice": 0.5})
    assert verdict.failures == ("appearance: palette: 0.400 is not above 0.500",)  # no lattice to compare
    assert combine(found, WEIGHTS, {**THRESHOLDS, "palette": 0.3}).success
    assert combine(found, WEIGHTS, THRESHOLDS).reward == verdict.reward


@pytest.mark.parametrize("component", ["palette", "lattice"])
def test_colours_or_a_lattice_of_another_material_are_never_a_success(component):
    found = terms(appearance=0.95)
    found["appearance"] = replace(found["appearance"], numbers={f"value_{component}": 0.05})
    for thresholds in (THRESHOLDS, {**THRESHOLDS, component: 0.01}):
        verdict = combine(found, WEIGHTS, thresholds)
        assert verdict.failures == (f"appearance: {component}: 0.050 is not above 0.100",)


def test_gaps_are_ranked_by_loss_of_reward_and_carry_suggestions():
    def gap(name, size, kind, direction, scale="meso"):
        return Gap(name, scale, "luma", kind, direction, size, 0, 1, "", kind)

    result = combine(
        {
            **terms(),
            "structure": TermResult("structure", 0.5, gaps=(gap("structure", 0.9, "spectral_slope", "too_high"),)),
            "appearance": TermResult(
                "appearance",
                0.5,
                gaps=(gap("appearance", 0.2, "hue", "differs"), gap("appearance", 0.8, "contrast", "too_low")),
            ),
        },
        WEIGHTS,
        THRESHOLDS,
    )
    assert [g.kind for g in result.gaps] == ["contrast", "spectral_slope", "hue"]
    assert any("Roughness" in text for text in result.gaps[1].suggests)
    assert all(g.suggests for g in result.gaps)


def test_value_of_a_distance():
    assert value_of(0.1, 0.2, 1.0) == 1
    assert value_of(0.2, 0.2, 1.0) == 1
    assert value_of(0.6, 0.2, 1.0) == pytest.approx(0.5)
    far = [value_of(d, 0.2, 1.0) for d in np.linspace(0, 5, 200)]
    assert (np.diff(far) <= 0).all()
    assert 0 < far[-1] < value_of(1.0, 0.2, 1.0) < 0.05
    assert math.isnan(value_of(math.nan, 0.2, 1.0))


def lattice(one, other):
    return Lattice(1.0, (one, other), 0.0, 0.0, (1.0, 1.0), (1.0, 1.0))


def test_lattice_difference_does_not_depend_on_the_basis_and_grows_with_the_misfit():
    bond = lattice((32, 0), (16, 16))
    assert lattice_difference(lattice((32, 0), (-16, 16)), bond) == pytest.approx(0, abs=1e-9)
    assert lattice_difference(lattice((48, 16), (16, 16)), bond) == pytest.approx(0, abs=1e-9)
    near, nearer = (lattice_difference(lattice((32, 0), (16 * s, 16 * s)), bond) for s in (1.2, 1.1))
    assert 0 < nearer < near
    assert lattice_difference(lattice((32, 0), (0, 16)), bond) == pytest.approx(1)  # stacked instead of running
    assert lattice_difference(lattice((16, 0), (8, 8)), bond) == lattice_difference(bond, lattice((16, 0), (8, 8))) == 1


def test_the_committed_calibration_is_complete_and_says_how_it_was_made():
    calibration = load_calibration()
    assert sum(v for k, v in calibration.weights.items() if k != "budget") == pytest.approx(1, abs=1e-3)
    assert set(calibration.sizes) == {64, 128, 256}
    assert {"command", "date", "figures", "graphs", "photographs"} <= set(calibration.made_by)
    for size in calibration.sizes:
        thresholds = calibration.thresholds_at(size)
        terms_of_it = {"structure", "appearance", "appearance_without_network", "physical", "compile"}
        assert terms_of_it <= set(thresholds) <= terms_of_it | {c.name for c in COMPONENTS}
        missing = {c.name for c in COMPONENTS} - set(calibration.at(size).components)
        assert missing <= {"spectrum_micro"}  # at 64 px no ring lies above 32 cycles
        for rule in calibration.at(size).components.values():
            assert 0 <= rule.floor_low <= rule.floor_high < rule.ceiling
    with pytest.raises(EvaluatorError, match="one of the sides 64, 128, 256 px, got 100 px"):
        calibration.at(100)


def test_a_calibration_file_that_is_none_is_refused(tmp_path):
    path = tmp_path / "weights.json"
    path.write_text('{"schema": 1, "weights": {}}')
    with pytest.raises(EvaluatorError, match=r"weights\.json"):
        load_calibration(path)
    path.write_text('{"schema": 99}')
    with pytest.raises(EvaluatorError, match="schema 99"):
        load_calibration(path)
    assert isinstance(load_calibration(), Calibration)


def test_every_kind_of_physical_gap_has_a_suggestion():
    suggestions = load_table("suggestions.json")
    assert set(load_table("physical.json")) <= set(suggestions)
