"""Reflections that cross tasks, through a common file and by way of the driver; output behind a URL."""

from __future__ import annotations

import json
import shutil

import pytest
from batch_world import Ears, settings

from graph_api import AddNode, Ban
from material_agent.batch import run_batch
from material_agent.batch.result import LEARNT
from material_agent.events import AttemptStarted, BestUpdated, read_events
from material_agent.memory import Attribution, Evidence, GraphChange, Reflection, reflection_to_json

PICTURE = "a.png"


@pytest.fixture
def thoughtful(finished, actor, tmp_path):
    """The script with a reflection that cites truly what the picture's run saw."""
    result, out, _ = finished
    folder = next(out / one.folder for one in result.results if one.name == PICTURE)
    seen = next(e for e in read_events(folder / "events.jsonl").events if isinstance(e, BestUpdated))
    reflection = Reflection(
        id="r",
        evidence=(Evidence(seen.observation, "reward", seen.evaluation.reward, "a low reward"),),
        scale=Attribution("macro", "base_color", "checks (hypothesis)", "this reference"),
        graph_change=GraphChange("use bricks", (AddNode("ShaderNodeTexBrick", role="macro"),)),
        forbidden_op=Ban("node", type="ShaderNodeTexNoise", role="macro"),
    )
    data = json.loads(actor.read_text()) | {"reflections": [reflection_to_json(reflection)]}
    path = tmp_path / "thoughtful.json"
    path.write_text(json.dumps(data))
    return path


@pytest.mark.parametrize("where", ["folder", "url"])
def test_a_later_task_is_offered_what_an_earlier_one_on_a_like_picture_learnt(where, thoughtful, pictures, tmp_path):
    for name in ("x.png", "y.png"):
        shutil.copy(pictures / PICTURE, tmp_path / name)
    out = tmp_path / "out"
    place = str(out) if where == "folder" else out.as_uri()
    asked = settings(
        [str(tmp_path / name) for name in ("x.png", "y.png")],
        place,
        thoughtful,
        jobs=1,
        share_memory=True,
        run={"memory_window": "retrieved"},
    )
    result = run_batch(asked)
    assert [one.complete for one in result.results] == [True, True]
    first, second = (
        next(e for e in read_events(out / one.folder / "events.jsonl").events if isinstance(e, AttemptStarted))
        for one in result.results
    )
    assert first.memory == ()
    assert len(second.memory) == 1
    origin = second.origins[second.memory[0]]
    assert (origin.reference, origin.attempt) == (result.results[0].sha256, 1)
    assert "on another reference" in (out / result.results[1].folder / "report.html").read_text()
    assert (out / result.results[0].folder / LEARNT).exists() is (where == "url")


def test_a_url_is_written_to_and_resumed_from_like_a_folder(quick, pictures, idle, tmp_path):
    names = [str(pictures / name) for name in ("a.png", "a.jpg", "cut.jpg")]
    asked = settings(names, (tmp_path / "out").as_uri(), idle, jobs=1)
    first = run_batch(asked)
    local = {one.name: one.verdict for one in quick[0].results}
    assert {one.name: one.verdict for one in first.results} == {one.name: local[one.name] for one in first.results}
    one = next(result for result in first.results if result.name == "a.jpg")
    damaged = tmp_path / "out" / one.folder / "result.json"
    damaged.write_bytes(damaged.read_bytes()[:-3])
    ears = Ears()
    again = run_batch(asked, listener=ears)
    assert again.kept == 1
    assert sorted(ears.done) == sorted(x.id for x in first.results if x.name != "a.png")
    assert (tmp_path / "out" / "index.html").is_file()
    assert not list(tmp_path.rglob("*.partial"))
