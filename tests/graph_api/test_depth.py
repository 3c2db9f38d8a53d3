"""Nesting beyond reason is refused at every door."""

from __future__ import annotations

from typing import Any

import pytest
from builds import refuse

from graph_api import (
    ActionRejected,
    BanInvalid,
    MalformedGraph,
    SetParam,
    action_from_json,
    ban_from_json,
    from_json,
    start_graph,
)


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("levels", [40, 900, 5000])
@pytest.mark.parametrize("key", ["Base Color", "Roughness", "distribution", "label", "mute"])
def test_g5_a_value_nested_beyond_reason_is_refused_in_few_words(key: str, levels: int) -> None:
    """Python's own recursion limit lies near 1000; a model's text may hold any depth."""
    texts = ("[" * levels + "]" * levels, "[" * levels) if key in ("Base Color", "Roughness") else ()
    for value in (nested(levels), *texts):
        assert len(str(refuse(start_graph(), SetParam("principled", key, value), "bad_value"))) < 300
    for action in (nested(levels), {"op": nested(levels)}, {"op": "set_param", "node": "n", "key": nested(levels)}):
        with pytest.raises(ActionRejected) as caught:
            action_from_json(action)
        assert caught.value.code == "bad_action"
    with pytest.raises(MalformedGraph):
        from_json({"format": nested(levels)})
    with pytest.raises(BanInvalid):
        ban_from_json({"kind": nested(levels)})
