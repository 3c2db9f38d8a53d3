"""How Blender's editor shows each node type: width in interface units and the kind that colors its header.

Writes `graph_api/data/faces.json` for every type of the catalogs, asked of the Blender that runs this; what another
Blender added before stays. Run it with the interpreter of each supported Blender, oldest first.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "graph_api" / "data" / "faces.json"


def main() -> None:
    """Ask this Blender and merge the answer into the file."""
    sys.path.append(str(ROOT))
    import bpy  # noqa: PLC0415

    from graph_api.catalog import available_versions, load_catalog  # noqa: PLC0415

    faces = json.loads(OUT.read_text(encoding="utf-8")) if OUT.is_file() else {}
    group = bpy.data.node_groups.new("faces", "ShaderNodeTree")
    for name in sorted({name for version in available_versions() for name in load_catalog(version).types}):
        try:
            node = group.nodes.new(name)
        except RuntimeError:
            continue  # of another version
        faces[name] = {"width": node.width, "kind": node.color_tag}
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(faces[name])}" for name in sorted(faces))
    OUT.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
