import io
import re

import pytest

from material_agent.cli.progress import State, _table, display
from material_agent.config import RunConfig
from material_agent.events import AttemptEnded, AttemptStarted, ContextBuilt, Decision, RunStarted, Search, WorkerLost


def test_time_left_follows_what_is_spent_and_never_passes_the_safety_stop():
    state = State(3, {"candidates": 100, "renders": 10, "seconds": 300})
    assert state.time_left == "at most 5:00"
    state.spent = {"candidates": 25, "renders": 1, "seconds": 30}
    assert state.time_left == "at most 1:30"  # a quarter took 30 s
    state.spent = {"candidates": 3, "seconds": 120}
    assert state.time_left == "at most 3:00"  # 300 s stop it before the candidates do
    state.spent = {"candidates": 100, "seconds": 310}
    assert state.time_left == "at most 0:00"
    assert State(1, {}).time_left == "unknown"


def test_lines_tell_what_happens_and_brackets_stay_brackets(capsys, tmp_path):
    events = [
        RunStarted(run="r", reference={"id": "x"}, config={}, actor="builtin", reflector="none", limits={},
                   versions={"blender": "5.0.1"}, start_graph={}),
        AttemptStarted(attempt=2, seed=1, graph_hash="0", force_new_structure=True),
        Decision(step=4, actor="builtin", reason="try [red]bricks[/red]\nand more", actions=2),
        Search(tried=8, ok=8, judge="screen", resolution=64),
        WorkerLost(observation="a1.o1", status="crashed"),
        AttemptEnded(outcome="stopped", stop="loop", reason="a loop", steps=3, structure="brick", attempt=2),
    ]  # fmt: skip
    with display(RunConfig(reference="x", out=tmp_path)) as listen:
        for event in events:
            listen(event)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "reference x, actor builtin, Blender 5.0.1",
        "attempt 2 of 3, another structure",
        "  step 4: try [red]bricks[/red] and more",
        "  a Blender worker was lost (crashed); the run goes on",
        "  attempt 2 ended: stopped, a loop; best –",
    ]


@pytest.mark.parametrize("reason", ["plain", "[bold]not markup[/bold]", "a\nb"])
def test_the_live_table_shows_attempt_step_and_what_was_tried(reason):
    from rich.console import Console

    state = State(3, {"seconds": 60})
    for event in (
        AttemptStarted(attempt=1, seed=1, graph_hash="0"),
        AttemptEnded(outcome="unfinished", stop="x", reason="x", steps=1, structure="tile", attempt=1),
        AttemptStarted(attempt=2, seed=1, graph_hash="0"),
        ContextBuilt(step=5, graph_hash="0", parts=(), edited_since_render=True, attempt=2),
        Decision(step=5, actor="a", reason=reason, actions=1, attempt=2),
    ):
        state.hear(event)
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(_table(state))
    text = console.export_text()
    assert re.search(r"attempt\s+2 of 3, step 5", text)
    assert re.search(r"tried\s+tile", text)
    assert " ".join(reason.split()) in text
