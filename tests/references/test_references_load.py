import io
import os
import resource

import numpy as np
import pytest
from picture_files import (
    DISPLAY_P3,
    big_endian_tiff16,
    encoded,
    float_file,
    gradient,
    matrix_profile,
    png_header_only,
    srgb_profile,
)
from PIL import Image, ImageOps

from evaluators.functional.color import linear_to_srgb, srgb_to_linear
from evaluators.functional.light import find_light
from references import Crop, Preparation, ReferenceFault, Scale, bundled_names, load_reference
from references.bundled import bundled_path
from references.quiet import without_lines
from references.square import propose_square

SRGB_TO_XYZ_D50 = np.array(
    [[0.4360747, 0.3850649, 0.1430804], [0.2225045, 0.7168786, 0.0606169], [0.0139322, 0.0971045, 0.7141733]]
)


def load(tmp_path, data, name="picture.png", **options):
    path = tmp_path / name
    path.write_bytes(data)
    return load_reference(path, **options)


def rgb(reference):
    return np.round(reference.image_srgb * 255).astype(int)


def test_a_plain_picture_is_unchanged(tmp_path):
    image = gradient(64, 64)
    data = encoded(image, "PNG")
    reference = load(tmp_path, data)
    assert reference.notes == ()
    assert (reference.id, reference.size) == ("picture", (64, 64))
    assert reference.image_srgb.dtype == np.float32
    np.testing.assert_array_equal(rgb(reference), np.asarray(image))


@pytest.mark.parametrize("kind", ["png", "tiff"])
def test_deep_grey_keeps_its_levels(tmp_path, kind):
    values = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    data = encoded(Image.fromarray(values), "PNG") if kind == "png" else big_endian_tiff16(values)
    reference = load(tmp_path, data, f"deep.{kind}")
    np.testing.assert_array_equal(np.unique(rgb(reference)), np.arange(256))
    assert any("16-bit" in note for note in reference.notes)


def test_display_p3_is_converted(tmp_path):
    """The encoding of sRGB (200, 30, 30) in the wide space, by the matrices of both spaces, comes back."""
    linear = np.array([0.57758, 0.01298, 0.01298])
    coordinates = np.linalg.solve(np.array(DISPLAY_P3).T, SRGB_TO_XYZ_D50 @ linear)
    red, green, blue = (round(255 * float(c) ** (1 / 2.2)) for c in coordinates)
    p3 = Image.new("RGB", (32, 32), (red, green, blue))
    reference = load(tmp_path, encoded(p3, "JPEG", quality=100, subsampling=0, icc_profile=matrix_profile(DISPLAY_P3)))
    np.testing.assert_allclose(rgb(reference)[16, 16], (200, 30, 30), atol=3)
    assert any("test wide gamut" in note for note in reference.notes)


def test_an_srgb_profile_changes_nothing(tmp_path):
    image = gradient(32, 32)
    reference = load(tmp_path, encoded(image, "PNG", icc_profile=srgb_profile()))
    assert np.abs(rgb(reference) - np.asarray(image).astype(int)).max() <= 1
    assert reference.notes == ()


@pytest.mark.parametrize("profile", [b"not a profile", b"\0" * 200, matrix_profile(DISPLAY_P3)[:150]])
def test_a_bad_profile_is_a_warning(tmp_path, profile):
    image = gradient(32, 32)
    reference = load(tmp_path, encoded(image, "PNG", icc_profile=profile))
    np.testing.assert_array_equal(rgb(reference), np.asarray(image))
    assert [note for note in reference.notes if note.startswith("warning")]


def test_cmyk_without_profile(tmp_path):
    cmyk = Image.new("CMYK", (32, 32), (0, 255, 255, 0))
    reference = load(tmp_path, encoded(cmyk, "JPEG", quality=100), "ink.jpg")
    np.testing.assert_allclose(rgb(reference)[5, 5], (255, 0, 0), atol=4)
    assert "converted from CMYK to RGB" in reference.notes


def test_cmyk_with_a_profile_of_another_space_is_a_warning(tmp_path):
    cmyk = Image.new("CMYK", (32, 32), (0, 255, 255, 0))
    reference = load(tmp_path, encoded(cmyk, "JPEG", quality=100, icc_profile=srgb_profile()), "ink.jpg")
    np.testing.assert_allclose(rgb(reference)[5, 5], (255, 0, 0), atol=4)
    assert any("cannot be used for CMYK" in note for note in reference.notes)


def test_exif_orientation(tmp_path):
    image = Image.new("RGB", (64, 32), (0, 0, 255))
    image.paste((255, 0, 0), (0, 0, 32, 32))
    exif = Image.Exif()
    exif[0x0112] = 6
    reference = load(tmp_path, encoded(image, "JPEG", exif=exif, quality=95), "turned.jpg", crop=Crop(0, 0, 32, 32))
    assert reference.size == (32, 64)
    assert rgb(reference)[16, 16, 0] > 240
    assert any("turned upright" in note for note in reference.notes)


def test_transparency_is_flattened_onto_grey(tmp_path):
    image = Image.new("RGBA", (32, 32), (255, 0, 0, 255))
    image.paste((0, 0, 0, 0), (0, 0, 16, 32))
    reference = load(tmp_path, encoded(image, "PNG"))
    assert rgb(reference)[4, 4].tolist() == [128, 128, 128]
    assert rgb(reference)[4, 20].tolist() == [255, 0, 0]
    assert any("flattened" in note for note in reference.notes)


def test_palette_with_a_transparent_entry_and_one_bit(tmp_path):
    image = Image.new("P", (32, 32), 0)
    image.putpalette([10, 20, 30, 200, 100, 50])
    image.paste(1, (16, 0, 32, 32))
    reference = load(tmp_path, encoded(image, "PNG", transparency=0))
    assert rgb(reference)[4, 4].tolist() == [128, 128, 128]
    assert rgb(reference)[4, 20].tolist() == [200, 100, 50]
    bits = Image.fromarray(np.tile([0, 255], (32, 16)).astype(np.uint8)).convert("1")
    assert set(np.unique(rgb(load(tmp_path, encoded(bits, "PNG"))))) == {0, 255}


@pytest.mark.parametrize("form", ["GIF", "WEBP"])
def test_animations_give_their_first_frame(tmp_path, form):
    frames = [Image.new("RGB", (32, 32), c) for c in ((200, 30, 30), (30, 200, 30), (30, 30, 200))]
    frames[1].paste((200, 30, 30), (0, 0, 16, 32))
    data = encoded(
        frames[0],
        form,
        save_all=True,
        append_images=frames[1:],
        duration=50,
        **({"lossless": True} if form == "WEBP" else {}),
    )
    reference = load(tmp_path, data, "moving")
    np.testing.assert_allclose(rgb(reference)[4, 28], (200, 30, 30), atol=2)
    assert "first of 3 frames" in reference.notes


def test_oblong_pictures_are_cropped_in_the_centre(tmp_path):
    reference = load(tmp_path, encoded(gradient(90, 40), "PNG"))
    assert reference.image_srgb.shape == (40, 40, 3)
    np.testing.assert_array_equal(rgb(reference), np.asarray(gradient(90, 40))[:, 25:65])
    assert any("cropped from 90×40" in note for note in reference.notes)


def test_large_pictures_are_scaled_down(tmp_path):
    reference = load(tmp_path, encoded(Image.new("L", (5000, 4500), 90), "JPEG"), "large.jpg")
    assert reference.image_srgb.shape == (1024, 1024, 3)
    assert reference.size == (5000, 4500)
    assert any("1024×1024" in note for note in reference.notes)


@pytest.mark.parametrize("crop", [Crop(0, 0, 65, 10), Crop(-1, 0, 10, 10), Crop(0, 0, 0, 10)])
def test_a_crop_outside_is_refused(tmp_path, crop):
    with pytest.raises(ReferenceFault, match="expected a crop inside 64×64"):
        load(tmp_path, encoded(gradient(64, 64), "PNG"), crop=crop)


JPEG = encoded(gradient(300, 300), "JPEG")
BROKEN = {
    "cut.jpg": (JPEG[: len(JPEG) * 6 // 10], "cannot be decoded"),
    "cut.png": (encoded(gradient(300, 300), "PNG")[:3000], "cannot be decoded"),
    "bomb.png": (png_header_only(20000, 20000), "megapixels"),
    "larger_bomb.png": (png_header_only(60000, 60000), "megapixels"),
    "lying.png": (png_header_only(900, 900), "cannot be decoded"),
    "heic.png": (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(500), "cannot be decoded"),
    "empty.png": (b"", "is empty"),
    "text.png": (b"this is no picture\n" * 20, "cannot be decoded"),
    "zeros.jpg": (bytes(4000), "cannot be decoded"),
    "tiny.png": (encoded(gradient(3, 3), "PNG"), "at least 16"),
    "thin.png": (encoded(gradient(400, 2), "PNG"), "at least 16"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_give_one_clear_line(tmp_path, name):
    data, reason = BROKEN[name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ReferenceFault, match=reason) as caught:
        load(tmp_path, data, name)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000


def test_corrupted_bytes_never_escape(tmp_path):
    """Each file either loads or is refused; no other error comes out."""
    rng = np.random.default_rng(0)
    image = gradient(64, 64)
    for form in ("PNG", "JPEG", "TIFF", "WEBP", "GIF", "BMP"):
        whole = np.frombuffer(encoded(image, form), np.uint8)
        for _ in range(25):
            damaged = whole.copy()
            damaged[rng.integers(0, len(damaged), 12)] = rng.integers(0, 256, 12)
            try:
                reference = load(tmp_path, damaged.tobytes(), f"damaged.{form.lower()}")
            except ReferenceFault as fault:
                assert "\n" not in str(fault)
            else:
                assert np.isfinite(reference.image_srgb).all()


@pytest.mark.parametrize(("ending", "kind"), [("exr", "half"), ("hdr", "float"), ("tif", "float")])
def test_corrupted_deep_files_neither_escape_nor_talk(tmp_path, capfd, ending, kind):
    """The readers below are C and print what they dislike; only the one line of the error may be left."""
    rng = np.random.default_rng(1)
    whole = np.frombuffer(float_file(tmp_path / f"whole.{ending}", rng.random((64, 64, 3)), kind), np.uint8)
    refused = 0
    for number in range(25):
        damaged = whole.copy()
        damaged[rng.integers(0, len(damaged) if number % 2 else 500, 8)] = rng.integers(0, 256, 8)
        try:
            reference = load(tmp_path, damaged.tobytes()[: len(whole) - 300 * (number % 3)], f"damaged.{ending}")
        except ReferenceFault as fault:
            refused += 1
            assert "\n" not in str(fault)
        else:
            assert np.isfinite(reference.image_srgb).all()
    assert refused > 5
    assert capfd.readouterr().err == ""


def test_only_the_marked_lines_are_kept_off_stderr(capfd):
    with without_lines(b"NOISE"):
        os.write(2, b"a NOISE line\nanother one\n")
    os.write(2, b"after\n")
    assert capfd.readouterr().err == "another one\nafter\n"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no/such.png", "no such file"),
        ("brick_wal", "no such file"),
        ("skimage:cat", "known: brick"),
        ("a\0b", "NUL"),
        (".", "folder"),
    ],
)
def test_names_that_lead_nowhere(name, reason):
    with pytest.raises(ReferenceFault, match=reason):
        load_reference(name)


@pytest.mark.parametrize("name", ["brick", "grass", "gravel"])
def test_skimage_textures_need_no_download(name):
    reference = load_reference(f"skimage:{name}")
    assert reference.id == f"skimage:{name}"
    assert reference.image_srgb.shape == (512, 512, 3)


def test_every_bundled_name_loads():
    assert len(bundled_names()) >= 8
    for name in bundled_names():
        reference = load_reference(name)
        assert reference.image_srgb.min() >= 0
        assert reference.image_srgb.max() <= 1
        assert reference.image_srgb.std() > 0.01


def wall_in_front_of_sky():
    """512×384: bricks from (100, 130) to (420, 384), the rest a smooth sky; the picture of the bricks is in the set."""
    brick = Image.open(bundled_path("brick_small")).resize((320, 320))
    sky = np.broadcast_to(np.linspace(150, 220, 384)[:, None, None], (384, 512, 3)) * [0.8, 0.9, 1.0]
    picture = Image.fromarray(sky.astype(np.uint8))
    picture.paste(brick.crop((0, 0, 320, 254)), (100, 130))
    return picture


def test_the_most_homogeneous_square_is_the_material(tmp_path):
    reference = load(tmp_path, encoded(wall_in_front_of_sky(), "PNG"), preparation=Preparation.parse(crop="auto"))
    square = reference.square
    assert square is not None
    assert square.left >= 98
    assert square.left + square.width <= 422
    assert square.top >= 128
    assert square.width >= 150
    assert any("most homogeneous" in note for note in reference.notes)
    proposal = propose_square(load(tmp_path, encoded(wall_in_front_of_sky(), "PNG")).whole_srgb)
    assert proposal is not None
    assert proposal.mixed


@pytest.mark.parametrize(
    "name", ["brick_wall", "marble_black", "rings_stump", "rust_patches", "pebbles_river", "skimage:grass"]
)
def test_one_material_is_not_cut_up(name):
    proposal = propose_square(load_reference(name).whole_srgb)
    assert proposal is not None
    assert not proposal.mixed


def test_a_mask_says_where_the_material_is(tmp_path):
    mask = Image.new("L", (512, 384), 0)
    mask.paste(255, (20, 10, 140, 120))
    mask.save(tmp_path / "mask.png")
    choice = Preparation.parse(mask=tmp_path / "mask.png", scale="1000px/m")
    reference = load(tmp_path, encoded(wall_in_front_of_sky(), "PNG"), preparation=choice)
    square = reference.square
    assert square is not None
    assert (square.left, square.top) >= (20, 10)
    assert square.left + square.width <= 140
    assert square.top + square.height <= 120
    assert square.width >= 90
    assert reference.patch_size_m == pytest.approx(square.width / 1000)


@pytest.mark.parametrize(
    ("mask", "reason"),
    [
        (Image.new("L", (512, 384), 0), "room for a square"),
        (Image.new("L", (500, 384), 255), "512×384"),
        (None, "no such"),
    ],
)
def test_masks_that_leave_nothing(tmp_path, mask, reason):
    if mask is not None:
        mask.save(tmp_path / "mask.png")
    with pytest.raises(ReferenceFault, match=reason):
        load(
            tmp_path,
            encoded(wall_in_front_of_sky(), "PNG"),
            preparation=Preparation.parse(mask=tmp_path / "mask.png"),
        )


def test_light_is_flattened_when_asked(tmp_path):
    true = np.asarray(Image.open(bundled_path("brick_small")).convert("RGB"), np.float32) / 255
    y, x = np.mgrid[-1:1:256j, -1:1:256j]
    lit = linear_to_srgb(srgb_to_linear(true) * 2.0 ** (-0.6 * ((x - 0.3) ** 2 + (y + 0.2) ** 2))[..., None])
    data = encoded(Image.fromarray(np.round(255 * np.clip(lit, 0, 1)).astype(np.uint8)), "PNG")
    plain, even = load(tmp_path, data), load(tmp_path, data, preparation=Preparation(flatten=True))
    assert find_light(plain.image_srgb).uneven
    assert not find_light(even.image_srgb).uneven
    gains = [np.log(srgb_to_linear(r.image_srgb) + 1e-3) - np.log(srgb_to_linear(true) + 1e-3) for r in (plain, even)]
    before, after = (float(gain.std()) for gain in gains)
    assert after < 0.25 * before
    assert any("light flattened" in note for note in even.notes)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_orientation_and_crop_agree_with_pillow(tmp_path, orientation):
    """The rectangle is cut before the picture is turned; turning first must give the same."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture = gradient(70, 50)
    data = encoded(picture, "PNG", exif=exif)
    upright = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
    reference = load(tmp_path, data, crop=Crop(3, 7, 40, 30))
    assert reference.size == upright.size
    np.testing.assert_array_equal(rgb(reference), np.asarray(upright.crop((8, 7, 38, 37))))


@pytest.mark.parametrize(
    ("text", "side_px", "side_m"),
    [("30cm", 100, 0.3), ("0.5", 100, 0.5), ("500 px/m", 250, 0.5), ("20px/cm", 100, 0.05), ("1 in", 9, 0.0254)],
)
def test_scales(text, side_px, side_m):
    assert Scale.parse(text).side_of(side_px) == pytest.approx(side_m)


@pytest.mark.parametrize("text", ["", "big", "-3cm", "0px/m", "1e999", "3 px", "nan", "1,5cm"])
def test_scales_that_say_nothing(text):
    with pytest.raises(ReferenceFault, match="expected a"):
        Scale.parse(text)
