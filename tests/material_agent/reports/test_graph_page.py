"""The page of a graph in a real browser: it fits, it zooms, it fetches nothing, it complains of nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph_api import Node, start_graph
from graph_api.compare import compare
from material_agent.reports.graph_page import graph_page


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    before = start_graph("5.0")
    shader = before.nodes["principled"]
    hostile = "<script>window.hacked=1</script>"
    after = before.with_node(replace(shader, inputs={"Roughness": 0.25})).with_node(
        Node("n", "ShaderNodeTexNoise", label=hostile)
    )
    html = graph_page(after, hostile, [f"warning: {hostile}"], [hostile], before=before,
                      difference=compare(before, after))  # fmt: skip
    path = tmp_path_factory.mktemp("page") / "graph.html"
    path.write_text(html, encoding="utf-8")
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(path.as_uri())
    return browser


def test_it_loads_without_a_complaint_and_runs_nothing_of_others(page) -> None:
    assert page.get_log("browser") == []
    assert page.execute_script("return window.hacked === undefined")


def test_both_drawings_fit_their_boxes_and_nodes_are_where_they_should_be(page) -> None:
    boxes = page.execute_script(
        "return [...document.querySelectorAll('.drawing')].map(b => {const o = b.getBoundingClientRect(),"
        "i = b.querySelector('svg').getBoundingClientRect();"
        "return [o.left, o.right, o.top, o.bottom, i.left, i.right, i.top, i.bottom]})"
    )
    assert len(boxes) == 2
    for left, right, top, bottom, x0, x1, y0, y1 in boxes:
        assert left - 1 <= x0 and x1 <= right + 1 and top - 1 <= y0 and y1 <= bottom + 1
    count = "return document.querySelectorAll('.drawing')[1].querySelectorAll('g.node').length"
    assert page.execute_script(count) == 5
    # Text stays inside the node that it belongs to.
    outside = page.execute_script(
        "return [...document.querySelectorAll('g.node')].flatMap(g => {const r = g.querySelector('rect')"
        ".getBoundingClientRect(); return [...g.querySelectorAll('text')].filter(t => t.textContent)"
        ".filter(t => {const b ="
        "t.getBoundingClientRect(); return b.right > r.right + 1 || b.left < r.left - 1}).map(t => t.textContent)})"
    )
    assert outside == []


def test_wheel_zooms_about_the_pointer(page) -> None:
    script = (
        "const b = document.querySelector('.drawing');"
        "const before = b.querySelector('svg').getBoundingClientRect().width;"
        "b.dispatchEvent(new WheelEvent('wheel', {deltaY: -300, clientX: 200, clientY: 300, cancelable: true}));"
        "return b.querySelector('svg').getBoundingClientRect().width / before"
    )
    assert page.execute_script(script) > 1.5
    assert page.execute_script("return document.querySelectorAll('#changes li').length") >= 2
