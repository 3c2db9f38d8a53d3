"""Servers that are slow, busy or refuse; limits; what is charged; recordings. Case L3."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_runs import config
from agent_world import GIVE_UP, RENDER, Listed, noise, put
from model_server import KEY, Answer, calls, in_turn, serving
from pydantic_ai.messages import ModelRequest, UserPromptPart
from test_llm_fits import MODEL, fit, model_calls

from material_agent.actors.cast import cast_for
from material_agent.actors.llm import Client
from material_agent.actors.llm.wire import Request
from material_agent.actors.models import LLMSettings, parse_model
from material_agent.api import fit_material
from material_agent.budget import Ledger
from material_agent.errors import ActorGone, BadInput, BudgetExhausted, MissingExtra
from material_agent.events import read_events

HELLO = Request((ModelRequest(parts=[UserPromptPart("hello")]),))
BUSY = {"message": "Rate limit reached"}


def client_of(server, *, sleep=None, limits=None, actor=MODEL, **settings):
    made = Client(
        parse_model(actor, server.url),
        LLMSettings(**{"timeout_s": 10.0, **settings}),
        **({} if sleep is None else {"sleep": sleep}),
    )
    ledger, log = Ledger(limits or {}), Listed()
    made.begin(ledger, log)
    return made, ledger, log


def ask(client):
    return client.ask(lambda _: HELLO, "act")


def test_the_same_failing_call_fifty_times_ends_early(pool, brick_file, tmp_path):
    """Case L3, first: the third same answer ends the attempt."""
    wrong = Answer(calls=calls(put("nowhere", "Scale", 4)))
    with serving(in_turn(*[wrong] * 50)) as server:
        result = fit(pool, brick_file, tmp_path, server)
    assert len(server.asked) == 3
    assert result.attempts[0].stop == "loop"
    assert "set_param with the same answer came 3 times" in result.attempts[0].reason


def test_retry_after_is_honoured():
    """Case L3: 429 with Retry-After 2, then fine."""
    busy = Answer(status=429, error=BUSY, headers={"Retry-After": "2"})
    with serving(in_turn(busy, Answer("hello"))) as server:
        client, ledger, log = client_of(server)
        assert ask(client).text == "hello"
        client.close()
    assert server.times[1] - server.times[0] >= 2.0
    assert [(event.status, event.retry, event.waited_s) for event in log.events] == [
        ("rate_limit", 0, 0.0),
        ("ok", 1, 2.0),
    ]
    assert (ledger.spent["calls"], ledger.spent["failed_calls"]) == (2, 1)


def test_waits_grow_when_the_server_does_not_say_and_end_after_the_tries():
    waits: list[float] = []
    with serving(in_turn(Answer(status=429, error=BUSY))) as server:
        client, ledger, _ = client_of(server, sleep=waits.append)
        with pytest.raises(ActorGone, match=r"did not answer in 6 calls: rate_limit \(HTTP 429: Rate limit reached"):
            ask(client)
        client.close()
    assert waits == [1, 2, 4, 8, 16]
    assert len(server.asked) == 6
    assert ledger.spent["failed_calls"] == 6


def test_429_for_ever_keeps_the_best_and_says_why(pool, brick_file, tmp_path):
    """Case L3: the material of the first turn is kept; nobody is asked for a second attempt."""
    busy = Answer(status=429, error=BUSY, headers={"Retry-After": "0"})
    with serving(in_turn(Answer(calls=calls(*noise(), RENDER)), busy)) as server:
        result = fit(pool, brick_file, tmp_path, server, models={"tries": 3}, attempts=3, report_resolution=64)
    assert len(server.asked) == 4
    assert [attempt.stop for attempt in result.attempts] == ["actor_gone"]
    assert "Rate limit reached" in result.attempts[0].reason
    assert result.best is not None
    assert (tmp_path / "material.blend").stat().st_size > 0
    assert result.exit_code == 1


def test_a_wait_longer_than_there_is_time_is_not_begun():
    waits: list[float] = []
    long = Answer(status=429, error=BUSY, headers={"Retry-After": "3600"})
    with serving(in_turn(long)) as server:
        client, *_ = client_of(server, sleep=waits.append)
        with pytest.raises(ActorGone, match="asks to wait 3600 s"):
            ask(client)
        client.close()
        client, *_ = client_of(server, sleep=waits.append, limits={"seconds": 60.0}, max_wait_s=7200.0)
        with pytest.raises(BudgetExhausted, match="seconds"):
            ask(client)
        client.close()
    assert waits == []


def test_a_slow_model_is_given_up_in_time_and_charged(pool, brick_file, tmp_path):
    slow = Answer("late", delay_s=1.5)
    with serving(in_turn(slow)) as server:
        result = fit(pool, brick_file, tmp_path, server, models={"timeout_s": 0.3, "tries": 1})
    assert result.attempts[0].stop == "actor_gone"
    assert "timeout" in result.attempts[0].reason
    call = model_calls(tmp_path)[0]
    assert call.status == "timeout"
    assert 0.2 < call.latency_s < 1.4
    assert call.estimated
    assert call.input_tokens > 500  # the server may have read it all
    assert result.spent["failed_calls"] == 1


def test_a_slow_model_that_answers_in_time_is_waited_for():
    with serving(in_turn(Answer("late", delay_s=0.4))) as server:
        client, ledger, _ = client_of(server)
        assert ask(client).text == "late"
        client.close()
    assert ledger.spent["model_seconds"] >= 0.4


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(status=401, error={"message": f"Incorrect API key provided: {KEY}"}), r"this key may use.*\[key\]"),
        (Answer(status=404, error={"message": "no model scripted-1"}), "no model scripted-1"),
        (Answer(status=400, error={"message": "messages too strange"}), "messages too strange"),
    ],
)
def test_a_refusal_is_not_repeated(answer, said):
    with serving(in_turn(answer)) as server:
        client, *_ = client_of(server)
        with pytest.raises(ActorGone, match=said) as caught:
            ask(client)
        client.close()
    assert len(server.asked) == 1
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(raw=b"<html>"),
        Answer(raw=b"{}"),
        Answer(raw=b'{"choices": []}'),
        Answer(raw=b'{"choices": [{"message": 5}]}'),
        Answer(raw=b"\xff\xfe", headers={"Content-Type": "text/plain"}),
        Answer(status=503, raw=b"busy"),
        Answer(status=500, error="broken"),
    ],
)
def test_an_answer_that_is_none_is_asked_for_again(answer):
    with serving(in_turn(answer, Answer("hello"))) as server:
        client, ledger, _ = client_of(server, sleep=lambda _: None)
        assert ask(client).text == "hello"
        client.close()
    assert ledger.spent["failed_calls"] == 1


def test_a_request_that_is_too_long_is_made_shorter():
    said = "the request exceeds the available context size, try increasing it"
    refusal = Answer(status=400, error={"message": said})
    with serving(in_turn(refusal, refusal, Answer("hello"))) as server:
        client, *_ = client_of(server)
        budgets = []

        def build(abilities):
            budgets.append(abilities.context_tokens)
            return HELLO

        assert client.ask(build, "act").text == "hello"
        client.close()
    assert budgets == [24_000, 12_000, 6_000]


def test_nobody_there_is_said(free_port):
    made = Client(parse_model(MODEL, f"http://127.0.0.1:{free_port}/v1"), LLMSettings(tries=2), sleep=lambda _: None)
    with pytest.raises(ActorGone, match="connection"):
        ask(made)
    made.close()


@pytest.fixture
def free_port():
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_limit_ends_the_run_with_its_best_material(pool, brick_file, tmp_path):
    greedy = {"prompt_tokens": 9000, "completion_tokens": 500, "total_tokens": 9500}
    with serving(in_turn(Answer(calls=calls(*noise(), RENDER), usage=greedy))) as server:
        result = fit(pool, brick_file, tmp_path, server, limits={"tokens": 12_000}, attempts=2, report_resolution=64)
    assert len(server.asked) == 1
    assert result.attempts[0].stop == "budget"
    assert "budget of tokens exhausted" in result.attempts[0].reason
    assert len(result.attempts) == 1
    assert result.best is not None


def test_calls_are_limited():
    with serving(in_turn(Answer("hello"))) as server:
        client, *_ = client_of(server, limits={"calls": 1})
        ask(client)
        with pytest.raises(BudgetExhausted, match="calls"):
            ask(client)
        client.close()
    assert len(server.asked) == 1


def test_the_answer_is_bounded_by_the_tokens_that_are_left():
    with serving(in_turn(Answer("hello"))) as server:
        client, *_ = client_of(server, limits={"tokens": 1000})
        ask(client)
        client.close()
    sent = server.asked[0]
    assert 256 <= sent.get("max_tokens", sent.get("max_completion_tokens")) < 1000


def test_usage_that_is_not_told_is_estimated_and_marked():
    with serving(in_turn(Answer("hello " * 100, usage=None))) as server:
        client, ledger, log = client_of(server)
        ask(client)
        client.close()
    assert log.events[0].estimated
    assert 100 < ledger.spent["tokens"] < 300


def test_money_is_limited_only_where_the_price_is_known(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    known = Client(parse_model("openai:gpt-4o-mini"))
    known.begin(Ledger({"money_usd": 0.1}), Listed())
    known.close()
    elsewhere = Client(parse_model("openai:gpt-4o-mini", "http://127.0.0.1:9/v1"))
    with pytest.raises(BadInput, match="a known price"):
        elsewhere.begin(Ledger({"money_usd": 0.1}), Listed())
    elsewhere.close()


def test_a_recording_replays_exactly_without_a_server(pool, brick_file, tmp_path):
    tape = tmp_path / "tape.jsonl"
    busy = Answer(status=429, error=BUSY, headers={"Retry-After": "0"})
    with serving(in_turn(busy, Answer("Noise.", calls(*noise(), RENDER)), Answer(calls=calls(GIVE_UP)))) as server:
        first = fit(pool, brick_file, tmp_path / "first", server, models={"record": tape})
    again = fit_material(
        config(brick_file, tmp_path / "again", attempts=1),
        actor=MODEL,
        reflector="builtin",
        models=LLMSettings(base_url=server.url, replay=tape),
        renderer=pool,
    )
    assert again.best.graph_hash == first.best.graph_hash
    assert again.reward == first.reward
    for name in ("calls", "failed_calls", "tokens", "actions"):
        assert again.spent[name] == first.spent[name]
    assert all(call.replayed for call in model_calls(tmp_path / "again"))
    assert thoughts(tmp_path / "again") == thoughts(tmp_path / "first") == ["Noise."]
    pictures = [json.loads(line) for line in tape.read_text().splitlines()]
    assert sum("picture" in line for line in pictures) == 2  # the reference and one comparison, each once

    other = fit_material(
        config(brick_file, tmp_path / "other", attempts=1, goal="Something else."),
        actor=MODEL,
        models=LLMSettings(base_url=server.url, replay=tape),
        renderer=pool,
    )
    assert other.attempts[0].stop == "actor_gone"
    assert "Something else." in other.attempts[0].reason


def thoughts(out: Path) -> list[str]:
    return [event.text for event in read_events(out / "events.jsonl").events if event.kind == "thought"]


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"schema": "x"}', "nonsense"])
def test_what_is_no_recording_is_refused(tmp_path, text):
    (tmp_path / "tape").write_text(text)
    with pytest.raises(BadInput, match="a recording"):
        cast_for(MODEL, models=LLMSettings(replay=tmp_path / "tape"))


@pytest.mark.parametrize(
    ("actor", "url", "said"),
    [
        ("gpt-5", "", "known: builtin, .*PROVIDER:MODEL"),
        ("nobody:model", "", "nobody:model"),
        ("openai:", "", "PROVIDER:MODEL|known"),
        ("openai:x", "http://user:secret@127.0.0.1/v1", "without user"),
        ("openai:x", "http://127.0.0.1/v1?api_key=secret", "without user"),
        ("openai:x", "file:///etc/passwd", "a base URL"),
        ("openai:gpt-5", "", "OPENAI_API_KEY"),
    ],
)
def test_a_model_that_cannot_be_asked_is_refused_before_anything_starts(actor, url, said):
    with pytest.raises(BadInput, match=said) as caught:
        cast_for(actor, models=LLMSettings(base_url=url))
    assert "secret" not in str(caught.value)


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("material_agent.actors.cast.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r'pip install "material-agent\[llm\]"'):
        cast_for(MODEL)
