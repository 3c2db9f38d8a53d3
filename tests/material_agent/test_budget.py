"""The ledger keeps count, refuses by kind, value and limit, and survives JSON."""

from __future__ import annotations

import json

import pytest

from material_agent.budget import Ledger
from material_agent.errors import BadInput, BudgetExhausted


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_a_limit_says_what_it_is_and_charges_nothing():
    ledger = Ledger({"renders": 2})
    ledger.charge(renders=1)
    ledger.require(renders=1)
    with pytest.raises(BudgetExhausted, match="renders exhausted: expected at most 2, got 3") as caught:
        ledger.require(renders=2)
    assert (caught.value.resource, caught.value.value, caught.value.limit) == ("renders", 3, 2)
    assert ledger.spent["renders"] == 1


def test_charges_go_through_whatever_the_limit():
    ledger = Ledger({"tokens": 10})
    ledger.charge(tokens=25, money_usd=0.5)
    assert ledger.remaining == {"tokens": 0.0}
    assert ledger.spent["money_usd"] == 0.5


def test_seconds_stop_everything_and_go_on_after_a_resume():
    clock = Clock()
    ledger = Ledger({"seconds": 10, "actions": 5}, clock=clock)
    ledger.charge(actions=3)
    clock.now += 6
    later = Clock()
    again = Ledger(ledger.limits, json.loads(json.dumps(ledger.spent)), clock=later)
    assert again.spent["seconds"] == pytest.approx(6)
    assert again.remaining == {"seconds": pytest.approx(4), "actions": 2}
    later.now += 5
    with pytest.raises(BudgetExhausted, match="seconds"):
        again.require(actions=1)


@pytest.mark.parametrize("amounts", [{"hours": 1}, {"renders": -1}, {"renders": float("nan")}, {"seconds": 1}])
def test_what_cannot_be_charged_is_bad_input(amounts):
    with pytest.raises(BadInput):
        Ledger().charge(**amounts)
