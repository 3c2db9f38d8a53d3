"""Whatever a model writes either applies, and then the graph is sound, or is refused; never anything else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from random_graphs import random_graph

from graph_api import (
    ActionRejected,
    action_from_json,
    apply,
    available_versions,
    dumps,
    from_json,
    load_catalog,
    render_hash,
    summary_text,
    validate,
)
from graph_api.actions import AddNode, Connect, Disconnect, SetParam

JUNK: list[Any] = [
    None, True, 0, -1, 1.5, float("nan"), 1e308, 10**30, "", "a", "0.5", "#fff", "[1,2", "[1,2,3]", "(1,2)", "1,2,3",
    '{"stops":[]}', [], [1], [1, 2, 3], [1, 2, 3, 4], ["a"], [[0, [1, 1, 1]]], {}, {"stops": [[0, "#fff"]]}, "RGBA",
    {"curves": [[[0, 0], [1, 1]]]}, {"float": "nan"}, {"kind": "curves"}, "\ud800", "木", "CLAMP",
]  # fmt: skip
KEYS = ("", ".", "A", "Color", "Fac", "operation", "color_ramp", "color_ramp.stops", "mapping.extend", "label", "mute")
# What a random graph may lack from the start, and no edit has to mend.
UNFINISHED = ("no_image", "no_surface", "no_output")


@pytest.mark.parametrize("version", available_versions())
def test_junk_is_applied_soundly_or_refused(version: str) -> None:
    rng = np.random.default_rng(11)
    graph, catalog = random_graph(2, version=version, size=15), load_catalog(version)
    ids = [*graph.nodes, "nope", ""]
    applied = refused = 0
    for _ in range(700):
        name = ids[int(rng.integers(len(ids)))]
        keys = list(KEYS)
        if name in graph.nodes:
            kind = catalog.node(graph.nodes[name].type)
            assert kind is not None
            keys += [*kind.properties, *kind.default_state.inputs, *kind.default_state.outputs]
        key, junk = keys[int(rng.integers(len(keys)))], JUNK[int(rng.integers(len(JUNK)))]
        source = f"{ids[int(rng.integers(len(ids)))]}.{key}"
        choices: list[dict[str, Any]] = [
            {"op": "set_param", "node": name, "key": key, "value": junk},
            {"op": "connect", "src": source, "dst": name, "slot": key},
            {"op": "disconnect", "dst": name, "slot": key},
            {"op": "add_node", "type": str(junk)},
        ]
        try:
            action = action_from_json(choices[int(rng.choice(4, p=(0.7, 0.1, 0.1, 0.1)))])
            assert isinstance(action, AddNode | Connect | Disconnect | SetParam)
            after = apply(graph, action).graph
        except ActionRejected as error:
            assert error.to_json()["message"]
            refused += 1
            continue
        applied += 1
        errors = [p for p in validate(after, catalog) if p.level == "error" and p.code not in UNFINISHED]
        assert errors == []
        assert from_json(dumps(after)) == after
        assert summary_text(after)
        assert render_hash(after, catalog)
        graph = after
    assert applied > 50
    assert refused > 200
