"""Reading and writing .blend files, inside a Blender process of its own: opening a file replaces everything in it."""

from __future__ import annotations

from collections.abc import Callable

from graph_api.catalog import nearest_version
from graph_api.model import Graph, Link, Node
from renderer.blender.build import PICTURE_KEY
from renderer.blender.dress import dress
from renderer.blender.gltf import export_gltf
from renderer.blender.read import TreeReader
from renderer.blender.studio import make_camera, make_subject, make_sun, make_world, place, studio_data, with_nodes
from renderer.blender.types import Bpy
from renderer.blendfile import ImportedMaterial
from renderer.protocol import RenderMessage, RenderSettings


def export_blend(
    graph: Graph, path: str, name: str, into: str | None, settings: RenderSettings, pictures: dict[str, str]
) -> tuple[RenderMessage, ...]:
    """Write `graph` as a material; see `renderer.blendfile.export_blend`."""
    import bpy  # noqa: PLC0415

    if into is None:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        _set_render(bpy.context.scene, settings)
    else:
        _open(bpy, into)
    material = bpy.data.materials.get(name) if into is not None else None
    material = with_nodes(material or bpy.data.materials.new(name))
    material.use_fake_user = True
    messages = dress(bpy, material, graph, name)
    _pack(bpy, pictures)
    if into is None:
        _add_preview(bpy, material, settings)
    bpy.ops.wm.save_as_mainfile(filepath=path, check_existing=False, compress=True, copy=False)
    return tuple(messages)


def _pack(bpy: Bpy, pictures: dict[str, str]) -> None:
    """Put `pictures` into the file under their names, and what the material uses with them; no other is touched."""
    for title, picture in pictures.items():
        image = bpy.data.images.load(picture)
        image.name = title
        image.use_fake_user = True
    for image in bpy.data.images:
        ours = image.get(PICTURE_KEY) is not None
        if (ours or image.name in pictures) and image.source == "FILE" and not image.packed_file:
            image.pack()
        if ours:
            del image[PICTURE_KEY]  # it names a path of this machine


def _set_render(scene: Bpy, settings: RenderSettings) -> None:
    """The flat view's own settings, so that F12 in a new file shows what we rendered."""
    scene.render.engine = "CYCLES"
    scene.view_settings.view_transform = "Standard"
    scene.view_settings.look = "None"
    scene.render.resolution_x = scene.render.resolution_y = settings.resolution
    scene.cycles.samples = max(settings.samples, 16)
    scene.cycles.use_denoising = False
    scene.cycles.pixel_filter_type, scene.cycles.filter_width = studio_data()["flat"]["filter"]["many_samples"]


def _add_preview(bpy: Bpy, material: Bpy, settings: RenderSettings) -> None:
    data, scene = studio_data()["flat"], bpy.context.scene
    scene.world = make_world(bpy, data["world"], "preview")
    subject = make_subject(bpy, data["subject"], "Patch")
    subject.data.materials.append(material)
    camera, sun = make_camera(bpy, data["camera"], "preview"), make_sun(bpy, data["sun"], "preview")
    for item in (subject, camera, sun):
        scene.collection.objects.link(item)
    scene.camera = camera
    place(scene, data, settings.patch_size_m)
    bpy.context.view_layer.objects.active = subject


def import_blend(path: str, name: str | None, pictures: str) -> ImportedMaterial:
    """Read one material; see `renderer.blendfile.import_blend`."""
    import bpy  # noqa: PLC0415

    _open(bpy, path)
    scene = bpy.context.scene
    materials = {material.name: material for material in bpy.data.materials if not material.is_grease_pencil}
    chosen = name if name is not None else _first_choice(bpy, list(materials))
    file = {
        "materials": tuple(materials),
        "engine": scene.render.engine,
        "view_transform": scene.view_settings.view_transform,
    }
    if chosen is None or chosen not in materials:
        text = f"expected a material of the file, got {name!r}; known: {', '.join(materials) or 'none'}"
        return ImportedMaterial(None, None, messages=(RenderMessage("error", text),), **file)
    graph, messages = read_material(bpy, materials[chosen], pictures)
    return ImportedMaterial(chosen, graph, messages=tuple(messages), **file)


def read_material(bpy: Bpy, material: Bpy, pictures: str) -> tuple[Graph, list[RenderMessage]]:
    """The graph of one material of the open file, and what it could not hold; `pictures` as in `import_blend`."""
    version = nearest_version(".".join(map(str, bpy.app.version)))
    if _without_nodes(material):
        text = "the material does not use nodes; read as a Principled BSDF with its color, metallic and roughness"
        return _from_settings(material, version), [RenderMessage("warning", text)]
    reader = TreeReader(bpy, material.node_tree, version, pictures)
    return reader.graph(), reader.messages


def _open(bpy: Bpy, path: str) -> None:
    bpy.ops.wm.open_mainfile(filepath=path, load_ui=False, use_scripts=False)


def _first_choice(bpy: Bpy, names: list[str]) -> str | None:
    """The active object's material, else one that an object of the scene shows, else the first of the file."""
    active = bpy.context.view_layer.objects.active
    shown = ([active] if active is not None else []) + list(bpy.context.scene.objects)
    for item in shown:
        if item.active_material is not None and item.active_material.name in names:
            return str(item.active_material.name)
    return names[0] if names else None


def _without_nodes(material: Bpy) -> bool:
    """5.x gives every material a tree, and asking `use_nodes` there warns; only 4.x can have nodes switched off."""
    import bpy  # noqa: PLC0415

    if material.node_tree is None or not len(material.node_tree.nodes):
        return True
    return bpy.app.version < (5, 0) and not material.use_nodes


def _from_settings(material: Bpy, version: str) -> Graph:
    shader = Node("shader", "ShaderNodeBsdfPrincipled", inputs={
        "Base Color": tuple(material.diffuse_color),
        "Metallic": material.metallic,
        "Roughness": material.roughness,
    })  # fmt: skip
    output = Node("output", "ShaderNodeOutputMaterial")
    return Graph(version, {"shader": shader, "output": output}, (Link("shader", "BSDF", "output", "Surface"),))


TASKS: dict[str, Callable[..., object]] = {
    "export_blend": export_blend,
    "import_blend": import_blend,
    "export_gltf": export_gltf,
}
