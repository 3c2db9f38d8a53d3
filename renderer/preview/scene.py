"""What the flat view shows a shader: the square patch seen from straight above, one lane for each pixel and setting."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

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


# Cycles finds UV by intersecting a triangle, in float32. Its rounding is the same everywhere on the patch, and worth
# following: a texture that adds an offset of 200 to its coordinate turns one unit of rounding into errors of 1e-4.
# Measured at 64² and 256²: with this and the engine's `CENTRE` 98 and 92 % of the UVs are equal to the last bit.
_INTERSECTION = 0.99999994


def _unit(place: Float, resolution: Float) -> Float:
    """A place in pixels as Cycles' UV coordinate."""
    from_centre = place * (1.0 / resolution) - 0.5
    return (from_centre + 0.5) * _INTERSECTION


class Geometry:
    """Coordinates of the lanes, moved by `shift` (pixels right, pixels up) along the surface."""

    def __init__(self, frame: Frame, shift: tuple[Float, Float] | None = None) -> None:
        self.frame = frame
        self.shift = shift
        self.u = _unit(frame.column + frame.jitter[0], frame.resolution)
        self.v = _unit(frame.row + frame.jitter[1], frame.resolution)
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
