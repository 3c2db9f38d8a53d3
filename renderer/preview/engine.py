"""Compiles graphs into kernels and runs them over batches of parameters.

One engine keeps one compiled program for each structure and set of channels; graphs that differ in numbers only share
it. Dr.Jit keeps the machine code, in memory and on disk.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graph_api.model import Graph
from renderer.preview import backend
from renderer.preview.contract import CENTRE, CHANNEL_SIZE, FloatArray, Key
from renderer.preview.curves import curve_rows, curve_slopes
from renderer.preview.errors import PreviewUnsupported
from renderer.preview.pictures import Pictures
from renderer.preview.structure import Parameter, Plan, Structure

if TYPE_CHECKING:
    from renderer.preview.program import Lanes, Program


class PreviewEngine:
    """Kernels by structure. Raises `PreviewUnavailable` when Dr.Jit or LLVM is missing. Safe to use from threads."""

    def __init__(self) -> None:
        backend.require()
        self._programs: dict[tuple[Structure, tuple[str, ...]], Program] = {}
        self._lanes: dict[tuple[int, int], Lanes] = {}
        self._lock = threading.RLock()
        self.compiled = 0
        """Programs made so far: grows with new structures, not with new numbers."""

    def compile(self, graph: Graph) -> Kernel:
        """The kernel of a graph; raises `PreviewUnsupported` with every reason.

        Whether its beauty can be drawn depends on values too and is checked by `evaluate`.
        """
        from renderer.preview.support import plan, unsupported  # noqa: PLC0415

        reasons = unsupported(graph, [name for name in CHANNEL_SIZE if name != "beauty"])
        if reasons:
            text = "; ".join(f"{node} ({kind}): {reason}" for node, kind, reason in reasons)
            raise PreviewUnsupported(f"the preview does not draw {text}")
        return Kernel(self, plan(graph))

    def run(
        self,
        structure: Structure,
        channels: tuple[str, ...],
        theta: FloatArray,
        resolution: int,
        patch_size_m: float,
        jitter: tuple[float, float],
    ) -> Pictures:
        """Evaluate a structure for `theta` of (rows, settings)."""
        settings = theta.shape[1]
        with self._lock:
            program = self._program(structure, channels)
            places = program.places(program(theta, self._lanes_of(settings, resolution), patch_size_m, jitter))
        return Pictures(places, (settings, resolution, resolution))

    def gradient(
        self,
        structure: Structure,
        theta: FloatArray,
        resolution: int,
        patch_size_m: float,
        cotangents: Mapping[str, FloatArray],
        octaves: int,
    ) -> FloatArray:
        """Derivatives by every row and setting of `theta` of the sum of pictures times `cotangents`."""
        with self._lock:
            program = self._program(structure, tuple(cotangents))
            lanes = self._lanes_of(theta.shape[1], resolution)
            return program.gradient(theta, lanes, patch_size_m, CENTRE, list(cotangents.values()), octaves)

    def _program(self, structure: Structure, channels: tuple[str, ...]) -> Program:
        from renderer.preview.program import Program  # noqa: PLC0415

        program = self._programs.pop((structure, channels), None)
        if program is None:
            program = Program(structure, channels)
            self.compiled += 1
        # Put back last: the one not used for longest goes first.
        self._programs[structure, channels] = program
        if len(self._programs) > _KEPT_PROGRAMS:
            self._programs.pop(next(iter(self._programs)))
        return program

    def _lanes_of(self, settings: int, resolution: int) -> Lanes:
        from renderer.preview.program import Lanes  # noqa: PLC0415

        lanes = self._lanes.pop((settings, resolution), None)
        if lanes is None:
            lanes = Lanes(settings, resolution)
        self._lanes[settings, resolution] = lanes
        while len(self._lanes) > 1 and sum(count * side**2 for count, side in self._lanes) > _KEPT_LANES:
            self._lanes.pop(next(iter(self._lanes)))
        return lanes


# Structures that stay recorded, and lanes whose indices (12 bytes each) stay in memory.
_KEPT_PROGRAMS = 256
_KEPT_LANES = 8_388_608


class Kernel:
    """One graph, compiled: its parameters, and its pictures for any values of them."""

    def __init__(self, engine: PreviewEngine, plan: Plan) -> None:
        self._engine = engine
        self.plan = plan
        self._by_key = {(parameter.node, parameter.key): parameter for parameter in plan.parameters}

    @property
    def parameters(self) -> list[Key]:
        """All parameters as (node, input, output or property); see `structure.Parameter` for their shapes."""
        return list(self._by_key)

    def parameter(self, node: str, key: str) -> Parameter:
        """One parameter with its shape and the graph's own value; raises KeyError with the known ones."""
        try:
            return self._by_key[node, key]
        except KeyError:
            known = ", ".join(f"{n}.{k}" for n, k in self._by_key)
            raise KeyError(f"expected a parameter of the kernel, got {node}.{key}; known: {known}") from None

    def theta(self, params: Mapping[Key, npt.ArrayLike]) -> FloatArray:
        """The parameter table (rows, settings): given values, (B, …) or one for all, the rest as in the graph."""
        values: dict[Key, FloatArray] = {}
        settings = 1
        for key, value in params.items():
            shape = self.parameter(*key).shape
            array = np.asarray(value, np.float32)
            if array.shape == shape:
                array = array[None]
            if array.shape[1:] != shape:
                raise ValueError(f"{key[0]}.{key[1]}: expected shape (B, {shape}) or {shape}, got {array.shape}")
            if array.shape[0] not in (1, settings) and settings != 1:
                raise ValueError(f"{key[0]}.{key[1]}: expected {settings} settings, got {array.shape[0]}")
            settings = max(settings, array.shape[0])
            values[key] = array.reshape(array.shape[0], -1)
        table = np.empty((self.plan.structure.rows, settings), np.float32)
        for key, parameter in self._by_key.items():
            found = values.get(key)
            rows = np.asarray(parameter.default, np.float32)[None] if found is None else found
            if parameter.curve is not None:
                rows = curve_rows(parameter.curve, rows)
            table[parameter.row : parameter.row + rows.shape[1]] = rows.T
        return table

    def evaluate(
        self,
        params: Mapping[Key, npt.ArrayLike] | None = None,
        resolution: int = 256,
        channels: Sequence[str] = ("base_color",),
        patch_size_m: float = 1.0,
        jitter: tuple[float, float] = CENTRE,
    ) -> Pictures:
        """Pictures by channel, (B, H, W, C) float32, row 0 at the top; see `renderer.protocol` for the channels.

        `jitter` is the place inside the pixel, from its lower left corner.
        """
        unknown = [name for name in channels if name not in CHANNEL_SIZE]
        if unknown:
            raise ValueError(f"expected channels of {', '.join(CHANNEL_SIZE)}, got {', '.join(unknown)}")
        theta = self.theta(params or {})
        if "beauty" in channels:
            self._check_beauty(theta)
        return self._engine.run(self.plan.structure, tuple(channels), theta, resolution, patch_size_m, jitter)

    def _check_beauty(self, theta: FloatArray) -> None:
        from renderer.preview.support import constraints, linked_constraints  # noqa: PLC0415

        obstacles = linked_constraints(self.plan)
        for row, (value, name) in constraints(self.plan).items():
            if not np.all(theta[row] == value):
                obstacles.append(f"{name} other than {value:g}")
        if obstacles:
            raise PreviewUnsupported(f"the preview does not draw beauty with {', '.join(obstacles)}")

    def gradient(
        self,
        params: Mapping[Key, npt.ArrayLike],
        cotangents: Mapping[str, FloatArray],
        resolution: int = 256,
        patch_size_m: float = 1.0,
    ) -> dict[Key, FloatArray]:
        """Derivatives, by the given parameters, of the sum over all pixels of pictures times `cotangents`.

        `cotangents` holds one array (B, H, W, C) for each channel that counts. Where the graph jumps (cell borders,
        thresholds, integer parts) the derivative is that of the branch taken: finite, and blind to the jump.
        """
        theta = self.theta(params)
        if "beauty" in cotangents:
            self._check_beauty(theta)
        octaves = self.plan.structure.octaves(theta)
        rows = self._engine.gradient(self.plan.structure, theta, resolution, patch_size_m, cotangents, octaves)
        found = {}
        for key in params:
            parameter = self.parameter(*key)
            if parameter.curve is None:
                size = len(parameter.default)
                mine = rows[parameter.row : parameter.row + size].T
            else:
                points = np.asarray(params[key], np.float32).reshape(-1, len(parameter.default))
                points = np.broadcast_to(points, (theta.shape[1], points.shape[1]))
                table = curve_slopes(parameter.curve, points)
                mine = np.einsum("spr,rs->sp", table, rows[parameter.row : parameter.row + table.shape[2]])
            found[key] = mine.astype(np.float32).reshape(theta.shape[1], *parameter.shape)
        return found

    def torch(
        self,
        params: Mapping[Key, Any],
        resolution: int = 256,
        channels: Sequence[str] = ("base_color",),
        patch_size_m: float = 1.0,
    ) -> dict[str, Any]:
        """Like `evaluate`, from torch tensors to torch tensors, with gradients to every tensor of `params`.

        Each tensor is (B, *shape) for one B. The graph is traced again at every call; to step fast without torch's
        graph use `gradient`.
        """
        from renderer.preview.bridge import differentiable  # noqa: PLC0415

        theta = self.theta({key: tensor.detach().cpu().numpy() for key, tensor in params.items()})
        rows = [self._rows(key) for key in params]
        return differentiable(
            self.plan.structure, theta, rows, list(params.values()), resolution, tuple(channels), patch_size_m
        )

    def _rows(self, key: Key) -> range:
        """The rows of a parameter in the table; raises KeyError for curve points, which lie in it as tables."""
        parameter = self.parameter(*key)
        if parameter.curve is not None:
            raise KeyError(f"{key[0]}.{key[1]}: curve points are not differentiated through torch; use `gradient`")
        return range(parameter.row, parameter.row + len(parameter.default))
