"""A kept result is given for exactly the same render and for nothing else."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from renderer_graphs import graph, principled, request, textured

from renderer import BlenderPool, RenderCache, RenderResult, RenderSettings, write_png

VERSION = "5.0.1"


def made(size: int = 4, channels: tuple[str, ...] = ("beauty",), value: float = 1.0) -> RenderResult:
    arrays = {name: np.full((size, size, 3), value, np.float32) for name in channels}
    return RenderResult("ok", arrays, blender_version=VERSION)


def plain(material=None, **settings):
    return replace(request(material or principled(), **settings), channels=("beauty",))


@pytest.mark.parametrize(
    "other",
    [
        plain(principled({"Roughness": 0.51})),
        plain(view="tilt"),
        plain(size=17),
        plain(samples=2),
        plain(patch_size_m=2.0),
        plain(device="CUDA"),
    ],
)
def test_anything_that_changes_pixels_changes_the_key(other) -> None:
    cache = RenderCache()
    cache.put(plain(), made())
    assert cache.get(plain(), VERSION) is not None
    assert cache.get(other, VERSION) is None
    assert cache.get(plain(), "5.0.2") is None


def test_the_time_limit_and_the_order_of_building_do_not(pool) -> None:
    cache = RenderCache()
    cache.put(plain(), made())
    assert cache.get(plain(timeout_s=3.0), VERSION) is not None
    material = textured()
    turned = replace(material, nodes=dict(reversed(material.nodes.items())), links=material.links[::-1])
    cache.put(plain(material), made())
    assert cache.get(plain(turned), VERSION) is not None


def test_channels_asked_later_are_rendered_and_then_kept_together() -> None:
    cache = RenderCache()
    cache.put(plain(), made())
    both = replace(plain(), channels=("beauty", "normal"))
    assert cache.get(both, VERSION) is None
    cache.put(both, made(channels=("beauty", "normal")))
    assert set(cache.get(both, VERSION).channels) == {"beauty", "normal"}
    assert list(cache.get(plain(), VERSION).channels) == ["beauty"]


def test_memory_is_bounded_and_the_least_recently_used_goes_first() -> None:
    size = 64
    cache = RenderCache(memory_mb=3.5 * size * size * 12 / 2**20)
    requests = [plain(principled({"Roughness": i / 10})) for i in range(4)]
    for item in requests[:3]:
        cache.put(item, made(size))
    assert cache.get(requests[0], VERSION) is not None
    cache.put(requests[3], made(size))
    assert [cache.get(item, VERSION) is not None for item in requests] == [True, False, True, True]


def test_results_survive_on_disk_and_arrays_cannot_be_spoiled(tmp_path) -> None:
    first = RenderCache(folder=tmp_path)
    first.put(plain(), made(value=0.25))
    first.close()
    second = RenderCache(folder=tmp_path)
    found = second.get(plain(), VERSION)
    assert found.cached
    np.testing.assert_array_equal(found.channels["beauty"], np.float32(0.25))
    with pytest.raises(ValueError, match="read-only"):
        found.channels["beauty"][0] = 1
    second.close()


def test_l1_a_failure_after_a_success_is_a_failure_and_is_not_kept(pool) -> None:
    cache = RenderCache()
    with BlenderPool(1, cache=cache) as cached:
        good, bad = request(principled()), request(principled({"Nonsense": 1.0}))
        assert cached.render(good).ok
        for _ in range(2):
            result = cached.render(bad)
            assert result.status == "compile_error"
            assert not result.channels and not result.cached
        again = cached.render(good)
        assert again.ok and again.cached
        late = replace(
            request(textured(), size=512, samples=4096), settings=replace(good.settings, samples=4096, timeout_s=0.01)
        )
        assert cached.render(late).status == "timeout"
        assert cached.render(replace(late, settings=replace(late.settings, samples=1, timeout_s=60))).ok


def test_l1_a_picture_edited_in_place_is_rendered_anew(tmp_path) -> None:
    path = tmp_path / "picture.png"
    nodes = {"i": ("TexImage", {}, {"image": str(path)}), "e": "Emission", "out": "OutputMaterial"}
    material = graph(nodes, "i.Color>e.Color; e.Emission>out.Surface")
    with BlenderPool(1, cache=RenderCache()) as cached:
        for level, stamp in ((255, 1), (0, 2)):
            write_png(path, np.full((4, 4, 3), level, np.uint8))
            os.utime(path, (stamp, stamp))
            result = cached.render(request(material))
            assert result.ok and not result.cached
            np.testing.assert_allclose(result.channels["beauty"], level / 255, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "value"),
    [("resolution", 0), ("samples", -1), ("timeout_s", 0.0), ("timeout_s", float("nan"))]
    + [("patch_size_m", value) for value in (0.0, -1.0, float("nan"), float("inf"))],
)
def test_settings_that_no_render_can_have_are_refused(name, value) -> None:
    with pytest.raises(ValueError, match=f"expected {name} above 0"):
        RenderSettings(**{name: value})


def spoil(folder: Path, pattern: str, content: bytes) -> None:
    good = RenderCache(folder=folder)
    with BlenderPool(1, cache=good) as pool:
        assert pool.render(request(textured(), size=128)).ok
    good.close()
    spoiled = list(folder.rglob(pattern))
    assert spoiled
    for path in spoiled:
        path.write_bytes(content)


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: folder.write_text("a file, no folder"),
        lambda folder: spoil(folder, "*.db*", b"no database" * 500),
        lambda folder: spoil(folder, "*.val", b"\x80no pickle"),
        lambda folder: spoil(folder, "*.val", b""),
    ],
)
def test_a_cache_that_cannot_be_used_costs_no_render_and_says_so(pool, tmp_path, damage) -> None:
    damage(tmp_path / "cache")
    cache = RenderCache(folder=tmp_path / "cache")
    result = pool.render(request(textured(), size=128))
    assert cache.get(request(textured(), size=128), result.blender_version) is None
    cache.put(request(textured(), size=128), result)
    assert cache.problem.startswith("the cache on disk is not used: ")
    assert cache.get(request(textured(), size=128), result.blender_version) is not None
    cache.close()


def test_a_request_for_what_there_is_not_is_refused_with_what_there_is() -> None:
    with pytest.raises(ValueError, match="got 'side'; known: flat, tilt, sphere"):
        replace(request(principled()), view="side")
    with pytest.raises(ValueError, match="got 'depth'; known: beauty"):
        replace(request(principled()), channels=("beauty", "depth"))
