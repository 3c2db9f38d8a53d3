import json
import os
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from references import ReferenceFault, analyze, bundled_names, load_reference
from references.analysis import FAMILIES, STRUCTURES, overview
from references.analysis.schema import analysis_schema
from references.bundled import bundled
from references.synthetic import direction_error_deg, lattice_error

PHOTOS = os.environ.get("MATERIAL_AGENT_PHOTOS")

# What a person sees: cells along a row, rows, offset between rows (None: nothing repeats).
SEEN = {
    "brick_red": (6, 20, 0.5),
    "brick_weathered": (5, 14, 0.5),
    "brick_panels": (4, 4, 0.0),
    "tile_light": (5, 5, 0.0),
    "gingham": (3.8, 4.2, 0.0),
    "fabric_pattern": (7, 5.1, 0.0),
    "diamond_plate": (6, 6, 0.0),
    "marble_dark": None,
    "marble_light": None,
    "plaster": None,
    "wood_dark": None,
    "wood_plank": None,
    "rust_peeling": None,
    "metal_smudged": None,
    "rocky_trail": None,
}


def bundled_ids():
    return [entry.id for entry in bundled()]


QUICK = (
    "brick_long",
    "checker_diamond",
    "tile_slanted",
    "weave_coarse",
    "wood_fine",
    "marble_black",
    "cracks_mud",
    "pebbles",
    "rough_plaster",
)


@pytest.mark.parametrize("name", QUICK)
def test_the_quick_subset_is_understood(name):
    """All of them, twins included, are judged by benchmarks/references.py."""
    entry = next(entry for entry in bundled() if entry.id == name)
    measured = (analysis := analyze(load_reference(f"{name}:twin"))).measured
    assert entry.structure in [h.structure for h in analysis.hypotheses[:2]]
    assert entry.family in [item.family for item in analysis.families[:2]]
    assert (measured.lattice is None) == (entry.lattice is None)
    if measured.lattice is not None:
        assert lattice_error(np.array(measured.lattice.vectors) / measured.size_px, entry.lattice) < 0.03
    if entry.direction_deg is not None and measured.orientation.coherence > 0.3:
        assert direction_error_deg(measured.orientation.angle_rad, entry.direction_deg) < 4


def test_the_brick_wall_is_measured_as_it_was_built():
    lattice = analyze(load_reference("brick_wall")).lattice
    assert lattice is not None
    assert lattice.counts == pytest.approx((6, 12), rel=0.03)
    assert lattice.offset == pytest.approx(0.5, abs=0.03)
    assert abs(np.degrees(lattice.angle_rad)) < 0.5


def test_hypotheses_are_a_distribution_with_evidence():
    analysis = analyze(load_reference("skimage:brick"))
    assert sorted(h.structure for h in analysis.hypotheses) == sorted(STRUCTURES)
    assert sum(h.probability for h in analysis.hypotheses) == pytest.approx(1)
    probabilities = [h.probability for h in analysis.hypotheses]
    assert probabilities == sorted(probabilities, reverse=True)
    assert analysis.hypotheses[0].structure == "brick"
    assert sorted(item.family for item in analysis.families) == sorted(FAMILIES)
    for hypothesis in analysis.hypotheses:
        shares = [item.probability for item in analysis.families if item.structure == hypothesis.structure]
        assert sum(shares) == pytest.approx(hypothesis.probability)
    assert analysis.hypotheses[0].evidence
    assert all(0 <= cue.confidence <= 0.6 for cue in analysis.cues)


def test_skimage_stochastic_textures_have_no_lattice():
    assert analyze(load_reference("skimage:grass")).lattice is None
    assert analyze(load_reference("skimage:gravel")).lattice is None


def test_json_separates_measured_from_inferred_and_is_reproducible():
    reference = load_reference("skimage:gravel")
    data = analyze(reference, patch_size_m=0.5).to_json()
    text = json.dumps(data, allow_nan=False)
    assert json.loads(text) == data
    assert data["schema"] == "analysis/1"
    assert set(data) == {"schema", "measured", "inferred"}
    assert data["measured"]["patch_size_m"] == 0.5
    assert "minority" not in data["measured"]["regions"]["split"]
    assert len(data["measured"]["color_axis"]["quantile_colors_linear"]) == 257
    assert json.dumps(analyze(reference, patch_size_m=0.5).to_json()) == text


@pytest.mark.parametrize("shape", [(16, 16), (17, 40), (1, 1)])
def test_small_flat_and_extreme_pictures(shape):
    flat = np.full((*shape, 3), 0.5, np.float32)
    if min(shape) < 16:
        with pytest.raises(ValueError, match="sides"):
            analyze(flat)
        return
    for image in (flat, np.zeros_like(flat), np.ones_like(flat)):
        json.dumps(analyze(image).to_json(), allow_nan=False)
    noise = np.random.default_rng(0).random((*shape, 3)).astype(np.float32)
    json.dumps(analyze(noise).to_json(), allow_nan=False)


@pytest.mark.parametrize(
    ("image", "reason"),
    [(np.zeros((32, 32)), "shape"), (np.full((32, 32, 3), np.nan), "finite"), (np.full((32, 32, 3), 2.0), "finite")],
)
def test_bad_pictures_are_refused(image, reason):
    with pytest.raises(ValueError, match=reason):
        analyze(image)
    with pytest.raises(ValueError, match="patch size"):
        analyze(np.zeros((32, 32, 3)), patch_size_m=0)


def test_the_overview_draws_the_lattice():
    reference = load_reference("brick_wall")
    analysis = analyze(reference)
    sheet = np.asarray(overview(reference.image_srgb, analysis)).astype(int)
    assert sheet.shape[1] > 900
    yellow = (np.abs(sheet - (255, 210, 0)).sum(axis=-1) < 10).mean(axis=1)
    # Twelve rows of bricks: as many horizontal lines, a panel (a quarter of the sheet) wide.
    lines = np.flatnonzero(np.diff((yellow[:352] > 0.2).astype(int)) == 1)
    assert len(lines) in (11, 12, 13)


@pytest.mark.photos
@pytest.mark.skipif(not PHOTOS, reason="needs MATERIAL_AGENT_PHOTOS, a folder of photographs")
@pytest.mark.parametrize("name", SEEN)
def test_photographs(name):
    path = Path(PHOTOS or "") / f"{name}.jpg"
    try:
        lattice = analyze(load_reference(path)).lattice
    except ReferenceFault:
        pytest.skip(f"no {name}.jpg in the folder")
    seen = SEEN[name]
    assert (lattice is None) == (seen is None)
    if lattice is not None and seen is not None:
        assert lattice.counts == pytest.approx(seen[:2], rel=0.05)
        assert abs((lattice.offset - seen[2] + 0.5) % 1 - 0.5) < 0.05
        assert abs(np.degrees(lattice.angle_rad)) < 2


def test_names_are_listed():
    assert set(bundled_ids()) < set(bundled_names())


@pytest.mark.parametrize("name", ["brick_wall", "wood_fine", "skimage:grass"])
def test_the_json_is_what_its_schema_says(name):
    """With a lattice, with bands, with neither."""
    data = analyze(load_reference(name)).to_json()
    jsonschema.Draft202012Validator(analysis_schema()).validate(data)
    data["measured"]["lattice"] = 7
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(analysis_schema()).validate(data)
