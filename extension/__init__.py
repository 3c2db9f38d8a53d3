"""Material Agent in Blender: a sidebar panel in the shader editor for runs, and the way back for materials."""

import bpy

from . import operators, panel, state

CLASSES = (*state.CLASSES, *operators.CLASSES, *panel.CLASSES)
__all__ = ["register", "unregister"]


def register() -> None:
    """Add the panel, its operators and what they remember."""
    for kind in CLASSES:
        bpy.utils.register_class(kind)
    bpy.types.WindowManager.material_agent = bpy.props.PointerProperty(type=state.MaterialAgentState)


def unregister() -> None:
    """Take everything away again."""
    del bpy.types.WindowManager.material_agent
    for kind in reversed(CLASSES):
        bpy.utils.unregister_class(kind)
    state.forget()
