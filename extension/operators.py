"""The panel's buttons."""

from pathlib import Path

import bpy
from graph_api import GraphError, dumps, load_graph
from graph_api.catalog import nearest_version
from renderer.blender.blendfile import read_material
from renderer.blender.dress import dress
from renderer.blender.studio import with_nodes

from .runs import RunUnreadable
from .state import current, open_run


def _material(context: bpy.types.Context) -> bpy.types.Material | None:
    item = context.object
    return item.active_material if item is not None else None


class MATERIAL_AGENT_OT_open_run(bpy.types.Operator):
    """Open the folder of a run and show its best attempt."""

    bl_idname = "material_agent.open_run"
    bl_label = "Open Run"
    directory: bpy.props.StringProperty(subtype="DIR_PATH")
    filter_folder: bpy.props.BoolProperty(default=True, options={"HIDDEN"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Ask for the folder."""
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Read it."""
        try:
            run = open_run(context.window_manager.material_agent, bpy.path.abspath(self.directory))
        except RunUnreadable as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"{len(run.attempts)} attempts")
        return {"FINISHED"}


class MATERIAL_AGENT_OT_step(bpy.types.Operator):
    """Show the attempt before or after."""

    bl_idname = "material_agent.step"
    bl_label = "Step Attempt"
    delta: bpy.props.IntProperty(default=1)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a run only."""
        return current(context.window_manager.material_agent) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Go there; the ends hold."""
        state = context.window_manager.material_agent
        run, _ = current(state)
        state.attempt = min(max(state.attempt + self.delta, 0), len(run.attempts) - 1)
        return {"FINISHED"}


class MATERIAL_AGENT_OT_load_attempt(bpy.types.Operator):
    """Replace the nodes of the active material by those of the attempt that is shown."""

    bl_idname = "material_agent.load_attempt"
    bl_label = "Load into Material"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With an attempt that has a graph, and an object to show it."""
        shown = current(context.window_manager.material_agent)
        return shown is not None and shown[1].graph is not None and context.object is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Build it, in this Blender's own names."""
        run, attempt = current(context.window_manager.material_agent)
        version = nearest_version(".".join(map(str, bpy.app.version)))
        try:
            loaded = load_graph(attempt.graph, version)
        except GraphError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        material = _material(context)
        if material is None:
            material = bpy.data.materials.new(run.reference or "Material")
            context.object.active_material = material
        problems = dress(bpy, with_nodes(material), loaded.graph, f"{run.reference or 'Material'} {attempt.number}")
        for problem in problems:
            self.report({"WARNING"}, problem.text)
        for notice in loaded.notices:
            self.report({"INFO"}, str(notice))
        return {"FINISHED"}


class MATERIAL_AGENT_OT_send_start(bpy.types.Operator):
    """Write the active material as a graph to start a fit from, and copy the command that does it."""

    bl_idname = "material_agent.send_start"
    bl_label = "Send Material Back"
    filepath: bpy.props.StringProperty(subtype="FILE_PATH")
    filter_glob: bpy.props.StringProperty(default="*.json", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a material only."""
        return _material(context) is not None

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Ask where to."""
        folder = context.window_manager.material_agent.folder
        self.filepath = str(Path(folder or bpy.path.abspath("//") or Path.home()) / "start.json")
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Read the tree and write it; what a graph cannot hold is reported by name."""
        path = Path(bpy.path.abspath(self.filepath)).with_suffix(".json")
        graph, messages = read_material(bpy, _material(context), str(path.parent / "pictures"))
        for message in messages:
            self.report({"WARNING"}, message.text)
        try:
            path.write_text(dumps(graph), encoding="utf-8")
        except OSError as error:
            self.report({"ERROR"}, f"{path}: {error.strerror}")
            return {"CANCELLED"}
        shown = current(context.window_manager.material_agent)
        reference = Path(shown[0].folder, "reference.png") if shown is not None else "PICTURE"
        context.window_manager.clipboard = f'material-agent fit "{reference}" --start "{path}"'
        self.report({"INFO"}, f"{path}; the command to go on with it is on the clipboard")
        return {"FINISHED"}


class MATERIAL_AGENT_OT_show_node(bpy.types.Operator):
    """Select the node that a gap or a reflection names, in whichever group it stands."""

    bl_idname = "material_agent.show_node"
    bl_label = "Show Node"
    node: bpy.props.StringProperty()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With a material only."""
        return _material(context) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Make it the active node of its tree."""
        waiting, seen = [_material(context).node_tree], set()
        while waiting:
            tree = waiting.pop(0)
            if tree is None or tree.name_full in seen:
                continue
            seen.add(tree.name_full)
            found = tree.nodes.get(self.node)
            if found is not None:
                for node in tree.nodes:
                    node.select = node == found
                tree.nodes.active = found
                return {"FINISHED"}
            waiting += [node.node_tree for node in tree.nodes if node.bl_idname == "ShaderNodeGroup"]
        self.report({"WARNING"}, f"the material has no node {self.node!r}; load the attempt first")
        return {"CANCELLED"}


CLASSES = (
    MATERIAL_AGENT_OT_open_run,
    MATERIAL_AGENT_OT_step,
    MATERIAL_AGENT_OT_load_attempt,
    MATERIAL_AGENT_OT_send_start,
    MATERIAL_AGENT_OT_show_node,
)
