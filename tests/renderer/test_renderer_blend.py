""".blend files, looked at by plain Blender in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from renderer_graphs import emission, graph, principled, request, textured

from renderer import CHANNELS, BlendFileError, export_blend, import_blend, quantize, srgb_to_linear, write_png
from renderer.images import encode

RED = (*(float(value) for value in srgb_to_linear(np.array([200, 30, 30]) / 255)), 1.0)


def blender(code: str, *arguments: object):
    """Run code in a Blender of its own with every warning an error; returns what it puts into `answer`."""
    head = "import json, os, sys\nimport bpy\nargs = sys.argv[1:]\n"
    body = f"{head}{code}\nprint('ANSWER' + json.dumps(answer), flush=True)\nos._exit(0)"
    run = subprocess.run([sys.executable, "-W", "error::DeprecationWarning", "-c", body, *map(str, arguments)],
                         capture_output=True, text=True, timeout=120, check=False)  # fmt: skip
    assert "ANSWER" in run.stdout, run.stderr
    return json.loads(run.stdout.split("ANSWER", 1)[1].splitlines()[0])


def same_pictures(pool, a, b) -> None:
    first, second = pool.render(request(a, size=32)), pool.render(request(b, size=32))
    assert first.ok and second.ok, second.messages
    for name in CHANNELS:
        np.testing.assert_allclose(first.channels[name], second.channels[name], atol=1e-6)


AUTHOR = """
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.engine = args[1]
scene.view_settings.view_transform = args[2]
m = bpy.data.materials.new("Rot")
m.use_fake_user = True
t = m.node_tree
t.nodes.clear()
e, o = t.nodes.new("ShaderNodeEmission"), t.nodes.new("ShaderNodeOutputMaterial")
e.name, o.name = "原理化 BSDF", "Ausgabe"
e.label = o.label = "twin"
e.inputs[0].default_value = [float(v) for v in args[3].split(",")]
r = t.nodes.new("NodeReroute")
t.links.new(r.inputs[0], e.outputs[0])
t.links.new(o.inputs[0], r.outputs[0])
bpy.data.materials.new("Zweites").use_fake_user = True
bpy.ops.wm.save_as_mainfile(filepath=args[0])
answer = scene.render.engine
"""
LOOK = """
bpy.ops.wm.open_mainfile(filepath=args[0])
scene = bpy.context.scene
answer = {"engine": scene.render.engine, "view": scene.view_settings.view_transform,
          "materials": {m.name: m.use_fake_user for m in bpy.data.materials},
          "objects": sorted(o.type for o in scene.objects),
          "shown": [s.material.name for o in scene.objects for s in o.material_slots],
          "packed": [bool(i.packed_file) for i in bpy.data.images]}
"""


def test_a_material_comes_back_as_the_same_graph_and_the_same_pictures(pool, tmp_path) -> None:
    path = tmp_path / "a.blend"
    assert export_blend(textured(), path, name="Noise") == ()
    found = import_blend(path)
    assert (found.name, found.engine, found.view_transform) == ("Noise", "CYCLES", "Standard")
    assert {node.type for node in found.graph.nodes.values()} == {node.type for node in textured().nodes.values()}
    same_pictures(pool, textured(), found.graph)


def test_the_file_shows_the_flat_view_by_itself(pool, tmp_path) -> None:
    path = tmp_path / "a.blend"
    export_blend(textured(), path, name="Noise")
    seen = blender(LOOK, path)
    assert seen["objects"] == ["CAMERA", "LIGHT", "MESH"]
    assert seen["shown"] == ["Noise"]
    assert seen["materials"] == {"Noise": True}
    render = f"""
bpy.ops.wm.open_mainfile(filepath=args[0])
s = bpy.context.scene
s.render.resolution_x = s.render.resolution_y = 32
s.cycles.samples = 64
s.render.image_settings.file_format = "PNG"
s.render.filepath = {str(tmp_path / "f12.png")!r}
bpy.ops.render.render(write_still=True)
answer = 1
"""
    blender(render, path)
    from PIL import Image

    shown = np.asarray(Image.open(tmp_path / "f12.png").convert("RGB")).astype(int)
    beauty = pool.render(request(textured(), size=32, samples=64)).channels["beauty"]
    ours = quantize(encode("beauty", beauty).pixels)
    assert np.abs(shown - ours.astype(int)).mean() < 1.0


@pytest.mark.parametrize(("engine", "view"), [("BLENDER_EEVEE", "AgX"), ("CYCLES", "Filmic")])
def test_b2_b6_f2_an_authors_file_is_read_exactly_and_keeps_its_settings(pool, tmp_path, engine, view) -> None:
    path, copy = tmp_path / "author.blend", tmp_path / "copy.blend"
    engine = blender(AUTHOR, path, engine, view, ",".join(map(str, RED)))
    found = import_blend(path)
    assert (found.name, found.engine, found.view_transform) == ("Rot", engine, view)
    assert set(found.materials) == {"Rot", "Zweites"}
    beauty = pool.render(request(found.graph)).channels["beauty"]
    assert np.abs(quantize(encode("beauty", beauty).pixels).astype(int) - [200, 30, 30]).max() <= 1
    export_blend(principled(), copy, name="Rot", into=path)
    seen = blender(LOOK, copy)
    assert (seen["engine"], seen["view"]) == (engine, view)
    assert seen["materials"]["Rot"] and seen["materials"]["Zweites"]
    assert import_blend(path, "Rot").graph == found.graph


def test_g6_nodes_are_found_by_type_whatever_their_names(tmp_path) -> None:
    path = tmp_path / "author.blend"
    blender(AUTHOR, path, "CYCLES", "Standard", ",".join(map(str, RED)))
    found = import_blend(path).graph
    assert sorted(node.type for node in found.nodes.values()) == ["ShaderNodeEmission", "ShaderNodeOutputMaterial"]
    assert len(found.links) == 1


def test_f1_the_output_that_cycles_uses_is_named_and_both_are_kept(pool, tmp_path) -> None:
    nodes = {
        "red": ("BsdfDiffuse", {"Color": (1.0, 0.0, 0.0, 1.0)}),
        "a": ("OutputMaterial", {}, {"is_active_output": True}),
        "b": ("OutputMaterial", {}, {"target": "CYCLES"}),
    }
    material = graph(nodes, "red.BSDF>b.Surface")
    export_blend(material, tmp_path / "a.blend")
    found = import_blend(tmp_path / "a.blend")
    assert sum(node.type == "ShaderNodeOutputMaterial" for node in found.graph.nodes.values()) == 2
    assert any("'b' is the output that Cycles renders" in message.text for message in found.messages)
    same_pictures(pool, material, found.graph)


def test_f4_a_present_picture_travels_inside_the_file(tmp_path) -> None:
    write_png(tmp_path / "p.png", np.full((4, 4, 3), 200, np.uint8))
    nodes = {"i": ("TexImage", {}, {"image": str(tmp_path / "p.png")}), "e": "Emission", "out": "OutputMaterial"}
    export_blend(graph(nodes, "i.Color>e.Color; e.Emission>out.Surface"), tmp_path / "far" / "a.blend")
    assert blender(LOOK, tmp_path / "far" / "a.blend")["packed"] == [True]


def test_other_pictures_of_an_authors_file_stay_as_they_are(tmp_path) -> None:
    write_png(tmp_path / "p.png", np.full((4, 4, 3), 200, np.uint8))
    write_png(tmp_path / "theirs.png", np.full((4, 4, 3), 90, np.uint8))
    code = """
i = bpy.data.images.load(args[1])
m = bpy.data.materials.new("Theirs")
m.use_fake_user = True
m.node_tree.nodes.new("ShaderNodeTexImage").image = i
bpy.ops.wm.save_as_mainfile(filepath=args[0])
answer = 1
"""
    blender(code, tmp_path / "author.blend", tmp_path / "theirs.png")
    nodes = {"i": ("TexImage", {}, {"image": str(tmp_path / "p.png")}), "e": "Emission", "out": "OutputMaterial"}
    material = graph(nodes, "i.Color>e.Color; e.Emission>out.Surface")
    export_blend(material, tmp_path / "copy.blend", name="Ours", into=tmp_path / "author.blend")
    look = """
bpy.ops.wm.open_mainfile(filepath=args[0])
answer = {i.name: [bool(i.packed_file), list(i.keys())] for i in bpy.data.images if i.source == "FILE"}
"""
    assert blender(look, tmp_path / "copy.blend") == {"p.png": [True, []], "theirs.png": [False, []]}


LAYOUT = """
bpy.ops.wm.open_mainfile(filepath=args[0])
m = bpy.data.materials[0]
group = next(n for n in m.node_tree.nodes if n.bl_idname == "ShaderNodeGroup")
t = group.node_tree
own = [n for n in t.nodes if n.bl_idname != "NodeFrame"]
answer = {"nodes": {n.name: [n.location_absolute.x, n.location_absolute.y, n.width] for n in own},
          "links": [[l.from_node.name, l.to_node.name] for l in t.links],
          "frames": {n.label: [c.name for c in own if c.parent == n] for n in t.nodes if n.bl_idname == "NodeFrame"},
          "inputs": [s.name for s in group.inputs], "labels": {n.name: n.label for n in own},
          "images": {i.name: bool(i.packed_file) for i in bpy.data.images}}
"""


def layered(seed: int):
    """A random tree of the kind that fits end with: several scales, colors between, bump and roughness."""
    from dataclasses import replace

    rng = np.random.default_rng(seed)
    nodes, links, feeds = {"where": "TexCoord", "place": "Mapping"}, ["where.UV>place.Vector"], ["place.Vector"]
    roles = {}
    for index in range(14):
        kind, out, slots = [("TexNoise", "Fac", ["Vector", "Scale"]), ("TexBrick", "Fac", ["Vector", "Color1"]),
                            ("ValToRGB", "Color", ["Fac"]), ("Math", "Value", ["Value", "Value_001"]),
                            ("TexVoronoi", "Distance", ["Vector"])][rng.integers(5)]  # fmt: skip
        name = f"part {index}"
        nodes[name], roles[name] = kind, ("macro", "meso", "micro", "color", "shading", "")[rng.integers(6)]
        links += [f"{feeds[rng.integers(len(feeds))]}>{name}.{slot}" for slot in slots]
        feeds.append(f"{name}.{out}")
    nodes |= {"bump": "Bump", "shader": "BsdfPrincipled", "out": "OutputMaterial"}
    links += [f"{feeds[-1]}>shader.Base Color", f"{feeds[-2]}>bump.Height", "bump.Normal>shader.Normal",
              f"{feeds[-3]}>shader.Roughness", "shader.BSDF>out.Surface"]  # fmt: skip
    made = graph(nodes, "; ".join(links))
    for name, role in roles.items():
        made = made.with_node(replace(made.nodes[name], role=role))
    return made


def boxes_overlap(boxes: dict[str, tuple[float, float, float, float]]) -> list[tuple[str, str]]:
    names = sorted(boxes)
    found = []
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            (ax, ay, aw, ah), (bx, by, bw, bh) = boxes[a], boxes[b]
            if ax < bx + bw and bx < ax + aw and ay > by - bh and by > ay - ah:
                found.append((a, b))
    return found


def test_nodes_run_left_to_right_in_frames_and_do_not_overlap(tmp_path) -> None:
    """In the file that was written: places and widths are Blender's, heights the stated estimates."""
    from graph_api.arrange import arrange

    write_png(tmp_path / "p.png", np.full((4, 4, 3), 200, np.uint8))
    material = layered(0)
    export_blend(material, tmp_path / "a.blend", name="Wall", pictures={"Reference": tmp_path / "p.png"})
    seen = blender(LAYOUT, tmp_path / "a.blend")
    place, faces = seen["nodes"], arrange(material).faces
    assert all(place[a][0] + place[a][2] < place[b][0] for a, b in seen["links"])
    heights = {name: face.height for name, face in faces.items()}
    boxes = {name: (x, y, width, heights.get(name, 60.0)) for name, (x, y, width) in place.items()}
    assert boxes_overlap(boxes) == []
    assert {"Mapping", "Shading"} < set(seen["frames"])
    assert "where" in seen["frames"]["Mapping"]
    assert seen["labels"]["part 3"] == "Part 3"
    assert seen["inputs"][:3] == ["Pattern Scale", "Pattern Rotation", "Pattern Offset"]
    assert len(seen["inputs"]) <= 12
    assert seen["images"] == {"Reference": True}


@pytest.mark.parametrize("seed", range(40))
def test_no_layout_overlaps_and_frames_hold_their_own_alone(seed) -> None:
    from graph_api.arrange import arrange

    material = layered(seed)
    placed = arrange(material)
    boxes = {name: (*placed.places[name], face.width, face.height) for name, face in placed.faces.items()}
    assert boxes_overlap(boxes) == []
    for link in material.links:
        x, _, width, _ = boxes[link.src]
        assert x + width < boxes[link.dst][0]
    frames = {f"{index}": (frame.x, frame.y, frame.width, frame.height) for index, frame in enumerate(placed.frames)}
    assert boxes_overlap(frames) == []
    for index, frame in enumerate(placed.frames):
        around = {name: box for name, box in boxes.items() if name not in frame.members} | {"frame": frames[str(index)]}
        assert [pair for pair in boxes_overlap(around) if "frame" in pair] == []


def test_g7_a_material_without_nodes_is_read_from_its_settings(tmp_path) -> None:
    code = """
m = bpy.data.materials.new("Old")
m.node_tree.nodes.clear()
m.diffuse_color, m.roughness, m.metallic = (0.5, 0.25, 0.125, 1.0), 0.25, 1.0
m.use_fake_user = True
bpy.ops.wm.save_as_mainfile(filepath=args[0])
answer = 1
"""
    blender(code, tmp_path / "old.blend")
    found = import_blend(tmp_path / "old.blend", "Old")
    shader = next(node for node in found.graph.nodes.values() if node.type == "ShaderNodeBsdfPrincipled")
    assert shader.inputs == {"Base Color": (0.5, 0.25, 0.125, 1.0), "Metallic": 1.0, "Roughness": 0.25}
    assert "does not use nodes" in found.messages[0].text


@pytest.mark.parametrize(("name", "color"), [("Off", (0.5, 0.25, 0.125)), ("OffWithTree", (0.0, 1.0, 0.0))])
def test_g7_a_4_5_file_with_nodes_switched_off_shows_its_viewport_color(pool, name, color) -> None:
    """Saved by Blender 4.5; `OffWithTree` also holds a red Principled tree that was switched off."""
    found = import_blend(Path(__file__).parent / "data" / "nodes_off_4_5.blend", name)
    assert set(found.materials) == {"Off", "OffWithTree"}
    base_color = pool.render(request(found.graph)).channels["base_color"]
    np.testing.assert_allclose(base_color, np.broadcast_to(np.float32(color), base_color.shape), atol=1e-6)


@pytest.mark.parametrize("active", ["a", "b"])
def test_the_active_one_of_several_outputs_stays_active(pool, tmp_path, active) -> None:
    nodes = {
        "red": ("BsdfDiffuse", {"Color": (1.0, 0.0, 0.0, 1.0)}),
        "blue": ("BsdfDiffuse", {"Color": (0.0, 0.0, 1.0, 1.0)}),
        **{name: ("OutputMaterial", {}, {"is_active_output": name == active}) for name in "ab"},
    }
    material = graph(nodes, "red.BSDF>a.Surface; blue.BSDF>b.Surface")
    export_blend(material, tmp_path / "a.blend")
    found = import_blend(tmp_path / "a.blend").graph
    for item in (material, found):
        base_color = pool.render(request(item)).channels["base_color"]
        assert tuple(base_color[0, 0]) == ((1.0, 0.0, 0.0) if active == "a" else (0.0, 0.0, 1.0))


def test_files_that_are_none_are_refused_in_one_line(tmp_path) -> None:
    (tmp_path / "bad.blend").write_bytes(b"not a blend file")
    for path in (tmp_path / "bad.blend", tmp_path / "absent.blend"):
        with pytest.raises(BlendFileError) as caught:
            import_blend(path)
        assert str(path) in str(caught.value)
    export_blend(emission(RED), tmp_path / "a.blend", name="Only")
    answer = import_blend(tmp_path / "a.blend", "Other")
    assert answer.graph is None and "known: Only" in answer.messages[0].text
