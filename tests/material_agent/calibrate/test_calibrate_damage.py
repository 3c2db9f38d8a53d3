"""Damage whose amount is known: to pictures, and to graphs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import ndimage, stats
from skimage import color, data, exposure

from evaluators.pictures import as_srgb, resize_srgb
from graph_api import compiles, from_json, validate
from material_agent.calibrate.damage import other_bonds, scaled, stepped, turned, twin, without_branches
from material_agent.calibrate.degrade import DEGRADATIONS, recoloured
from material_agent.calibrate.development import Sample, gradient_kurtosis
from material_agent.calibrate.kept import kept_samples
from material_agent.errors import BadInput
from references.bundled import bundled


def picture(name="gravel"):
    return resize_srgb(as_srgb(getattr(data, name)(), name), 64)


def truth(name="brick_wall"):
    entry = next(entry for entry in bundled() if entry.id == name)
    return from_json(entry.graph.read_text(encoding="utf-8"))


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("name", DEGRADATIONS)
def test_damage_keeps_shape_and_range_and_repeats_with_its_generator(name):
    amount = {"zoom": 1.5, "block_shuffle": 4, "tint": 10, "rotation": 20, "blur": 10}.get(name, 0.5)
    one, other = (DEGRADATIONS[name](picture(), amount, rng()) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert one.shape == picture().shape and one.dtype == np.float32
    assert one.min() >= 0 and one.max() <= 1
    assert np.abs(one - picture()).mean() > 0.005


def test_a_tint_is_of_the_stated_size_and_washing_out_of_the_stated_share():
    grey = np.full((32, 32, 3), 0.5, np.float32)
    shift = color.rgb2lab(DEGRADATIONS["tint"](grey, 10, rng())) - color.rgb2lab(grey)
    assert np.linalg.norm(shift, axis=-1) == pytest.approx(10, abs=0.1)
    image = picture()
    assert DEGRADATIONS["washed"](image, 0.4, rng()).std() == pytest.approx(0.6 * image.std(), rel=0.02)


def test_scrambled_phases_keep_the_spectrum_and_lose_the_layout():
    grey = np.repeat(0.5 + 0.1 * rng().standard_normal((64, 64, 1)), 3, axis=2).astype(np.float32)
    scrambled = DEGRADATIONS["phase_scramble"](np.clip(grey, 0, 1), 1.0, rng(1))
    one, other = (np.abs(np.fft.fft2(x[..., 0] - x[..., 0].mean())) for x in (np.clip(grey, 0, 1), scrambled))
    assert np.corrcoef(one.ravel(), other.ravel())[0, 1] > 0.95
    assert abs(np.corrcoef(grey[..., 0].ravel(), scrambled[..., 0].ravel())[0, 1]) < 0.1
    assert gradient_kurtosis(np.clip(grey, 0, 1)) == pytest.approx(3, abs=0.3)


def test_streaks_of_noise_are_gaussian_although_one_direction_is_finer_than_the_other():
    streaks = ndimage.gaussian_filter1d(rng(5).standard_normal((128, 128)), 12, axis=0)
    image = np.repeat((0.5 + 0.2 * streaks / np.abs(streaks).max())[..., None], 3, axis=2).astype(np.float32)
    assert gradient_kurtosis(image) == pytest.approx(3, abs=0.3)
    together = np.concatenate([np.diff(image[..., 0], axis=a).ravel() for a in (0, 1)])
    assert stats.kurtosis(together, fisher=False) > 5


def test_samples_are_the_same_when_made_and_when_read_again(tmp_path):
    path = tmp_path / "one" / "samples.npz"
    wanted = [Sample("twin", "right", picture()), Sample("tint", "graded", picture()[:40, :40], "tint", 2, hard=True)]
    made = list(kept_samples(path, lambda: iter(wanted)))
    read = list(kept_samples(path, lambda: pytest.fail("made again")))
    for one, other, true in zip(made, read, wanted, strict=True):
        np.testing.assert_array_equal(one.image, other.image)
        assert np.abs(one.image - true.image).max() < 1 / 2048
        assert replace(one, image=true.image) == true == replace(other, image=true.image)
    path.write_bytes(b"half a file")
    with pytest.raises(BadInput, match=r"samples\.npz: expected samples"):
        list(kept_samples(path, lambda: iter(wanted)))


def test_recolouring_matches_the_histogram_of_luma_as_scikit_image_does():
    image, wanted = picture(), resize_srgb(as_srgb(data.astronaut(), "a"), 64)
    luma = np.array([0.2126, 0.7152, 0.0722])
    matched = exposure.match_histograms((image @ luma), (wanted @ luma))
    assert np.abs((recoloured(image, wanted) @ luma) - matched).mean() < 0.02
    assert recoloured(image, wanted).mean(axis=(0, 1)) == pytest.approx(wanted.mean(axis=(0, 1)), abs=0.02)


def test_graphs_are_damaged_as_stated_and_still_compile():
    graph = truth()
    assert scaled(graph, 1.5).nodes["mapping"].inputs["Scale"] == pytest.approx((1.5, 1.5, 1.5))
    assert turned(graph, 90).nodes["mapping"].inputs["Rotation"][2] == pytest.approx(np.pi / 2)
    moved = twin(graph, rng()).nodes["mapping"].inputs["Location"]
    assert min(moved) >= 3
    before, after = (g.nodes["grain"].inputs["Scale"] for g in (graph, stepped(graph, 0.2, rng())))
    assert abs(np.log(after / before)) == pytest.approx(0.2, abs=1e-6)
    removed = dict(without_branches(graph))
    assert set(removed) == {"bricks", "grain"}
    bonds = dict(other_bonds(graph))
    assert {g.nodes["bricks"].properties["offset"] for g in bonds.values()} == {0.0, 0.25}
    everything = [*removed.values(), *bonds.values(), stepped(graph, 1.0, rng())]
    assert all(compiles(validate(changed)) for changed in everything)
