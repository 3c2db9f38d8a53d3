"""The statistics against enumeration, a textbook's example and simulated truth."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from material_agent.experiments.statistics import compare, holm, interval, sign_flip


def test_the_sign_flip_test_is_the_exact_one():
    values = np.array([0.3, 0.1, -0.05, 0.2, 0.15, 0.4])
    means = [abs(np.mean(values * signs)) for signs in itertools.product((1, -1), repeat=len(values))]
    exact = np.mean([mean >= abs(values.mean()) - 1e-12 for mean in means])
    assert sign_flip(values, resamples=100, seed=0) == pytest.approx(exact)


def test_holm_against_a_worked_example():
    # Holm 1979 by hand: sorted .01 .02 .03 .04 times 4 3 2 1, made monotone.
    assert holm([0.02, 0.01, 0.04, 0.03]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_intervals_hold_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(3)
    held = 0
    for k in range(120):
        low, high = interval(rng.normal(0.4, 1.0, 14), alpha=0.1, resamples=300, seed=k)
        held += low <= 0.4 <= high
    assert 0.8 <= held / 120 <= 0.97


def test_runs_on_one_reference_are_no_independent_evidence():
    # Forty runs on two references: whatever they say, two signs decide nothing.
    pairs = {"a": [1.0] * 20, "b": [1.1] * 20}
    found = compare(pairs, alpha=0.05, resamples=500, seed=0)
    assert found is not None
    assert (found.references, found.pairs, found.better) == (2, 40, 40)
    assert found.p == 0.5


def test_what_a_side_cannot_say_is_counted_and_left_out():
    found = compare({"a": [0.5, None], "b": [None]}, alpha=0.05, resamples=500, seed=0)
    assert found is not None
    assert (found.references, found.pairs, found.missing, found.difference) == (1, 1, 2, 0.5)
    assert compare({"a": [None]}, alpha=0.05, resamples=500, seed=0) is None


def test_equal_sides_differ_by_nothing():
    found = compare({name: [0.0, 0.0] for name in "abcdefgh"}, alpha=0.05, resamples=500, seed=0)
    assert found is not None
    assert (found.difference, found.low, found.high, found.p, found.same) == (0.0, 0.0, 0.0, 1.0, 16)
