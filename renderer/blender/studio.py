"""The scenes of the three views. Every number is data in `data/studio.json` and explained in docs/rendering.md."""

from __future__ import annotations

import json
import math
from functools import cache
from importlib import resources
from typing import Any

from renderer.blender.passes import AOV_TYPES
from renderer.blender.types import Bpy
from renderer.protocol import RenderSettings, View


@cache
def studio_data() -> dict[str, Any]:
    """Cameras, lights and worlds by view; lengths in patch sides, angles in degrees."""
    text = resources.files("renderer.blender").joinpath("data/studio.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def with_nodes(block: Bpy) -> Bpy:
    """A material or world with its node tree: 5.x makes it by itself and warns about `use_nodes`, 4.x does not."""
    if block.node_tree is None:
        block.use_nodes = True
    return block


class Studio:
    """One scene for each view, all showing one material. Made once in a worker and kept."""

    def __init__(self, material: Bpy, threads: int) -> None:
        import bpy  # noqa: PLC0415

        self.bpy = bpy
        self.material = material
        self.threads = threads
        self._scenes: dict[str, Any] = {}
        self._applied: dict[str, tuple[Any, ...]] = {}

    def scene(self, view: View, channels: tuple[str, ...], settings: RenderSettings) -> Bpy:
        """The scene of `view`, set to `settings` and with an AOV for each channel that needs one."""
        scene = self._scenes.get(view)
        if scene is None:
            scene = self._scenes[view] = self._make(view)
        wanted = (channels, settings.resolution, settings.samples, settings.patch_size_m, settings.device)
        if self._applied.get(view) != wanted:
            self._apply(scene, view, channels, settings)
            self._applied[view] = wanted
        return scene

    def _make(self, view: View) -> Bpy:
        bpy, data = self.bpy, studio_data()[view]
        scene = bpy.data.scenes.new(f"studio {view}")
        scene.render.engine = "CYCLES"
        scene.world = make_world(bpy, data["world"], view)
        subject = make_subject(bpy, data["subject"], f"subject {view}")
        subject.data.materials.append(self.material)
        camera, sun = make_camera(bpy, data["camera"], view), make_sun(bpy, data["sun"], view)
        for item in (subject, camera, sun):
            scene.collection.objects.link(item)
        scene.camera = camera
        render, cycles = scene.render, scene.cycles
        render.use_compositing = render.use_sequencer = False
        render.use_persistent_data = False
        render.dither_intensity = 0.0
        render.resolution_percentage = 100
        render.threads_mode, render.threads = "FIXED", self.threads
        cycles.use_denoising = cycles.use_adaptive_sampling = False
        cycles.use_light_tree = False
        cycles.seed = 0
        cycles.sample_clamp_indirect = 0.0
        cycles.max_bounces = data["max_bounces"]
        return scene

    def _apply(self, scene: Bpy, view: View, channels: tuple[str, ...], settings: RenderSettings) -> None:
        data = studio_data()[view]
        render, cycles = scene.render, scene.cycles
        render.resolution_x = render.resolution_y = settings.resolution
        cycles.samples = settings.samples
        cycles.device = "CPU" if settings.device == "CPU" else "GPU"
        kind, width = data["filter"]["one_sample" if settings.samples == 1 else "many_samples"]
        cycles.pixel_filter_type, cycles.filter_width = kind, width
        place(scene, data, settings.patch_size_m)
        aovs = scene.view_layers[0].aovs
        wanted = [name for name in channels if name in AOV_TYPES]
        if [aov.name for aov in aovs] != wanted:
            while len(aovs):
                aovs.remove(aovs[0])
            for name in wanted:
                aov = aovs.add()
                aov.name, aov.type = name, AOV_TYPES[name]


def place(scene: Bpy, data: dict[str, Any], patch_size_m: float) -> None:
    """Size the subject and the camera's distance for a patch of `patch_size_m` metres."""
    size = patch_size_m
    camera = scene.camera
    camera.location = [size * value for value in data["camera"]["location"]]
    camera.data.clip_start, camera.data.clip_end = 0.01 * size, 100.0 * size
    if data["camera"]["type"] == "ORTHO":
        camera.data.ortho_scale = size
    subject = next(item for item in scene.objects if item.type == "MESH")
    mesh = subject.data
    flat = [size * value for corner in subject_vertices(data["subject"]) for value in corner]
    mesh.vertices.foreach_set("co", flat)
    mesh.update()


@cache
def _sphere(segments: int, rings: int) -> tuple[list[tuple[float, ...]], list[tuple[int, ...]], list[float]]:
    """A UV sphere of diameter 1 as a grid with a seam: vertices, faces, UV (u twice round, v once, per corner)."""
    vertices: list[tuple[float, ...]] = []
    faces: list[tuple[int, ...]] = []
    uvs: list[float] = []
    for ring in range(rings + 1):
        polar = math.pi * ring / rings
        for segment in range(segments + 1):
            azimuth = 2 * math.pi * segment / segments
            radius = 0.5 * math.sin(polar)
            vertices.append((radius * math.cos(azimuth), radius * math.sin(azimuth), -0.5 * math.cos(polar)))
    row = segments + 1
    for ring in range(rings):
        for segment in range(segments):
            start = ring * row + segment
            face = (start, start + 1, start + row + 1, start + row)
            faces.append(face)
            for index in face:
                uvs += [2.0 * (index % row) / segments, (index // row) / rings]
    return vertices, faces, uvs


_SQUARE = [(-0.5, -0.5, 0.0), (0.5, -0.5, 0.0), (0.5, 0.5, 0.0), (-0.5, 0.5, 0.0)]


def subject_vertices(data: dict[str, Any]) -> list[tuple[float, ...]]:
    """Vertices for a patch side of one metre."""
    if data["shape"] == "plane":
        return [tuple(corner) for corner in _SQUARE]
    return _sphere(data["segments"], data["rings"])[0]


def make_subject(bpy: Bpy, data: dict[str, Any], name: str) -> Bpy:
    """The patch or the sphere, with UV, before it is sized."""
    mesh = bpy.data.meshes.new(name)
    if data["shape"] == "plane":
        mesh.from_pydata(subject_vertices(data), [], [(0, 1, 2, 3)])
        uvs = [0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0]
    else:
        vertices, faces, uvs = _sphere(data["segments"], data["rings"])
        mesh.from_pydata(vertices, [], faces)
        mesh.polygons.foreach_set("use_smooth", [True] * len(faces))
    mesh.uv_layers.new(name="UVMap").data.foreach_set("uv", uvs)
    subject = bpy.data.objects.new(name, mesh)
    subject.rotation_euler = [math.radians(angle) for angle in data["rotation_deg"]]
    return subject


def make_camera(bpy: Bpy, data: dict[str, Any], name: str) -> Bpy:
    """The camera; `place` sets its distance."""
    camera = bpy.data.cameras.new(f"camera {name}")
    camera.type = data["type"]
    if data["type"] == "PERSP":
        camera.lens, camera.sensor_width = data["lens_mm"], data["sensor_mm"]
    item = bpy.data.objects.new(f"camera {name}", camera)
    item.rotation_euler = [math.radians(angle) for angle in data["rotation_deg"]]
    return item


def make_sun(bpy: Bpy, data: dict[str, Any], name: str) -> Bpy:
    """A sun without angular size, `zenith_deg` from +Z towards the compass angle `azimuth_deg` (0 is +Y, 90 is +X)."""
    light = bpy.data.lights.new(f"sun {name}", "SUN")
    light.energy = data["lambert"] * math.pi / math.cos(math.radians(data["calibration_deg"]))
    light.angle = math.radians(data["angle_deg"])
    item = bpy.data.objects.new(f"sun {name}", light)
    zenith, azimuth = math.radians(data["zenith_deg"]), math.radians(data["azimuth_deg"])
    # A light shines along its -Z: tip it by the zenith angle about X, then turn it to its azimuth.
    item.rotation_euler = (-zenith, 0.0, -azimuth)
    return item


def make_world(bpy: Bpy, stops: list[list[float]], name: str) -> Bpy:
    """A world whose radiance goes through the grey or RGB stops `[elevation sine, r, g, b]`; none means black."""
    world = with_nodes(bpy.data.worlds.new(f"world {name}"))
    tree = world.node_tree
    tree.nodes.clear()
    if not stops:
        return world
    background, output = tree.nodes.new("ShaderNodeBackground"), tree.nodes.new("ShaderNodeOutputWorld")
    tree.links.new(output.inputs["Surface"], background.outputs["Background"])
    if len(stops) == 1:
        background.inputs["Color"].default_value = (*stops[0][1:], 1.0)
        return world
    coordinates, split = tree.nodes.new("ShaderNodeTexCoord"), tree.nodes.new("ShaderNodeSeparateXYZ")
    span, ramp = tree.nodes.new("ShaderNodeMapRange"), tree.nodes.new("ShaderNodeValToRGB")
    span.inputs["From Min"].default_value = -1.0
    tree.links.new(split.inputs[0], coordinates.outputs["Generated"])
    tree.links.new(span.inputs["Value"], split.outputs["Z"])
    tree.links.new(ramp.inputs[0], span.outputs["Result"])
    tree.links.new(background.inputs["Color"], ramp.outputs["Color"])
    elements = ramp.color_ramp.elements
    while len(elements) < len(stops):
        elements.new(1.0)
    for element, (sine, *color) in zip(elements, stops, strict=True):
        element.position = (sine + 1.0) / 2.0
        element.color = (*color, 1.0)
    return world
