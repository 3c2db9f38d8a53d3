"""Run in any Blender: write the zoo unless the folder has one, read all of it, write it again, render both, compare.

Arguments: the answer's path, a folder to work in, and the root of the checkout.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path


def main() -> None:
    answer, folder, root = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    sys.path[1:1] = [str(Path(__file__).parent), root]
    import bpy
    import material_zoo
    import numpy as np

    from renderer.blender.blendfile import read_material
    from renderer.blender.dress import dress
    from renderer.blender.studio import Studio, with_nodes
    from renderer.protocol import RenderSettings

    path = str(folder / "zoo.blend")
    if not Path(path).is_file():  # else one that another Blender has written
        bpy.ops.wm.read_factory_settings(use_empty=True)
        material_zoo.make(folder)
        bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    names = sorted(item.name for item in bpy.data.materials)
    told = {}
    for index, name in enumerate(names):
        graph, messages = read_material(bpy, bpy.data.materials[name], str(folder / "pictures"))
        problems = [] if graph is None else dress(bpy, _new(bpy, with_nodes, index), graph, "again")
        told[name] = {"messages": [m.text for m in messages], "refused": [m.text for m in problems]}
        told[name]["nodes"] = {} if graph is None else {n.id: [n.type, n.role] for n in graph.nodes.values()}
    path = str(folder / "again.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    studio = Studio(bpy.data.materials[names[0]], 2)
    scene = studio.scene("flat", ("beauty",), RenderSettings(8, 1))
    subject = next(item for item in scene.objects if item.type == "MESH")
    for index, name in enumerate(names):
        pair = []
        for which in (name, f"again {index}"):
            subject.data.materials[0] = bpy.data.materials[which]
            pair.append(_render(bpy, scene, folder, np))
        known = np.maximum(np.abs(pair[0]), 1.0)
        told[name]["difference"] = float((np.abs(pair[0] - pair[1]) / known).max())
        told[name]["spread"] = float(pair[0].max() - pair[0].min())
    answer.write_text(json.dumps(told), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)


def _new(bpy, with_nodes, index):
    made = with_nodes(bpy.data.materials.new(f"again {index}"))
    made.use_fake_user = True
    return made


def _render(bpy, scene, folder, np):
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.render.image_settings.color_depth = "32"
    scene.render.filepath = str(folder / "picture.exr")
    bpy.ops.render.render(write_still=True, scene=scene.name)
    image = bpy.data.images.load(str(folder / "picture.exr"))
    pixels = np.array(image.pixels[:])
    bpy.data.images.remove(image)
    return np.nan_to_num(pixels, nan=-1.0, posinf=1e6)


if __name__ == "__main__":
    main()
