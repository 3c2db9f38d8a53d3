"""What the flat view shows a shader: the square patch seen from straight above, one lane for each pixel and setting."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import drjit as dr
from drjit.auto.ad import Array3f, Float, UInt32


@dataclass(frozen=True)
class Frame:
    """Sizes of one evaluation: resolution in pixels and patch side in metres are opaque, `settings` is the batch."""

    settings: int
    pixels: int
    resolution: UInt32
    size_m: Float
    jitter_x: Float
    jitter_y: Float


class Geometry:
    """Coordinates of the lanes, moved by `shift` (pixels right, pixels up) along the surface.

    Lanes run over settings, then rows from the top, then columns.
    """

    def __init__(self, frame: Frame, shift: tuple[Float, Float] | None = None) -> None:
        self.frame = frame
        self.shift = shift
        lane = dr.arange(UInt32, frame.settings * frame.pixels * frame.pixels)
        self.setting = lane // (frame.pixels * frame.pixels) if frame.settings > 1 else UInt32(0)
        inside = lane - self.setting * (frame.pixels * frame.pixels)
        row = inside // frame.pixels
        column = inside - row * frame.pixels
        count = Float(frame.resolution)
        x = Float(column) + frame.jitter_x
        y = count - 1.0 - Float(row) + frame.jitter_y
        if shift is not None:
            x, y = x + shift[0], y + shift[1]
        self.u, self.v = x / count, y / count

    def moved(self, shift: tuple[Float, Float]) -> Geometry:
        """The same lanes elsewhere on the surface."""
        return Geometry(self.frame, shift)

    @cached_property
    def uv(self) -> Array3f:
        """UV, z = 0; Window coordinates are the same in this view."""
        return Array3f(self.u, self.v, 0.0)

    @cached_property
    def generated(self) -> Array3f:
        """The place in the bounding box, which has no depth: z is its middle."""
        return Array3f(self.u, self.v, 0.5)

    @cached_property
    def position(self) -> Array3f:
        """World and object space, metres; the patch lies at the origin."""
        return Array3f((self.u - 0.5) * self.frame.size_m, (self.v - 0.5) * self.frame.size_m, 0.0)

    @cached_property
    def camera(self) -> Array3f:
        """Camera space: the camera hangs one patch side above."""
        return Array3f(self.position.x, self.position.y, self.frame.size_m)

    @cached_property
    def up(self) -> Array3f:
        """The patch's normal, which is also where the camera is and where a mirror would look."""
        return Array3f(0.0, 0.0, 1.0)

    @property
    def pixel_m(self) -> Float:
        """World size of a pixel, metres."""
        return self.frame.size_m / Float(self.frame.resolution)
