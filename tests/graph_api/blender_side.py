"""Run by a Python that imports bpy: does what it is told with Blender alone and writes what it sees as JSON.

    python blender_side.py OUT JOBS.json

A job is {"script": path} (run it, then read the material it made) or {"node": type, "settings": [{prop: value}, …]}
(make the node, set the properties, read which sockets are enabled).
"""

import json
import runpy
import sys
from pathlib import Path

import bpy


def plain(value):
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bpy.types.ColorRamp):
        stops = [[e.position, list(e.color)] for e in value.elements]
        return {"stops": stops, "modes": [value.color_mode, value.interpolation, value.hue_interpolation]}
    if isinstance(value, bpy.types.CurveMapping):
        return [[[*p.location, p.handle_type] for p in c.points] for c in value.curves]
    if isinstance(value, bpy.types.bpy_struct):
        return getattr(value, "name", "?")
    try:
        return [plain(item) for item in value]
    except TypeError:
        return str(value)


def sockets(side):
    return {s.identifier: {"value": plain(getattr(s, "default_value", None)), "enabled": s.enabled} for s in side}


def read_material(path):
    before = set(bpy.data.materials)
    runpy.run_path(path, run_name="__main__")
    (material,) = set(bpy.data.materials) - before
    nodes = {}
    for node in material.node_tree.nodes:
        names = [p.identifier for p in node.bl_rna.properties if p.identifier not in ("rna_type", "inputs", "outputs")]
        properties = {name: plain(getattr(node, name)) for name in names if name not in ("internal_links", "parent")}
        nodes[node.name] = {
            "type": node.bl_idname,
            "properties": properties,
            "inputs": sockets(node.inputs),
            "outputs": sockets(node.outputs),
        }
    links = [
        [k.from_node.name, k.from_socket.identifier, k.to_node.name, k.to_socket.identifier, k.is_valid]
        for k in material.node_tree.links
    ]
    return {"name": material.name, "nodes": nodes, "links": links}


def read_states(kind, settings):
    tree = bpy.data.materials.new("probe").node_tree
    if tree is None:
        material = bpy.data.materials.new("probe")
        material.use_nodes = True
        tree = material.node_tree
    found = []
    for setting in settings:
        node = tree.nodes.new(kind)
        try:
            for name, value in setting.items():
                setattr(node, name, value)
        except TypeError:
            found.append(None)
        else:
            sides = (node.inputs, node.outputs)
            found.append([[s.identifier for s in side if s.enabled and s.type != "CUSTOM"] for side in sides])
        tree.nodes.remove(node)
    return found


def main(out, jobs):
    listed = json.loads(Path(jobs).read_text(encoding="utf-8"))
    results = [
        read_material(job["script"]) if "script" in job else read_states(job["node"], job["settings"]) for job in listed
    ]
    Path(out).write_text(json.dumps(results), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
