"""`material-agent analyze`, and the choices about a picture that it shares with `fit`."""

import json

import numpy as np
import pytest
from PIL import Image

from material_agent.cli.app import run
from material_agent.cli.exits import Exit
from material_agent.config import RunConfig
from material_agent.fit.run import _load
from references import Crop, load_reference
from references.bundled import bundled_path


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    """Bricks on the left two thirds of a wide picture, a plain wall on the rest; and a mask of the bricks."""
    folder = tmp_path_factory.mktemp("scene")
    bricks = Image.open(bundled_path("brick_small"))
    picture = Image.new("RGB", (384, 256), (205, 200, 190))
    picture.paste(bricks, (0, 0))
    picture.save(folder / "scene.png")
    mask = Image.new("L", (384, 256), 0)
    mask.paste(255, (0, 0, 256, 256))
    mask.save(folder / "mask.png")
    return folder


def analysed(capfd, *arguments):
    assert run(["analyze", *map(str, arguments), "--json"]) == Exit.SUCCESS
    return json.loads(capfd.readouterr().out)


def test_the_choices_reach_the_analysis(scene, capfd):
    picture, mask = scene / "scene.png", scene / "mask.png"
    plain = analysed(capfd, picture)
    assert plain["reference"]["square"] == {"left": 64, "top": 0, "width": 256, "height": 256}
    assert plain["proposal"]["holds_more_than_material"]
    assert any("crop auto" in note for note in plain["reference"]["notes"])
    auto = analysed(capfd, picture, "--crop", "auto", "--scale", "100px/m")
    square = auto["reference"]["square"]
    assert square["left"] + square["width"] <= 260
    assert square["width"] > 150
    assert auto["analysis"]["measured"]["patch_size_m"] == pytest.approx(square["width"] / 100)
    assert auto["analysis"]["inferred"]["families"][0]["family"] == "bricks"
    masked = analysed(capfd, picture, "--mask", mask, "--flatten")
    assert masked["reference"]["square"]["left"] + masked["reference"]["square"]["width"] <= 256
    assert any("light flattened" in note for note in masked["reference"]["notes"])


def test_the_overview_and_the_mask_are_written(scene, tmp_path, capfd):
    sheet, mask = tmp_path / "deep" / "overview.png", tmp_path / "region.png"
    data = analysed(capfd, "brick_wall", "-o", sheet, "--region-mask", mask)
    assert (data["overview"], data["region_mask"]) == (str(sheet), str(mask))
    assert Image.open(sheet).width > 1200
    white = np.asarray(Image.open(mask)) > 127
    assert white.mean() == pytest.approx(data["analysis"]["measured"]["regions"]["split"]["share"], abs=1e-3)
    # The mortar is lighter than the bricks.
    picture = load_reference("brick_wall").image_srgb.mean(axis=-1)
    assert picture[white].mean() > picture[~white].mean() + 0.1


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--crop", "1,2,3"], "LEFT,TOP,WIDTH,HEIGHT"),
        (["--crop", "0,0,999,999"], "inside 384×256"),
        (["--crop", "0,0,9,9"], "at least 16×16"),
        (["--scale", "wide"], "a length such as"),
        (["--mask", "none.png"], "no such file"),
    ],
)
@pytest.mark.parametrize("command", ["analyze", "fit"])
def test_choices_that_cannot_be_met_are_told_in_one_line(scene, tmp_path, capfd, command, options, reason):
    folder = ["-o", str(tmp_path / "run")] if command == "fit" else []
    assert run([command, str(scene / "scene.png"), *options, *folder]) == Exit.BAD_INPUT
    said = capfd.readouterr().err.strip().splitlines()
    assert reason in said[-1]
    assert said[-1].startswith("error:")
    assert not (tmp_path / "run" / "events.jsonl").exists()


def test_a_run_is_given_what_was_chosen(scene, tmp_path):
    config = RunConfig(
        reference=str(scene / "scene.png"), out=tmp_path, crop="10,20,200,100", scale="50cm", flatten=True
    )
    reference = _load(config)
    assert reference.square == Crop(60, 20, 100, 100)
    assert reference.patch_size_m == 0.5
    assert any("as asked" in note for note in reference.notes)
    assert any("light flattened" in note for note in reference.notes)
