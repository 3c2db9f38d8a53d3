import hashlib
import json

import pytest
from picture_files import encoded, gradient, png_header_only

from references import Crop, ReferenceFault, Scale, load_set
from references.sets import item_id

PNG = encoded(gradient(64, 48), "PNG")
L4 = ("a.png", "a.jpg", "A.png", "sub/a.png", "ü b.png")


def written(folder, names, data=PNG):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def test_equal_stems_have_ids_of_their_own(tmp_path):
    """Case L4: five pictures, five ids, also where upper and lower case are one, mapped in the set's JSON."""
    found = load_set(written(tmp_path, L4))
    assert {item.name for item in found} == set(L4)
    assert len({item.id.casefold() for item in found}) == 5
    for item in found:
        assert item.id.isascii()
        assert "/" not in item.id
        assert item.load().id == item.id
    assert {entry["path"]: entry["id"] for entry in found.to_json()["references"]} == {i.name: i.id for i in found}


def test_an_id_depends_on_nothing_but_the_name(tmp_path):
    alone = {item.name: item.id for item in load_set(written(tmp_path / "few", L4[:1]))}
    together = {item.name: item.id for item in load_set(written(tmp_path / "many", (*L4, "b.png")))}
    assert alone.items() <= together.items()
    assert alone["a.png"] == "a-png"
    assert together["sub/a.png"] == "sub.a-png"


def test_ids_are_safe_and_differ():
    """Names that a naive spelling would merge or that a file system refuses."""
    names = [
        *(
            "x.png",
            "X.png",
            "x..png",
            "x .png",
            "x-png.png",
            "x_png.png",
            "x/png.png",
            "x.png.png",
            "sub/a.png",
            "sub.a.png",
        ),
        *("con.png", "aux/a.png", "-x.png", ".x.png", "木.png", "本.png", "ß.png", "SS.png", "é.png", "e\u0301.png"),
        *("a" * 300 + ".png", "a" * 301 + ".png", "a\ud800.png", "x.jpg", "x.JPG", "…/….png", "../x.png"),
    ]
    ids = [item_id(name) for name in names]
    assert len({name.casefold() for name in ids}) == len(names)
    for name in ids:
        assert name.isascii()
        assert len(name) <= 80
        assert name[0] not in ".-"
        assert name.split(".")[0] not in {"con", "aux"}
        assert not set(name) & set('/\\:*?"<>| ')


def test_a_folder_with_bad_files_gives_the_good_one_and_reasons(tmp_path):
    """Case R4, as far as a set goes: each file is a member, the bad ones say why they cannot be loaded."""
    files = {
        "good.png": PNG,
        "cut.jpg": encoded(gradient(200, 200), "JPEG")[:2000],
        "bomb.png": png_header_only(20000, 20000),
        "heic.png": b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(500),
        "empty.png": b"",
        "text.png": b"no picture",
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "notes.txt").write_text("ignored")
    (tmp_path / ".hidden.png").write_bytes(PNG)
    found = load_set(tmp_path)
    outcome = {}
    for item in found:
        try:
            outcome[item.name] = item.load().image_srgb.shape
        except ReferenceFault as fault:
            outcome[item.name] = fault.reason
    assert set(outcome) == set(files)
    assert outcome["good.png"] == (48, 48, 3)
    assert all(isinstance(outcome[name], str) for name in files if name != "good.png")
    assert found.ignored == ("notes.txt",)


MANIFESTS = {
    "set.toml": """name = "walls"
root = "pictures"
[[references]]
path = "a.png"
crop = [0, 0, 32, 32]
scale = "100px/m"
kind = "brick"
[[references]]
path = "brick_wall"
id = "Wall.1"
sha256 = "{sha}"
""",
    "set.json": """{{"name": "walls", "root": "pictures", "references": [
        {{"path": "a.png", "crop": "0,0,32,32", "scale": "100 px/m", "kind": "brick"}},
        {{"path": "brick_wall", "id": "Wall.1", "sha256": "{sha}"}}]}}""",
    "set.csv": """\ufefffile,id,sha256,crop,scale,kind
pictures/a.png,a-png,,"0,0,32,32",100px/m,brick
brick_wall,Wall.1,{sha},,,
""",
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_manifests_say_the_same_in_three_formats(tmp_path, name):
    from references.bundled import bundled_path

    written(tmp_path, ["pictures/a.png"])
    sha = hashlib.sha256(bundled_path("brick_wall").read_bytes()).hexdigest()
    (tmp_path / name).write_text(MANIFESTS[name].format(sha=sha), encoding="utf-8")
    found = load_set(tmp_path / name)
    assert [item.id for item in found] == ["a-png", "Wall.1"]
    assert found["a-png"].preparation.crop == Crop(0, 0, 32, 32)
    assert found["a-png"].preparation.scale == Scale(pixels_per_m=100)
    assert found["a-png"].meta == {"kind": "brick"}
    picture = found["a-png"].load()
    assert picture.image_srgb.shape == (32, 32, 3)
    assert picture.patch_size_m == pytest.approx(0.32)
    assert found["Wall.1"].load().sha256 == sha
    assert found.checksums() == {"a-png": hashlib.sha256(PNG).hexdigest(), "Wall.1": sha}
    assert not found.faults


def test_a_folder_may_bring_its_manifest(tmp_path):
    written(tmp_path, ["a.png", "b.png"])
    (tmp_path / "references.json").write_text('["b.png"]')
    assert [item.name for item in load_set(tmp_path)] == ["b.png"]


def test_a_changed_file_is_noticed(tmp_path):
    written(tmp_path, ["a.png"])
    (tmp_path / "m.json").write_text(json.dumps([{"path": "a.png", "sha256": "0" * 64}]))
    with pytest.raises(ReferenceFault, match="expected the file with sha256 000000000000"):
        load_set(tmp_path / "m.json")["a-png"].load()


BAD_ENTRIES = [
    ({"path": "missing.png"}, "no such file"),
    ({"path": "a.png"}, "the id 'a-png' is that of a.png"),
    ({"path": "b.png", "id": "A-PNG"}, "give it another"),
    ({"path": "b.png", "id": "../b"}, "expected an id"),
    ({"path": "b.png", "id": "nul.x"}, "expected an id"),
    ({"path": "b.png", "crop": "1,2,3"}, "LEFT,TOP,WIDTH,HEIGHT"),
    ({"path": "b.png", "scale": "0 m"}, "above 0"),
    ({"path": "b.png", "scale": "3 parsec"}, "length such as"),
    ({"path": "b.png", "sha256": "12"}, "64 hexadecimal"),
    ({"path": "b.png", "scale": True}, "expected text or a number"),
    ({"path": "a\0b.png"}, "no such file"),
    ({"title": "b"}, "expected a path"),
    (7, "got int"),
]


@pytest.mark.parametrize(("entry", "reason"), BAD_ENTRIES)
def test_a_bad_entry_does_not_take_the_others_with_it(tmp_path, entry, reason):
    written(tmp_path, ["a.png", "b.png"])
    (tmp_path / "m.json").write_text(json.dumps([{"path": "a.png"}, entry]))
    found = load_set(tmp_path / "m.json")
    assert [item.id for item in found] == ["a-png"]
    assert len(found.faults) == 1
    assert reason in str(found.faults[0])
    assert "\n" not in str(found.faults[0])


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("m.toml", "references = [", "TOML manifest"),
        ("m.json", "{}", "no list under"),
        ("m.json", "[" * 100000, "JSON manifest"),
        ("m.json", "[]", "names no reference"),
        ("m.csv", "title\nb", "column named"),
        ("m.csv", "path\n", "names no reference"),
    ],
)
def test_what_is_no_manifest_is_told_in_one_line(tmp_path, name, text, reason):
    (tmp_path / name).write_text(text)
    with pytest.raises(ReferenceFault, match=reason) as caught:
        load_set(tmp_path / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["no/such", "a\0b"])
def test_nothing_there(name):
    with pytest.raises(ReferenceFault):
        load_set(name)


def test_a_folder_without_pictures(tmp_path):
    with pytest.raises(ReferenceFault, match="holds no picture"):
        load_set(tmp_path)


def test_one_picture_and_the_bundled_ones_are_sets(tmp_path):
    path = written(tmp_path, ["a.png"]) / "a.png"
    assert [item.id for item in load_set(path)] == ["a-png"]
    bundled = load_set("bundled")
    assert bundled["brick_wall"].meta["family"] == "bricks"
    assert [item.id for item in load_set("skimage:grass")] == ["skimage-grass"]
    assert bundled["skimage-grass"].load().id == "skimage-grass"
