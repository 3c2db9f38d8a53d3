"""The oracle: it stands where the evaluator stands, and knows what a picture does not show."""

import pytest

from evaluators import Candidate, EvaluatorError
from graph_api import SetParam, apply, from_json, reseed, start_graph
from material_agent.environment.scene import Judge
from material_agent.oracle import Oracle
from references.bundled import bundled
from renderer import CHANNELS, RenderRequest, RenderSettings

SETTINGS = RenderSettings(128, 4)


def truth(name="pebbles"):
    entry = next(entry for entry in bundled() if entry.id == name)
    return from_json(entry.graph.read_text(encoding="utf-8"))


def rendered(pool, graph):
    result = pool.render(RenderRequest(graph, "flat", CHANNELS, SETTINGS))
    assert result.ok, result.messages
    return Candidate(result.channels)


def test_the_truth_passes_and_what_only_looks_like_it_does_not(pool):
    oracle: Judge = Oracle(truth(), pool, settings=SETTINGS, network="off")
    own = oracle.evaluate(rendered(pool, truth()))
    assert own.success
    twin = oracle.evaluate(rendered(pool, reseed(truth(), (7.3, 3.7, 0.0))))
    assert twin.terms["physical"].value > 0.6
    # A sun straight above a dielectric shows next to nothing of its roughness: no picture tells, the oracle does.
    smooth = apply(truth(), SetParam("principled", "Roughness", 0.2)).graph
    other = oracle.evaluate(rendered(pool, smooth))
    assert other.terms["physical"].by_channel["roughness"] < 0.05
    assert other.reward < own.reward
    assert any(gap.channel == "roughness" for gap in other.gaps)


def test_a_truth_without_a_picture_is_refused(pool):
    broken = start_graph()
    empty = broken.__class__(broken.blender_version, {}, ())
    with pytest.raises(EvaluatorError, match="a true graph that renders"):
        Oracle(empty, pool, settings=SETTINGS)
