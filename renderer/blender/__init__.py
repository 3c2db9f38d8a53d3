"""Blender itself: the only package that imports bpy, and it does so only inside functions of a worker process."""

__all__: list[str] = []
