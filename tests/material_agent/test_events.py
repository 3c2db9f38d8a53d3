"""The log: readable after a kill at any byte, and honest about what a resume made void."""

from __future__ import annotations

import pytest

from material_agent.budget import Ledger
from material_agent.errors import BadInput
from material_agent.events import (
    AttemptStarted,
    EventLog,
    Observed,
    Proposal,
    Resumed,
    RunEnded,
    Thought,
    effective,
    read_events,
)


def write_some(path):
    ledger = Ledger()
    with EventLog(path, ledger) as log:
        log.write(AttemptStarted(seed=3, graph_hash="h"), 1)
        ledger.charge(actions=1)
        log.write(Thought(text="größer, ∆"), 1)
        log.write(Proposal(observation="a1.o1", action={"op": "inspect_graph"}), 1)
        log.write(Observed(id="a1.o1", op="inspect_graph", status="ok", graph_hash="h"), 1)
        log.write(RunEnded(outcome="unfinished", reason="test"))
    return path


def test_events_come_back_as_they_were_written(tmp_path):
    events, torn, length = read_events(write_some(tmp_path / "events.jsonl"))
    assert [event.kind for event in events] == ["attempt_started", "thought", "action", "observation", "run_ended"]
    assert [event.seq for event in events] == [0, 1, 2, 3, 4]
    assert events[1].text == "größer, ∆"
    assert (events[0].spent.get("actions", 0), events[1].spent["actions"]) == (0, 1)
    assert not torn
    assert length == (tmp_path / "events.jsonl").stat().st_size


def test_a_log_cut_at_any_byte_gives_the_whole_lines_before_the_cut(tmp_path):
    whole = write_some(tmp_path / "events.jsonl").read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(0, len(whole), 7):
        path = tmp_path / "cut.jsonl"
        path.write_bytes(whole[:cut])
        events, torn, length = read_events(path)
        assert len(events) == sum(end <= cut for end in ends)
        assert length == max((end for end in ends if end <= cut), default=0)
        assert torn == (length != cut)


def test_damage_in_the_middle_is_named_by_line(tmp_path):
    lines = write_some(tmp_path / "events.jsonl").read_bytes().splitlines(keepends=True)
    lines[1] = b'{"kind": "thought"}\n'
    (tmp_path / "bad.jsonl").write_bytes(b"".join(lines))
    with pytest.raises(BadInput, match="line 2"):
        read_events(tmp_path / "bad.jsonl")


def test_a_repeated_attempt_replaces_what_it_logged_before():
    old = Thought(text="old", attempt=2)
    kept = Thought(text="first attempt", attempt=1)
    new = Thought(text="new", attempt=2)
    events = effective([kept, old, Resumed(repeats=2), new])
    assert [event.text for event in events if event.kind == "thought"] == ["first attempt", "new"]


def test_half_a_character_from_an_actor_does_not_end_the_log(tmp_path):
    with EventLog(tmp_path / "e.jsonl", Ledger()) as log:
        log.write(Thought(text="a\ud800b"))
        log.write(Proposal(observation="a1.o1", action={"op": "note", "text": "\udcff", "list": ("\ud800", 1.5)}))
    first, second = read_events(tmp_path / "e.jsonl").events
    assert first.text == "a?b"
    assert second.action == {"op": "note", "text": "?", "list": ["?", 1.5]}
