"""The evaluator as a whole: what it ranks, what it refuses, and what it says."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from evaluation_pictures import bricks, candidate, photo
from skimage.color import rgb2lab

from evaluators import Candidate, Evaluator, EvaluatorError, Facts, Target
from evaluators.functional import texture
from evaluators.functional.color import linear_to_srgb, srgb_to_linear
from evaluators.pictures import as_srgb, resize_srgb

HERE = Path(__file__).resolve().parent
PHOTOS = ("brick", "grass", "gravel")


@pytest.fixture(scope="module")
def evaluators():
    return {name: Evaluator(Target.from_image(photo(name, 512)[:256, :256])) for name in PHOTOS}


def second_crop(name):
    return resize_srgb(photo(name, 512)[256:, 256:], 128)


def damaged(image):
    rng = np.random.default_rng(0)
    mean = image.mean(axis=(0, 1))
    return {
        "washed out": mean + (image - mean) / 2,
        "blurred": resize_srgb(resize_srgb(image, 32), 128),
        "pixels shuffled": rng.permutation(image.reshape(-1, 3)).reshape(image.shape),
        "flat": np.broadcast_to(mean, image.shape),
    }


@pytest.mark.parametrize("name", PHOTOS)
def test_the_same_material_beats_others_and_its_own_damage(evaluators, name):
    evaluator = evaluators[name]
    own = evaluator.evaluate(candidate(second_crop(name))).reward
    others = [evaluator.evaluate(candidate(second_crop(other))).reward for other in PHOTOS if other != name]
    # Grass and gravel, both grey, agree in spectrum, colours and contrast: only the deep statistics tell them apart.
    assert own > max(others) + 0.1
    scores = {kind: evaluator.evaluate(candidate(image)) for kind, image in damaged(second_crop(name)).items()}
    assert all(result.reward < own - 0.05 for result in scores.values()), {k: v.reward for k, v in scores.items()}
    assert not any(result.success for result in scores.values())
    assert scores["flat"].reward < 0.4
    assert scores["pixels shuffled"].reward < 0.6


@pytest.mark.parametrize("name", PHOTOS)
def test_screen_ranks_as_the_full_score_does(evaluators, name):
    images = [second_crop(name), *damaged(second_crop(name)).values()]
    scores = evaluators[name].screen(np.stack(images))
    assert scores.shape == (5,)
    assert int(scores.argmax()) == 0
    assert scores[-1] == scores.min()
    assert evaluators[name].screen(np.zeros((0, 128, 128, 3), np.float32)).shape == (0,)


@pytest.mark.parametrize("name", PHOTOS)
def test_the_deep_screen_is_the_judges_mean_of_what_it_looks_at(evaluators, name):
    images = np.stack([second_crop(other) for other in PHOTOS])
    scores = evaluators[name].screen(images, deep=True)
    for image, score in zip(images, scores, strict=True):
        values = evaluators[name].compare(image).values
        rules = evaluators[name].calibration.at(128).components
        terms = {}
        for term, names in {
            "structure": ("spectrum_macro", "spectrum_meso", "spectrum_micro", "steerable", "slope", "energies"),
            "appearance": ("texture_macro", "texture_meso", "texture_micro", "palette", "contrast"),
        }.items():
            weights = [rules[one].weight for one in names]
            terms[term] = np.average([values[one] for one in names], weights=weights)
        weights = [evaluators[name].calibration.weights[term] for term in terms]
        # Colours are compared on fewer pixels.
        assert score == pytest.approx(np.average(list(terms.values()), weights=weights), abs=0.02)
    np.testing.assert_array_equal(evaluators[name].screen(images[::-1], deep=True)[::-1], scores)


def test_the_deep_screen_sees_grain_in_pictures_of_twice_the_size():
    whole = photo("grass", 512)
    evaluator = Evaluator(Target.from_image(whole))
    coarse = np.repeat(np.repeat(resize_srgb(whole, 256), 2, axis=0), 2, axis=1)
    pictures = srgb_to_linear(np.stack([whole, coarse]))
    sharp, blunt = evaluator.screen(pictures, linear=True, deep=True)
    assert sharp > blunt + 0.03
    small = [resize_srgb(one, 256) for one in (whole, coarse)]
    assert np.ptp(evaluator.screen(small, deep=True)) < 0.01


def test_without_a_network_the_deep_screen_is_the_plain_one():
    evaluator = Evaluator(Target.from_image(photo("grass", 512)[:256, :256]), network="off")
    images = second_crop("grass")[None]
    np.testing.assert_array_equal(evaluator.screen(images, deep=True), evaluator.screen(images))


def test_an_identical_picture_has_distance_nought_and_is_a_success(evaluators):
    image = photo("brick", 512)[:256, :256]
    comparison = evaluators["brick"].compare(image)
    assert {k: v for k, v in comparison.distances.items() if v > 1e-5} == {}
    verdict = evaluators["brick"].evaluate(candidate(image))
    assert verdict.success
    assert verdict.reward == pytest.approx(1, abs=1e-4)
    assert verdict.gaps == ()


@pytest.mark.parametrize(
    ("rows", "per_row", "offset", "kinds"),
    [(8, 4, 0.5, set()), (9, 4, 0.5, {"lattice_row_height"}), (8, 4, 0.0, {"lattice_offset"})],
)
def test_the_lattice_is_named_in_words_of_the_field(rows, per_row, offset, kinds):
    evaluator = Evaluator(Target.from_image(bricks(256)), network="off")
    verdict = evaluator.evaluate(candidate(bricks(256, rows, per_row, offset, seed=1)))
    found = {g.kind: g for g in verdict.gaps if g.kind.startswith("lattice")}
    assert kinds <= set(found)
    if not kinds:
        assert verdict.terms["structure"].numbers["value_lattice"] == 1
    if "lattice_row_height" in found:
        gap = found["lattice_row_height"]
        assert gap.target == pytest.approx(1 / 8, rel=0.03)
        assert gap.measured == pytest.approx(1 / 9, rel=0.03)
        assert "11% too low" in gap.message
        assert any("Row Height" in text for text in gap.suggests)


def test_colour_and_contrast_are_named_with_direction_and_amount(evaluators):
    image = second_crop("gravel")
    dark = evaluators["gravel"].evaluate(candidate(image * 0.7))
    gap = next(g for g in dark.gaps if g.kind == "lightness")
    assert gap.direction == "too_low"
    assert gap.measured < gap.target
    assert "too dark" in gap.message
    red = evaluators["gravel"].evaluate(candidate(np.clip(image * [1.3, 1, 0.8], 0, 1)))
    assert {"chroma"} <= {g.kind for g in red.gaps}
    pale = evaluators["gravel"].evaluate(candidate(damaged(image)["washed out"]))
    contrast = next(g for g in pale.gaps if g.kind == "contrast")
    assert contrast.measured == pytest.approx(image_contrast(image) / 2, rel=0.05)
    sizes = [round(g.size * pale.weights[g.term], 6) for g in pale.gaps]
    assert sizes == sorted(sizes, reverse=True)


def test_joints_of_a_wrong_tone_are_named_apart_from_the_units():
    image = bricks(256)
    evaluator = Evaluator(Target.from_image(image), network="off")
    mortar = image[..., 1] > 0.55
    dark = np.where(mortar[..., None], image * 0.75, image).astype(np.float32)
    gaps = [g for g in evaluator.evaluate(candidate(dark)).gaps if g.kind == "region_lightness"]
    assert [g.message.split(" too ")[1] for g in gaps] == ["dark"]
    assert gaps[0].message.startswith("colour: joints")
    expected = rgb2lab(image)[mortar].mean(axis=0) - rgb2lab(dark)[mortar].mean(axis=0)
    assert gaps[0].target - gaps[0].measured == pytest.approx(expected[0], abs=2)
    assert "Mortar" in gaps[0].suggests[0]


def image_contrast(image):
    return float((image @ np.array([0.2126, 0.7152, 0.0722])).std())


def test_each_term_reports_its_scales_and_channels(evaluators):
    verdict = evaluators["grass"].evaluate(candidate(second_crop("brick")))
    assert set(verdict.terms) == {"structure", "appearance", "physical", "compile", "budget"}
    assert {"macro", "meso", "micro"} <= set(verdict.terms["structure"].by_scale)
    assert {"macro", "meso", "micro", "global"} <= set(verdict.terms["appearance"].by_scale)
    assert set(verdict.terms["appearance"].by_channel) == {"rgb", "colour", "luma"}
    assert not verdict.terms["physical"].scored


def test_scores_do_not_depend_on_order_or_on_a_second_run(evaluators):
    first = evaluators["grass"].evaluate(candidate(second_crop("grass")))
    fresh = Evaluator(Target.from_image(photo("grass", 512)[:256, :256]))
    fresh.evaluate(candidate(second_crop("brick")))
    # By their text: unscored values are NaN, which equals nothing.
    assert repr(fresh.evaluate(candidate(second_crop("grass")))) == repr(first)
    images = np.stack([second_crop(n) for n in PHOTOS])
    np.testing.assert_array_equal(fresh.screen(images)[::-1], fresh.screen(images[::-1]))


def test_scores_do_not_depend_on_the_threads_that_the_process_has():
    # Without the limits in `evaluators.threads` and `functional.texture` these texts differ from the seventh digit on.
    code = (
        "from evaluation_pictures import candidate, photo; from evaluators import Evaluator, Target;"
        "evaluator = Evaluator(Target.from_image(photo('brick', 512)));"
        "print(repr(evaluator.evaluate(candidate(photo('brick', 512)[::-1]))))"
    )
    texts = []
    for threads in ("1", "3"):
        environment = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        environment["PYTHONPATH"] = os.pathsep.join((str(HERE), str(HERE.parents[1])))
        ran = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
        texts.append(ran.stdout)
    assert texts[0] == texts[1] != ""


def test_many_at_once_are_judged_as_each_alone(evaluators):
    images = [second_crop(name) for name in PHOTOS]
    together = evaluators["brick"].evaluate_many([candidate(image) for image in images])
    alone = [evaluators["brick"].evaluate(candidate(image)) for image in images]
    assert repr(together) == repr(alone)
    assert evaluators["brick"].evaluate_many([]) == []


def test_deep_batch_agrees_with_single_pictures(evaluators):
    images = np.stack([second_crop(n) for n in PHOTOS])
    together = evaluators["grass"].appearance_batch(images)
    alone = np.concatenate([evaluators["grass"].appearance_batch(image[None]) for image in images])
    np.testing.assert_allclose(together, alone, atol=1e-4)
    assert int(together.argmax()) == 1


@pytest.mark.parametrize(
    ("channels", "facts", "words"),
    [
        ({}, Facts(), "no finite beauty"),
        ({"beauty": np.full((64, 64, 3), np.nan, np.float32)}, Facts(), "no finite beauty"),
        (
            {"beauty": np.zeros((64, 64, 3), np.float32)},
            Facts(compile_ok=False, compile_messages=("no output node",)),
            "no output node",
        ),
    ],
)
def test_what_did_not_render_gets_nothing_and_says_why(evaluators, channels, facts, words):
    verdict = evaluators["brick"].evaluate(Candidate(channels, facts))
    assert verdict.reward == 0
    assert not verdict.success
    assert words in verdict.terms["compile"].reason
    assert not verdict.terms["structure"].scored


@pytest.mark.parametrize("shape", [(16, 16, 3), (1, 1, 3), (64, 64, 4), (64, 64)])
def test_pictures_of_a_wrong_shape_are_refused_or_understood(evaluators, shape):
    beauty = np.full(shape, 0.2, np.float32)
    if shape == (64, 64):
        assert evaluators["brick"].evaluate(Candidate({"beauty": beauty})).reward > 0
        return
    with pytest.raises(EvaluatorError, match="the beauty channel"):
        evaluators["brick"].evaluate(Candidate({"beauty": beauty}))
    with pytest.raises(EvaluatorError):
        Target.from_image(beauty)


def test_sizes_and_grey_pictures_mix():
    colour = bricks(256)
    wide = np.concatenate([colour[28:-28], colour[28:-28, :44]], axis=1)  # 300×200
    assert wide.shape == (200, 300, 3)
    assert Evaluator(Target.from_image(wide), network="off").evaluate(candidate(colour)).reward > 0.5
    grey = Target.from_image((255 * colour[..., 1]).astype(np.uint8))
    np.testing.assert_allclose(grey.image[..., 0], grey.image[..., 2])
    assert Evaluator(grey, network="off").evaluate(candidate(resize_srgb(colour, 128))).reward > 0.3
    small = resize_srgb(colour, 40)
    assert Evaluator(Target.from_image(small), network="off").evaluate(candidate(small)).success


def test_a_masked_reference_is_judged_by_what_the_mask_shows():
    picture = np.zeros((256, 300, 3), np.float32)
    picture[40:240, 60:260] = bricks(200)
    mask = picture.sum(axis=-1) > 0
    target = Target.from_image(picture, mask)
    np.testing.assert_array_equal(target.image, bricks(200))
    with pytest.raises(EvaluatorError, match="holds a square of 32 px, got at most 9 px"):
        Target.from_image(picture, np.pad(np.ones((9, 9), bool), ((0, 247), (0, 291))))
    with pytest.raises(EvaluatorError, match="mask of the picture's shape"):
        Target.from_image(picture, mask[:-1])


def test_uneven_light_is_taken_out_of_a_reference_and_said():
    even = photo("gravel", 256)
    y, x = (np.mgrid[:256, :256] + 0.5) / 128 - 1
    falloff = np.exp(-0.7 * (x**2 + y**2))[..., None]
    vignetted = linear_to_srgb(srgb_to_linear(even) * falloff)
    lit, flat = (Target.from_image(vignetted, flatten=flatten) for flatten in (False, "auto"))
    assert "flatten the reference" in lit.notes[0]
    assert "taken out" in flat.notes[0]
    assert Target.from_image(even, flatten="auto").notes == ()
    # The material under even light is nearer to the flattened reference than to the one that fades to its corners.
    values = [Evaluator(t, network="off").compare(even).distances for t in (lit, flat)]
    assert values[1]["spectrum_macro"] < values[0]["spectrum_macro"]
    assert values[1]["energies"] < values[0]["energies"]
    masked = Target.from_image(vignetted, np.abs(x) + np.abs(y) < 1.2, flatten=True)
    assert [part in note for part, note in zip(("inside the mask", "taken out"), masked.notes, strict=True)]


def test_values_outside_the_display_range_are_refused_in_a_reference_and_clipped_in_a_render(evaluators):
    with pytest.raises(EvaluatorError, match=r"sRGB in \[0, 1\]"):
        Target.from_image(np.full((64, 64, 3), 200.0, np.float32))
    hot = Candidate({"beauty": np.full((128, 128, 3), 50, np.float32)})
    assert 0 <= evaluators["brick"].evaluate(hot).reward < 0.3


def test_without_weights_the_appearance_falls_back_and_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(texture, "weights_path", lambda: tmp_path / "gone.pth")
    texture.deep_texture.cache_clear()
    try:
        start = time.perf_counter()
        evaluator = Evaluator(Target.from_image(photo("grass", 256)))
        verdict = evaluator.evaluate(candidate(photo("grass", 128)))
        assert time.perf_counter() - start < 20
        appearance = verdict.terms["appearance"]
        assert appearance.scored
        assert "gone.pth" in appearance.reason
        assert "pip install" in appearance.reason
        assert "steerable" in appearance.uses
        assert "EfficientNet-Lite0" not in appearance.uses
        assert (
            verdict.thresholds["appearance"] == evaluator.calibration.at(128).thresholds["appearance_without_network"]
        )
        assert verdict.reward > evaluator.evaluate(candidate(photo("gravel", 128))).reward
    finally:
        texture.deep_texture.cache_clear()


def test_network_must_be_auto_or_off():
    with pytest.raises(EvaluatorError, match='"auto" or "off", got'):
        Evaluator(Target.from_image(bricks(64)), network="maybe")


def test_importing_and_screening_load_no_torch():
    code = (
        "import sys, numpy as np; from evaluators import Evaluator, Target;"
        "e = Evaluator(Target.from_image(np.random.default_rng(0).random((64, 64, 3)).astype('f4')), network='off');"
        "e.screen(np.full((2, 64, 64, 3), .5, 'f4')); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_screen_is_cheap(evaluators):
    images = np.repeat(second_crop("grass")[None], 16, axis=0)
    evaluators["grass"].screen(images)
    spent = []
    for _ in range(5):
        start = time.process_time()
        evaluators["grass"].screen(images)
        spent.append((time.process_time() - start) / 16)
    assert min(spent) < 0.005


def test_as_srgb_scales_integers():
    sixteen = np.linspace(0, 65535, 64 * 64).reshape(64, 64).astype(np.uint16)
    assert as_srgb(sixteen, "a ramp").max() == 1
    assert len(np.unique(as_srgb(sixteen, "a ramp"))) == 4096
