import pytest
from run_folder import make_run

from material_agent.errors import BadInput
from material_agent.events import AttemptStarted, Resumed, Search, read_events
from material_agent.reports.charts import Point, bar, reward_chart
from material_agent.reports.story import Move, Step, tell


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    return read_events(make_run(tmp_path_factory.mktemp("run")) / "events.jsonl").events


def test_actions_meet_their_answers(events):
    story = tell(events)
    assert [attempt.number for attempt in story.attempts] == [1, 2]
    first = story.attempts[0].steps[0]
    assert first.reason.startswith("periodicity 0.41")
    assert [type(item).__name__ for item in first.events] == ["str", "Search", "Move", "Move", "Move"]
    lost = first.moves[-1]
    assert (lost.op, lost.status, lost.lost, lost.evaluation) == ("render", "error", "crashed", None)
    assert [round(value, 2) for _, _, value in story.points] == [0.58, 0.61, 0.66]
    assert story.best is not None
    assert story.best.observation == "a2.o6"
    assert story.attempts[0].best.observation == "a1.o6"


def test_a_search_belongs_to_the_step_that_made_it(events):
    steps = tell(events).attempts[0].steps
    assert [step.number for step in steps] == [1, 2]
    assert all(sum(not isinstance(item, str | Move) for item in step.events) == 1 for step in steps)


def test_a_killed_run_has_no_end(tmp_path):
    kept = read_events(make_run(tmp_path, ended=False) / "events.jsonl").events
    assert tell(kept).end is None


def test_what_an_interrupted_attempt_logged_is_void_but_its_material_is_kept(events):
    cut = [event for event in events if event.attempt < 2 or event.kind != "attempt_ended"][:-1]
    best = tell(cut).best
    resumed = [*cut, Resumed(repeats=2), AttemptStarted(seed=1, graph_hash="0", attempt=2)]
    story = tell(resumed)
    assert story.resumes == 1
    assert story.attempts[1].steps == []
    assert story.best.observation == best.observation
    assert story.best.images == best.images
    assert story.best.evaluation == best.evaluation


@pytest.mark.parametrize("part", [slice(0, 0), slice(1, None)])
def test_a_log_without_its_beginning_is_refused(events, part):
    with pytest.raises(BadInput, match="expected a log that begins with run_started"):
        tell(events[part])


def test_the_chart_shows_every_verdict_and_marks_the_best():
    svg = reward_chart([Point(1, "a1.o1", 0.2), Point(1, "<b>", 0.5), Point(2, "a2.o1", 0.4)])
    assert svg.count("<circle") == 3
    assert svg.count('class="dot best"') == 1
    assert "<b>" not in svg
    assert "attempt 1" in svg
    assert "attempt 2" in svg
    assert reward_chart([]) == ""


def test_a_bar_without_a_value_is_not_a_bar_of_zero():
    assert 'class="fill' not in bar(None)
    assert 'class="fill"' in bar(0.0)
    assert "below" in bar(0.3, 0.5)
    assert "below" not in bar(0.7, 0.5)


def test_plain_edits_and_searches_are_told_as_one():
    def edit(op, status="ok", **more):
        return Move(op, "", f"a1.o{op}", status, **more)

    search = Search(tried=8, ok=8, judge="screen", resolution=64)
    events = [
        search,
        search,
        edit("add_node"),
        edit("connect"),
        edit("add_node"),
        edit("connect", "rejected"),
        "thought",
    ]
    told = Step(1, events=[*events, edit("render", images={"beauty": "a.png"})]).told
    assert [type(item).__name__ for item in told] == ["Searches", "Edits", "Move", "str", "Move"]
    assert len(told[0].events) == 2
    assert told[1].counts == {"add_node": 2, "connect": 1}
    assert told[2].status == "rejected"
