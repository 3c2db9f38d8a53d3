"""Run in a Blender of its own: install the extension, enable it, and press every button.

Arguments: the answer's path, the extension's zip, a run folder, a folder to write to. BLENDER_USER_RESOURCES is set by
the caller, so that nobody's own Blender is touched.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path


def main() -> None:
    answer, package, run, out = sys.argv[1:5]
    import bpy

    told: dict[str, object] = {"version": list(bpy.app.version)}
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.preferences.addon_enable(module="bl_pkg")
    bpy.ops.extensions.package_install_files(filepath=package, repo="user_default", enable_on_install=True)
    module = "bl_ext.user_default.material_agent"
    told["enabled"] = module in bpy.context.preferences.addons
    told["operators"] = sorted(name for name in dir(bpy.ops.material_agent) if not name.startswith("_"))
    panels = ("run", "node", "gaps", "reflections")
    told["panels"] = [hasattr(bpy.types, f"MATERIAL_AGENT_PT_{name}") for name in panels]
    state = bpy.context.window_manager.material_agent
    try:
        bpy.ops.material_agent.open_run(directory=out)
    except RuntimeError as error:
        told["refused"] = str(error)
    told["opened"] = list(bpy.ops.material_agent.open_run(directory=run))
    told["attempts"] = [state.attempt]
    bpy.ops.material_agent.step(delta=-9)
    told["attempts"].append(state.attempt)
    bpy.ops.material_agent.step(delta=1)
    told["attempts"].append(state.attempt)

    bpy.ops.mesh.primitive_plane_add()
    told["loaded"] = list(bpy.ops.material_agent.load_attempt())
    material = bpy.context.object.active_material
    group = next(node for node in material.node_tree.nodes if node.bl_idname == "ShaderNodeGroup")
    names = [node.name for node in group.node_tree.nodes]
    told["nodes"] = sorted(node.bl_idname for node in group.node_tree.nodes if node.bl_idname != "NodeFrame")
    told["frames"] = sorted(node.label for node in group.node_tree.nodes if node.bl_idname == "NodeFrame")
    told["shown"] = list(bpy.ops.material_agent.show_node(node=names[0]))
    told["active"] = group.node_tree.nodes.active.name == names[0]
    told["absent"] = list(bpy.ops.material_agent.show_node(node="no such node"))
    sent = Path(out) / "start.json"
    told["sent"] = list(bpy.ops.material_agent.send_start(filepath=str(sent)))
    told["start"] = json.loads(sent.read_text(encoding="utf-8"))

    package_name = sys.modules[module]
    runs = sys.modules[f"{module}.runs"]
    read = runs.read_run(run)
    told["gaps"] = [[gap.text, list(gap.roles)] for attempt in read.attempts for gap in attempt.gaps]
    told["reflections"] = [list(one.details) for attempt in read.attempts for one in attempt.reflections]
    told["concerning"] = [
        len(runs.concerning(read.attempts[-1], "nobody", "macro")),
        len(runs.concerning(read.attempts[0], "bricks", "")),
    ]
    import graph_api

    told["core"] = str(graph_api.__file__)
    package_name.unregister()
    told["gone"] = not hasattr(bpy.types, "MATERIAL_AGENT_PT_run")
    package_name.register()
    Path(answer).write_text(json.dumps(told), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
