"""The sidebar of the shader editor."""

import textwrap

import bpy

from .runs import Remark, concerning
from .state import current

_WIDTH = 44
_GAPS = 8


class MATERIAL_AGENT_PT_run(bpy.types.Panel):
    """A run: its attempts, how far each is from the reference, and what to do with one."""

    bl_idname = "MATERIAL_AGENT_PT_run"
    bl_label = "Run"
    bl_space_type = "NODE_EDITOR"
    bl_region_type = "UI"
    bl_category = "Material Agent"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """In the shader editor only."""
        return getattr(context.space_data, "tree_type", "") == "ShaderNodeTree"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        layout = self.layout
        layout.operator("material_agent.open_run", icon="FILE_FOLDER")
        shown = current(context.window_manager.material_agent)
        if shown is not None:
            run, attempt = shown
            row = layout.row(align=True)
            row.operator("material_agent.step", text="", icon="TRIA_LEFT").delta = -1
            row.label(text=f"Attempt {attempt.number} of {len(run.attempts)}")
            row.operator("material_agent.step", text="", icon="TRIA_RIGHT").delta = 1
            reward = "not judged" if attempt.reward is None else f"reward {attempt.reward:.3f}"
            layout.label(text=f"{run.reference}: {reward}")
            _lines(layout, attempt.reason)
            layout.operator("material_agent.load_attempt", icon="IMPORT")
        layout.operator("material_agent.send_start", icon="EXPORT")


class _Part(bpy.types.Panel):
    bl_space_type = "NODE_EDITOR"
    bl_region_type = "UI"
    bl_category = "Material Agent"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """With an open run only."""
        return MATERIAL_AGENT_PT_run.poll(context) and current(context.window_manager.material_agent) is not None


class MATERIAL_AGENT_PT_node(_Part):
    """What is said of the active node."""

    bl_idname = "MATERIAL_AGENT_PT_node"
    bl_label = "Active Node"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        _, attempt = current(context.window_manager.material_agent)
        node = context.active_node
        if node is None:
            self.layout.label(text="no node is active")
            return
        role = str(node.parent.get("role", node.parent.label.casefold())) if node.parent is not None else ""
        remarks = concerning(attempt, node.name, role)
        self.layout.label(text=f"{node.label or node.name}: {len(remarks) or 'nothing'} said", icon="NODE")
        for remark in remarks:
            _remark(self.layout, remark)


class MATERIAL_AGENT_PT_gaps(_Part):
    """The largest gaps of the attempt."""

    bl_idname = "MATERIAL_AGENT_PT_gaps"
    bl_label = "Gaps"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        _, attempt = current(context.window_manager.material_agent)
        for remark in attempt.gaps[:_GAPS]:
            _remark(self.layout, remark)


class MATERIAL_AGENT_PT_reflections(_Part):
    """What was learned from the attempt."""

    bl_idname = "MATERIAL_AGENT_PT_reflections"
    bl_label = "Reflections"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the panel."""
        _, attempt = current(context.window_manager.material_agent)
        for remark in attempt.reflections:
            _remark(self.layout, remark)


def _remark(layout: bpy.types.UILayout, remark: Remark) -> None:
    box = layout.box()
    _lines(box, remark.text)
    for detail in remark.details:
        _lines(box, f"• {detail}")
    row = box.row()
    for name in remark.nodes:
        row.operator("material_agent.show_node", text=name, icon="RESTRICT_SELECT_OFF").node = name


def _lines(layout: bpy.types.UILayout, text: str) -> None:
    column = layout.column(align=True)
    column.scale_y = 0.8
    for line in textwrap.wrap(text, _WIDTH) or [""]:
        column.label(text=line)


CLASSES = (MATERIAL_AGENT_PT_run, MATERIAL_AGENT_PT_node, MATERIAL_AGENT_PT_gaps, MATERIAL_AGENT_PT_reflections)
