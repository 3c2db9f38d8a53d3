"""What the flat view shows a shader: the square patch seen from straight above, one lane for each pixel and setting."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import drjit as dr
from drjit.auto.ad import Array3f, Float, UInt32


@dataclass(frozen=True)
class Frame:
    """The lanes of one evaluation: settings, then rows from the top, then columns.

    Everything is opaque, so that one kernel serves every resolution, patch size and batch. `column` and `row` are pixel
    indices by lane, `row` counted from the bottom; `setting` is the lane's index into the batch of `settings`.
    `resolution` is in pixels, `size_m` in metres, `jitter` the place inside the pixel ((0.5, 0.5) is its centre).
    """

    column: Float
    row: Float
    setting: UInt32
    settings: UInt32
    resolution: Float
    size_m: Float
    jitter: tuple[Float, Float]


# Cycles finds UV by intersecting one of the patch's two triangles, in float32. Following its rounding is worth it: a
# texture that adds an offset of 200 to its coordinate turns one unit of it into errors of 1e-4. Measured at 64² and
# 256², patch side a power of two: with these steps and the engine's `CENTRE` every UV is equal to the last bit.
_INTERSECTION = 0.99999994


def _from_centre(place: Float, resolution: Float) -> Float:
    return (place * (1.0 / resolution) - 0.5) + 0.5


def _uv(x: Float, y: Float) -> tuple[Float, Float]:
    """UV of a place in patch sides: sums of barycentric coordinates, each rounded."""
    along_x, along_y = x * _INTERSECTION, y * _INTERSECTION
    lower = x > y
    u = dr.select(lower, (x - y) * _INTERSECTION + along_y, along_x)
    v = dr.select(lower, along_y, along_x + (y - x) * _INTERSECTION)
    return u, v


class Geometry:
    """Coordinates of the lanes, moved by `shift` (pixels right, pixels up) along the surface."""

    def __init__(self, frame: Frame, shift: tuple[Float, Float] | None = None) -> None:
        self.frame = frame
        self.shift = shift
        self.u, self.v = _uv(
            _from_centre(frame.column + frame.jitter[0], frame.resolution),
            _from_centre(frame.row + frame.jitter[1], frame.resolution),
        )
        if shift is not None:
            self.u = self.u + shift[0] / frame.resolution
            self.v = self.v + shift[1] / frame.resolution

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
        return self.frame.size_m / self.frame.resolution
