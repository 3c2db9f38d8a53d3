"""Maps on a patch as glTF, written by Blender's own exporter."""

from __future__ import annotations

from renderer.blender.studio import make_subject, studio_data, subject_vertices, with_nodes
from renderer.blender.types import Bpy
from renderer.protocol import RenderMessage

_SETTINGS = "glTF Material Output"  # the group by which Blender's exporter knows occlusion


def export_gltf(maps: dict[str, str], path: str, name: str, patch_size_m: float) -> tuple[RenderMessage, ...]:
    """Write a .glb; see `renderer.blendfile.export_gltf`."""
    import bpy  # noqa: PLC0415

    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.preferences.addon_enable(module="io_scene_gltf2")
    material = with_nodes(bpy.data.materials.new(name))
    _wire(bpy, material.node_tree, maps)
    data = studio_data()["flat"]["subject"]
    subject = make_subject(bpy, data, name)
    flat = [patch_size_m * value for corner in subject_vertices(data) for value in corner]
    subject.data.vertices.foreach_set("co", flat)
    subject.data.update()
    subject.data.materials.append(material)
    bpy.context.scene.collection.objects.link(subject)
    bpy.ops.export_scene.gltf(filepath=path, export_format="GLB", export_image_format="AUTO", export_yup=True)
    return ()


def _wire(bpy: Bpy, tree: Bpy, maps: dict[str, str]) -> None:
    tree.nodes.clear()
    output, shader = tree.nodes.new("ShaderNodeOutputMaterial"), tree.nodes.new("ShaderNodeBsdfPrincipled")
    tree.links.new(output.inputs["Surface"], shader.outputs["BSDF"])

    def picture(channel: str) -> Bpy:
        node = tree.nodes.new("ShaderNodeTexImage")
        node.image = bpy.data.images.load(maps[channel])
        node.image.colorspace_settings.name = "sRGB" if channel == "base_color" else "Non-Color"
        return node.outputs["Color"]

    tree.links.new(shader.inputs["Base Color"], picture("base_color"))
    tree.links.new(shader.inputs["Roughness"], picture("roughness"))
    tree.links.new(shader.inputs["Metallic"], picture("metallic"))
    turn = tree.nodes.new("ShaderNodeNormalMap")
    tree.links.new(turn.inputs["Color"], picture("normal"))
    tree.links.new(shader.inputs["Normal"], turn.outputs["Normal"])
    if "ambient_occlusion" in maps:
        group = bpy.data.node_groups.new(_SETTINGS, "ShaderNodeTree")
        group.interface.new_socket("Occlusion", in_out="INPUT", socket_type="NodeSocketFloat")
        settings = tree.nodes.new("ShaderNodeGroup")
        settings.node_tree = group
        tree.links.new(settings.inputs["Occlusion"], picture("ambient_occlusion"))
