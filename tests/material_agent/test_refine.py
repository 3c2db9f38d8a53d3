"""Fits that start from a material: what is locked stays, what is free is searched, bad starts are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from agent_runs import config

from graph_api import Link, Node, dumps, from_json, load_graph, start_graph
from graph_api.compare import compare
from material_agent.actors.refine import RefineActor
from material_agent.errors import BadInput
from material_agent.events import RunStarted, read_events
from material_agent.fit import run_fit
from renderer import export_blend


@pytest.fixture(scope="module")
def material():
    graph = start_graph("5.0")
    nodes = (
        Node("bricks", "ShaderNodeTexBrick", {"Scale": 4.0, "Mortar Size": 0.03}, role="macro"),
        Node("grain", "ShaderNodeTexNoise", {"Scale": 40.0}, role="micro"),
        Node("bump", "ShaderNodeBump", {"Distance": 0.004}),
    )
    for node in nodes:
        graph = graph.with_node(node)
    links = (
        Link("mapping", "Vector", "bricks", "Vector"), Link("bricks", "Color", "principled", "Base Color"),
        Link("grain", "Fac", "bump", "Height"), Link("bump", "Normal", "principled", "Normal"),
    )  # fmt: skip
    return replace(graph, links=(*graph.links, *links))


def refine(pool, reference, out, start, **settings):
    run = config(reference, out, attempts=1, start=str(start), limits={"candidates": 40}, **settings)
    return run_fit(run, actor_factory=RefineActor, reflector=None, renderer=pool, overwrite=True)


def test_the_free_is_searched_and_the_locked_stays(pool, brick_file, material, tmp_path) -> None:
    """From a .blend, with the material named and its group read in place."""
    export_blend(material, tmp_path / "studio.blend", name="Wall: old")
    start = f"{tmp_path / 'studio.blend'}:Wall: old"
    refine(pool, brick_file, tmp_path / "run", start, locks=("color", "bump.Distance"))
    events, _, _ = read_events(tmp_path / "run" / "events.jsonl")
    started = events[0]
    assert isinstance(started, RunStarted) and "bump.Distance is locked" in started.locks
    before = from_json(started.start_graph)
    after = load_graph((tmp_path / "run" / "graph.json").read_text()).graph
    found = compare(before, after)
    assert found.added == found.removed == found.linked == found.unlinked == ()
    assert found.changed, "nothing was searched"
    assert {change.node for change in found.changed} <= {"grain", "principled"}
    assert before.nodes["bricks"] == after.nodes["bricks"] and before.nodes["bump"] == after.nodes["bump"]


def test_bad_starts_and_locks_are_told_before_the_old_run_is_touched(pool, brick_file, material, tmp_path):
    out = tmp_path / "run"
    out.mkdir()
    (out / "events.jsonl").write_text("kept\n")
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(dumps(material))
    bad.write_text("{}")
    for start, settings, said in (
        (tmp_path / "absent.blend", {}, "to start from"),
        (bad, {}, "format"),
        (good, {"locks": ("weather",)}, "known: .*color"),
        (good, {"only": ("weather",)}, "known: color"),
    ):
        with pytest.raises(BadInput, match=said):
            refine(pool, brick_file, out, start, **settings)
    assert (out / "events.jsonl").read_text() == "kept\n"


def test_locks_without_a_start_are_refused(brick_file, tmp_path) -> None:
    with pytest.raises(ValueError, match="start"):
        config(brick_file, tmp_path, locks=("color",))
