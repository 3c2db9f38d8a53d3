"""The fit on tables of known content, and its figures against independent formulas."""

import math

import numpy as np
import pytest
from scipy import stats

from evaluators.calibration import load_calibration
from evaluators.combine import ALIEN
from evaluators.components import BY_NAME, value_of
from material_agent.calibrate.calibration import calibrated, write
from material_agent.calibrate.figures import decision, held_out, lower_limit, order, upper_limit
from material_agent.calibrate.fit import (
    TERMS,
    above,
    component_values,
    data_at,
    fit_size,
    fit_thresholds,
    logistic,
    normalisations,
)
from material_agent.calibrate.table import Row, Table, load, save
from material_agent.errors import BadInput

NAMES = tuple(BY_NAME)


def table(families=8, telling=("lattice", "texture_meso"), seed=0):
    """Materials whose wrong candidates differ in `telling` components only; the rest is noise."""
    rng = np.random.default_rng(seed)
    rows, own = [], {}
    for family in range(families):
        name = f"material{family}"
        for size in (64, 128, 256):
            own[name, size] = dict.fromkeys(NAMES, 0.2)

        def row(kind, label, far, size, name=name, family=family, chain="", severity=0, hard=False):
            distances = {n: float(abs(rng.normal(0.3, 0.1)) + (far if n in telling else 0)) for n in NAMES}
            return Row(name, f"family{family}", False, size, kind, label, hard, chain, severity, distances)

        for size in (64, 128, 256):
            rows += [row("twin", "right", 0.0, size) for _ in range(8)]
            rows += [row("other", "wrong", 2.0, size) for _ in range(8)]
            rows += [row("near_miss", "wrong", 1.0, size, hard=True) for _ in range(8)]
            rows += [row("tint", "graded", 0.4 * s, size, chain="tint", severity=s) for s in range(4)]
    return Table(tuple(rows), own)


def test_the_fit_finds_what_tells_right_from_wrong():
    data = data_at(table(), 128)
    fit = fit_size(data, 0.01)
    weights = {name: rule["weight"] for name, rule in fit.components.items()}
    structure = {n: w for n, w in weights.items() if BY_NAME[n].term == "structure"}
    assert max(structure, key=structure.get) == "lattice"
    assert weights["texture_meso"] == pytest.approx(1)
    assert min(weights.values()) > 0
    figures = decision(held_out(data, 4, 0.01))
    assert figures["wrong_count"] == 128 and figures["hard_count"] == 64
    assert figures["pass_given_wrong"] <= 0.03
    assert figures["fail_given_right"] <= 0.2


def test_what_one_component_alone_tells_becomes_a_threshold_of_its_own():
    rng = np.random.default_rng(5)
    data = data_at(table(), 128)
    tinted = data.hard & data.wrong
    values = {name: rng.normal(0.9, 0.03, len(data.rows)) for name in (*TERMS, "palette")}
    values |= {name: np.full(len(data.rows), math.nan) for name in ("lattice", "scale")}
    values["structure"][data.wrong & ~tinted] -= 0.5
    values["palette"][tinted] -= 0.45
    passed, thresholds = fit_thresholds(data, values, 0.015)
    assert passed > 0.95
    assert 0.45 < thresholds["palette"] < 0.9
    # What no row calls for stays at the least: a lattice like that of another material is never accepted.
    assert thresholds["lattice"] == ALIEN
    assert "scale" not in thresholds
    assert above(values, thresholds)[data.wrong].mean() <= 0.02
    values["palette"] = np.full(len(data.rows), math.nan)
    assert fit_thresholds(data, values, 0.015)[0] < 0.2


def test_values_are_those_of_the_evaluator():
    data = data_at(table(), 64)
    rules = normalisations(data)
    values = component_values(data, rules)
    assert {"lattice", "texture_meso"} <= set(rules)
    for name, rule in rules.items():
        column = NAMES.index(name)
        floor = min(max(0.2, rule["floor_low"]), rule["floor_high"])
        for row in range(0, len(data.rows), 17):
            assert values[row, column] == pytest.approx(
                value_of(data.distances[row, column], floor, rule["ceiling"]), abs=1e-9
            )


def test_limits_are_those_of_the_binomial_distribution():
    for count, total in ((0, 300), (4, 300), (20, 100), (99, 100)):
        limit = upper_limit(count, total)
        assert stats.binom.cdf(count, total, limit) == pytest.approx(0.05, abs=1e-9)
    assert stats.binom.sf(19, 100, lower_limit(20, 100)) == pytest.approx(0.05, abs=1e-9)
    assert upper_limit(0, 0) == upper_limit(5, 5) == 1


def test_the_logistic_fit_is_that_of_an_independent_optimum():
    rng = np.random.default_rng(3)
    losses = rng.uniform(0, 1, (400, 2))
    wrong = losses[:, 0] + 0.1 * rng.standard_normal(400) > 0.5
    weights = logistic(losses, wrong, np.full(400, 1 / 400), 2e-3)
    assert weights[0] > 2 * weights[1]
    assert weights[1] >= 0.25


def test_order_counts_pairs_in_which_the_worse_scores_lower():
    data = data_at(table(), 128)
    judged = held_out(data, 4, 0.01)
    found = order(judged, {"structure": 0.4, "appearance": 0.6})
    assert found["pairs"] == 8 * 6
    assert found["agreement"] > 0.8
    assert order(judged, {"structure": -0.4, "appearance": -0.6})["agreement"] < 0.2


def test_a_calibration_is_written_read_and_says_how_it_was_made(tmp_path):
    result = calibrated(table(families=6), command="test", date="2026-01-01")
    path = tmp_path / "weights.json"
    write(result, path)
    read = load_calibration(path)
    assert set(read.sizes) == {64, 128, 256}
    assert sum(read.weights[t] for t in ("structure", "appearance", "physical", "compile")) == pytest.approx(
        1, abs=1e-3
    )
    assert read.made_by["command"] == "test" and read.made_by["date"] == "2026-01-01"


def test_equal_tables_give_equal_fits():
    one, other = (fit_size(data_at(table(families=6), 64), 0.015) for _ in range(2))
    assert repr(one) == repr(other)  # a NaN is not equal to itself


def test_tables_survive_the_disk_and_others_are_refused(tmp_path):
    path = tmp_path / "table.json"
    some = table(families=2)
    broken = Row("m", "f", True, 64, "twin", "right", False, "", 0, {"lattice": math.nan})
    save(Table((*some.rows, broken), some.own), path)
    back = load(path)
    assert len(back.rows) == len(some.rows) + 1
    assert math.isnan(back.rows[-1].distances["lattice"])
    path.write_text("{}")
    with pytest.raises(BadInput, match="expected a table of distances"):
        load(path)


def test_too_few_families_are_refused():
    with pytest.raises(BadInput, match="families"):
        calibrated(table(families=2), command="test", date="2026-01-01")
