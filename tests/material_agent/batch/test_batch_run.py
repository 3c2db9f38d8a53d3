"""A whole batch: what it leaves, what it refuses, and that going on does what is left and no more."""

from __future__ import annotations

import csv
import json
import shutil

import pytest
from batch_world import BROKEN, SAME_STEMS, Ears, picture, settings

from material_agent.api import fit_material
from material_agent.batch import LocalEngine, TaskResult, gather, run_batch
from material_agent.batch.config import task_seed
from material_agent.errors import BadInput

PER_TASK = {"report.html", "result.json", "graph.json", "material.blend", "comparison.png", "task.json", "events.jsonl"}


def by_name(result):
    return {one.name: one for one in result.results}


def test_every_good_reference_is_done_and_every_bad_one_named(finished):
    result, out, ears = finished
    found = by_name(result)
    assert {name for name, one in found.items() if not one.complete} == set(BROKEN)
    assert all(one.kind == "reference" and one.reason for name, one in found.items() if not one.complete)
    assert (len(result.results), result.failed, result.pending) == (12, 6, ())
    assert sorted(ears.done) == sorted(one.id for one in result.results)
    for one in result.results:
        if one.complete:
            assert {path.name for path in (out / one.folder).iterdir()} >= PER_TASK
            assert one.reward is not None
            assert one.structure == "checks"


def test_equal_stems_get_an_output_each_and_the_manifest_says_which(finished):
    _, out, _ = finished
    manifest = json.loads((out / "manifest.json").read_text())
    entries = {entry["input"]: entry for entry in manifest["references"]}
    folders = [entries[name]["folder"] for name in SAME_STEMS]
    assert len({folder.casefold() for folder in folders}) == 5
    for name, folder in zip(SAME_STEMS, folders, strict=True):
        shown = json.loads((out / folder / "result.json").read_text())["reference"]
        assert shown["sha256"] == entries[name]["sha256"]
        assert entries[name]["status"] == "not_accepted"


def test_csv_and_json_say_the_same(finished):
    result, out, _ = finished
    data = json.loads((out / "summary.json").read_text())
    with (out / "summary.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["id"] for row in table] == [row["id"] for row in data["references"]] == [x.id for x in result.results]
    assert (data["total"], data["failed"], data["not_accepted"]) == (12, 6, 6)
    for row, entry in zip(table, data["references"], strict=True):
        assert row["reward"] == ("" if entry["reward"] is None else str(entry["reward"]))
        assert bool(entry["report"]) == (entry["status"] != "failed")


def test_order_and_jobs_change_nothing_and_a_task_is_the_run_of_its_seed(finished, pictures, actor, tmp_path):
    result, out, _ = finished
    names = ["e.webp", "a.jpg"]
    alone = run_batch(settings([str(pictures / name) for name in names], tmp_path / "two", actor, jobs=1))
    assert [one.name for one in alone.results] == names
    for one in alone.results:
        assert one.verdict == by_name(result)[one.name].verdict
        assert one.seed == by_name(result)[one.name].seed == task_seed(0, one.id)

    place = {"reference": str(pictures / "e.webp"), "out": tmp_path / "fit", "seed": alone.results[0].seed}
    fitted = fit_material(settings(["-"], "-", actor).run.model_copy(update=place), actor=f"scripted:{actor}")
    assert (fitted.best.graph_hash, fitted.reward) == (alone.results[0].graph_hash, alone.results[0].reward)
    graph = (tmp_path / "fit" / "graph.json").read_bytes()
    assert graph == (out / by_name(result)["e.webp"].folder / "graph.json").read_bytes()


class Nothing(LocalEngine):
    """An engine that must not be asked for anything but the tasks that failed before."""

    def run(self, specs, listen):
        asked = [spec.item.name for spec in specs]
        assert set(asked) <= set(BROKEN), asked
        yield from super().run(iter(()), listen)


def test_the_same_call_again_keeps_what_is_complete(quick, pictures, idle):
    result, out, _ = quick
    before = {path: path.stat().st_mtime_ns for path in (out / "runs").rglob("*")}
    again = run_batch(settings([str(pictures)], out, idle), engine=Nothing(1))
    assert again.kept == 6
    kept = [one.id for one in result.results if one.complete]
    assert [one for one in again.results if one.complete] == [one for one in result.results if one.complete]
    assert {path: path.stat().st_mtime_ns for path in before if path.parent.name in kept} == {
        path: time for path, time in before.items() if path.parent.name in kept
    }


def cut(path):
    path.write_bytes(path.read_bytes()[:-10])


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_what_is_damaged_is_done_again_and_only_that(quick, pictures, idle, tmp_path):
    result, out, _ = quick
    shutil.copytree(out, tmp_path / "out")
    damage = {
        "a.png": lambda run: cut(run / "reference.png"),
        "a.jpg": lambda run: flip(run / "events.jsonl"),
        "A.png": lambda run: cut(run / "task.json"),
        "e.webp": lambda run: (run / "report.html").unlink(),
    }
    for name, harm in damage.items():
        harm(tmp_path / "out" / by_name(result)[name].folder)
    ears = Ears()
    again = run_batch(settings([str(pictures)], tmp_path / "out", idle), listener=ears)
    done = {one.name for one in again.results if one.id in ears.done}
    assert done == {*damage, *BROKEN}
    assert {one.name: one.verdict for one in again.results} == {one.name: one.verdict for one in result.results}
    assert any("reference.png was changed or cut" in note for note in ears.notes)


def test_another_picture_is_noticed_and_other_settings_are_refused(quick, pictures, actor, idle, tmp_path):
    result, out, _ = quick
    shutil.copytree(out, tmp_path / "out")
    shutil.copytree(pictures, tmp_path / "pictures")
    before = (tmp_path / "out" / "manifest.json").read_bytes()
    for change, said in (({"run": {"attempts": 2}}, "attempts=2 instead of 1"), ({"seed": 5}, "seed=5 instead of 0")):
        with pytest.raises(BadInput, match=said):
            run_batch(settings([str(pictures)], tmp_path / "out", idle, **change))
    with pytest.raises(BadInput, match="actor="):
        run_batch(settings([str(pictures)], tmp_path / "out", actor))
    assert (tmp_path / "out" / "manifest.json").read_bytes() == before

    picture(tmp_path / "pictures" / "a.jpg", 77)
    ears = Ears()
    good = [str(tmp_path / "pictures" / name) for name in ("a.jpg", "e.webp")]
    changed = run_batch(settings(good, tmp_path / "out", idle), listener=ears)
    assert ears.done == [by_name(changed)["a.jpg"].id]
    assert by_name(changed)["a.jpg"].sha256 != by_name(result)["a.jpg"].sha256

    ears = Ears()
    run_batch(settings([good[1]], tmp_path / "out", idle, seed=5), listener=ears, overwrite=True)
    assert ears.done == [by_name(result)["e.webp"].id]


def test_a_batch_without_a_reference_and_one_into_a_file_are_refused(pictures, actor, tmp_path):
    (tmp_path / "file").touch()
    for references, out, said in (
        ([str(tmp_path / "no*.png")], tmp_path / "out", "expected a reference, got none"),
        ([str(pictures)], tmp_path / "file", "expected a folder to write to"),
        ([str(pictures)], "nosuchscheme://x/y", "a URL that fsspec can write to"),
    ):
        with pytest.raises(BadInput, match=said):
            run_batch(settings(references, out, actor))


def test_folders_patterns_and_names_that_overlap_are_one_task_each(pictures, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(pictures / "sub", other)
    picture(other / "c.png", 9)
    found = gather([str(pictures / "*.png"), str(pictures), str(other), "brick_wall", "nothing"])
    ids = [item.id for item in found.items]
    assert len({one.casefold() for one in ids}) == len(ids)
    assert len(ids) == 12 + 2 + 1
    assert [fault.name for fault in found.faults] == ["nothing"]
    assert "named twice" in found.notes[-1]
    # One that falls together with no other keeps the id that it has alone.
    assert "e-webp" in ids


def test_a_manifest_says_how_each_picture_is_prepared_and_the_batch_what_it_leaves_open(pictures, idle, tmp_path):
    shutil.copy(pictures / "a.png", tmp_path / "a.png")
    (tmp_path / "list.csv").write_text('path,id,crop,scale\na.png,own,"0,0,40,40",20cm\na.png,open,,\n')
    asked = settings([str(tmp_path / "list.csv")], tmp_path / "out", idle, run={"scale": "120 px/m", "flatten": True})
    result = run_batch(asked)
    runs = {one.id: json.loads((tmp_path / "out" / one.folder / "result.json").read_text()) for one in result.results}
    assert {name: run["config"]["patch_size_m"] for name, run in runs.items()} == {"own": 0.2, "open": 48 / 120}
    assert runs["own"]["config"]["crop"] == "0,0,40,40"
    assert all(run["config"]["flatten"] for run in runs.values())

    (tmp_path / "list.csv").write_text('path,id,crop,scale\na.png,own,"0,0,32,32",20cm\na.png,open,,\n')
    ears = Ears()
    run_batch(asked, listener=ears)
    assert ears.done == ["own"]
    assert "how it is prepared, was changed" in ears.notes[0]


def test_a_record_of_a_task_can_be_read_back(finished):
    for one in finished[0].results:
        assert TaskResult.model_validate_json(one.model_dump_json()) == one
