"""A structure traced, recorded and replayed: the fused kernel."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import Any

import drjit as dr
import numpy as np
import numpy.typing as npt
from drjit.auto.ad import Array3f, Array4f, Float, UInt32

from renderer.preview.contract import CHANNEL_SIZE
from renderer.preview.evaluation import BLOCK, Evaluation, Inputs, padded
from renderer.preview.lookup import EnergyTables
from renderer.preview.nodes import NODES
from renderer.preview.pictures import Place, packets
from renderer.preview.ramps import ENTRIES, tabulate
from renderer.preview.scene import Frame
from renderer.preview.structure import RampShape, Structure
from renderer.preview.surface import Surface


class Lanes:
    """Index arrays of one batch size and resolution, made once and kept in memory."""

    def __init__(self, settings: int, resolution: int) -> None:
        lane = dr.arange(UInt32, settings * resolution * resolution)
        self.setting = lane // (resolution * resolution)
        inside = lane - self.setting * (resolution * resolution)
        row = inside // resolution
        self.column = Float(inside - row * resolution)
        self.row = Float(resolution - 1 - row)
        entry = dr.arange(UInt32, settings * ENTRIES)
        self.ramp_setting = entry // ENTRIES
        self.ramp_place = Float(entry - self.ramp_setting * ENTRIES) / float(ENTRIES - 1)
        self.each = dr.arange(UInt32, settings)
        self.tables = EnergyTables.arrays()
        self.settings = dr.opaque(UInt32, settings)
        self.resolution = dr.opaque(Float, float(resolution))
        dr.eval(self.setting, self.column, self.row, self.ramp_setting, self.ramp_place, self.each)

    def arrays(self) -> tuple[Any, ...]:
        """Everything a recorded program takes, in the order of `Program._trace`."""
        return (
            self.column,
            self.row,
            self.setting,
            self.ramp_place,
            self.ramp_setting,
            self.each,
            self.settings,
            self.resolution,
            *self.tables,
        )


_KEPT_RECORDINGS = 8
_ALIGNMENT = 64


def packed(theta: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """A parameter table (rows, settings) as the kernel reads it: setting by setting, padded to whole blocks, flat."""
    rows, count = theta.shape
    stride = padded(rows)
    # Dr.Jit uses the memory in place, and compiles another kernel for memory that is not aligned to its vectors.
    raw = np.zeros(4 * count * stride + _ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    buffer = raw[start : start + 4 * count * stride].view(np.float32)
    buffer.reshape(count, stride)[:, :rows] = theta.T
    return buffer


def scalars_of(size_m: float, jitter: tuple[float, float]) -> list[Float]:
    """Opaque numbers that are the same for all lanes."""
    return [dr.opaque(Float, float(value)) for value in (size_m, *jitter)]


class Program:
    """The kernel of a structure and a set of channels; recorded at the first call, replayed without tracing after."""

    def __init__(self, structure: Structure, channels: tuple[str, ...]) -> None:
        self.structure = structure
        self.channels = channels
        self.packets = packets(channels)
        self._ramps = [
            shape for step in structure.steps for _, shape in step.properties if isinstance(shape, RampShape)
        ]
        # A recording holds for one number of settings and of lanes: it allocates what it allocated when it was made.
        # The machine code underneath is the same for all.
        self._recorded: OrderedDict[tuple[int, int], Any] = OrderedDict()

    def __call__(
        self, theta: npt.NDArray[np.float32], lanes: Lanes, size_m: float, jitter: tuple[float, float]
    ) -> tuple[Float, ...]:
        """The arrays of `packets`, computed and flat.

        A packet of four is stored at once; three numbers would be stored one by one, each behind a branch.
        """
        table = Float(packed(theta))
        scalars = scalars_of(size_m, jitter)
        shape = (theta.shape[1], dr.width(lanes.column))
        recorded = self._recorded.pop(shape, None)
        if recorded is None:
            recorded = dr.freeze(self._run)
        self._recorded[shape] = recorded
        if len(self._recorded) > _KEPT_RECORDINGS:
            self._recorded.popitem(last=False)
        result: tuple[Float, ...] = recorded(table, scalars, *lanes.arrays())
        return result

    def places(self, stored: tuple[Float, ...]) -> dict[str, Place]:
        """Where each channel lies in the arrays of `packets`."""
        found: dict[str, Place] = {}
        for group, array in zip(self.packets, stored, strict=True):
            stride = 1 if len(group) == 1 and CHANNEL_SIZE[group[0]] == 1 else BLOCK
            found |= {name: Place(array, stride, 3 * position) for position, name in enumerate(group)}
        return {name: found[name] for name in self.channels}

    def _run(self, theta: Float, scalars: list[Float], *lanes: Any) -> tuple[Float, ...]:
        values = dict(zip(self.channels, self._values(theta, scalars, lanes, None), strict=True))
        stored = tuple(_stored([values[name] for name in group]) for group in self.packets)
        dr.eval(stored)
        return stored

    def gradient(
        self,
        theta: npt.NDArray[np.float32],
        lanes: Lanes,
        size_m: float,
        jitter: tuple[float, float],
        cotangents: list[npt.NDArray[np.float32]],
        octaves: int,
    ) -> npt.NDArray[np.float32]:
        """Derivatives of the sum of pictures times `cotangents` (flat, one for each channel), shaped like `theta`."""
        rows, count = theta.shape
        table = Float(packed(theta))
        dr.enable_grad(table)
        flat = self.trace(table, scalars_of(size_m, jitter), lanes.arrays(), octaves)
        for picture, cotangent in zip(flat, cotangents, strict=True):
            if dr.grad_enabled(picture):
                dr.set_grad(picture, Float(np.ascontiguousarray(cotangent, np.float32).ravel()))
                dr.enqueue(dr.ADMode.Backward, picture)
        dr.traverse(dr.ADMode.Backward)
        found: npt.NDArray[np.float32] = dr.grad(table).numpy().reshape(count, padded(rows))[:, :rows].T
        return found

    def trace(
        self, theta: Float, scalars: list[Float], lanes: tuple[Any, ...], octave_limit: int | None
    ) -> tuple[Float, ...]:
        """The pictures, flat, as arrays that are not computed yet."""
        return tuple(dr.ravel(value) for value in self._values(theta, scalars, lanes, octave_limit))

    def _values(
        self, theta: Float, scalars: list[Float], lanes: tuple[Any, ...], octave_limit: int | None
    ) -> list[Any]:
        """By channel a number or a vector of three by lane, not computed yet."""
        column, row, setting, ramp_place, ramp_setting, each, settings, resolution, *tables = lanes
        frame = Frame(column, row, setting, settings, resolution, scalars[0], (scalars[1], scalars[2]))
        small = Evaluation(self.structure, theta, replace(frame, setting=ramp_setting), NODES, {})
        ramps = {shape.row: dr.ravel(tabulate(shape, small.number, ramp_place)) for shape in self._ramps}
        preludes = self._preludes(theta, frame, each)
        dr.eval(ramps, preludes)
        evaluation = Evaluation(
            self.structure, theta, frame, NODES, ramps, octave_limit, preludes, EnergyTables(tuple(tables))
        )
        surface = Surface(evaluation)
        if "normal" in self.channels or "beauty" in self.channels:
            surface.prefetch()
        zero = dr.zeros(Float, dr.width(column))
        return [surface.channel(name) + zero for name in self.channels]

    def _preludes(self, theta: Float, frame: Frame, each: UInt32) -> dict[int, list[Float]]:
        """Numbers that nodes need once for each setting, by step: buffers of four numbers a setting."""
        evaluation = Evaluation(self.structure, theta, replace(frame, setting=each), NODES, {})
        found = {}
        for index, step in enumerate(self.structure.steps):
            spec = NODES.get(step.type)
            if spec is None or spec.prelude is None:
                continue
            inputs = Inputs(evaluation, index, step, None)
            if inputs.constants_only:
                numbers = list(spec.prelude(inputs))
                numbers += [Float(0.0)] * (padded(len(numbers)) - len(numbers))
                found[index] = [
                    dr.ravel(Array4f(*numbers[start : start + BLOCK])) for start in range(0, len(numbers), BLOCK)
                ]
        return found


def _stored(values: list[Any]) -> Float:
    """The values of one packet, flat: one number, or four of which the last may be unused."""
    if len(values) == 1 and not isinstance(values[0], Array3f):
        return values[0]
    color = values[0]
    return dr.ravel(Array4f(color.x, color.y, color.z, values[1] if len(values) > 1 else Float(0.0)))
