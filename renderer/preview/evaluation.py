"""Walks a structure and traces it into Dr.Jit arrays: one value for each output, remembered by place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import drjit as dr
from drjit.auto.ad import Array3f, Array4f, Float, UInt32

from renderer.preview.lookup import EnergyTables
from renderer.preview.ops import luminance, mean, splat
from renderer.preview.scene import Frame, Geometry
from renderer.preview.structure import Constant, CurveShape, Implicit, Linked, RampShape, Source, Step, Structure

Value = Any
Outputs = Mapping[str, Value]
NodeFunction = Callable[["Inputs"], Outputs]
SCALAR_TYPES = ("VALUE", "INT", "BOOLEAN")


@dataclass(frozen=True)
class NodeSpec:
    """How a node type is drawn.

    `options`: the items of each enum property that are drawn, from the very table that draws them. `outputs`: the
    outputs that are drawn, None for all. `fixed`: integer properties that are part of the structure. `unlinkable`:
    inputs that are drawn only as constants. `smooth`: False
    where the output jumps, so that single pixels may differ from Blender's. `warped`: the node adds noise to its own
    coordinates, which amplifies rounding. `together`: the function at several places close together, cheaper than one
    by one; None where it is not. `prelude`: numbers that follow from `prelude_inputs` alone, computed once for
    each setting instead of once for each pixel when those inputs are constants; the function gets them from
    `Inputs.prelude`.
    """

    function: NodeFunction
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    outputs: tuple[str, ...] | None = None
    fixed: frozenset[str] = frozenset()
    unlinkable: tuple[str, ...] = ()
    smooth: bool = True
    warped: bool = False
    together: Callable[[Sequence[Inputs]], list[Outputs] | None] | None = None
    prelude: Callable[[Inputs], Sequence[Value]] | None = None
    prelude_inputs: tuple[str, ...] = ()


# Parameters are read in packets of this many.
BLOCK = 4


def padded(rows: int) -> int:
    """Numbers of one setting in the parameter buffer."""
    return -(-rows // BLOCK) * BLOCK


def convert(value: Value, source: str, target: str) -> Value:
    """A value of socket type `source` as an input of type `target` takes it in Cycles."""
    if source in SCALAR_TYPES:
        return value if target in SCALAR_TYPES else splat(value)
    if target in SCALAR_TYPES:
        return luminance(value) if source == "RGBA" else mean(value)
    return value


class Evaluation:
    """One tracing of a structure. `theta` holds the parameters setting by setting, padded to whole blocks.

    `octave_limit`: for derivatives, the octaves to unroll to; None loops. `specs`: the node types.
    """

    def __init__(
        self,
        structure: Structure,
        theta: Float,
        frame: Frame,
        specs: Mapping[str, NodeSpec],
        ramps: Mapping[int, Value],
        octave_limit: int | None = None,
        preludes: Mapping[int, Sequence[Float]] | None = None,
        tables: EnergyTables | None = None,
    ) -> None:
        self.structure = structure
        self.theta = theta
        self.frame = frame
        self.specs = specs
        self.ramps = ramps
        self.octave_limit = octave_limit
        self.preludes = preludes or {}
        self.tables = tables
        self.geometry = Geometry(frame)
        self._values: dict[tuple[int, Any], Outputs] = {}
        self._blocks: dict[int, Array4f] = {}
        self._places: dict[Any, Geometry] = {None: self.geometry}

    def number(self, row: int) -> Float:
        """One row of the parameters, by lane. Four are read at once: a quarter of the cost of four single reads."""
        block = row // BLOCK
        if block not in self._blocks:
            index = self.frame.setting * (padded(self.structure.rows) // BLOCK) + block
            self._blocks[block] = dr.gather(Array4f, self.theta, index, mode=dr.ReduceMode.Expand)
        return self._blocks[block][row % BLOCK]

    def constant(self, constant: Constant) -> Value:
        """A parameter: a number, or a vector of three."""
        if constant.size == 1:
            return self.number(constant.row)
        return Array3f(*(self.number(constant.row + index) for index in range(3)))

    def place(self, name: Any, shift: tuple[Float, Float]) -> Any:
        """Register a moved geometry under `name`, which then selects it."""
        if name not in self._places:
            self._places[name] = self.geometry.moved(shift)
        return name

    def outputs(self, index: int, place: Any) -> Outputs:
        """All outputs in use of step `index` at `place`."""
        key = (index, place)
        if key not in self._values:
            step = self.structure.steps[index]
            self._values[key] = self.specs[step.type].function(Inputs(self, index, step, place))
        return self._values[key]

    def prefetch(self, index: int, places: Sequence[Any]) -> None:
        """Evaluate what feeds step `index`, itself included, at all `places` together where the node can."""
        if self.octave_limit is not None:
            return
        for ancestor in self._ancestors(index):
            step = self.structure.steps[ancestor]
            together = self.specs[step.type].together if step.type in self.specs else None
            known = any((ancestor, place) in self._values for place in places)
            if together is None or known or not _only_vector_varies(step):
                continue
            found = together([Inputs(self, ancestor, step, place) for place in places])
            if found is not None:
                self._values.update({(ancestor, place): out for place, out in zip(places, found, strict=True)})

    def _ancestors(self, index: int) -> list[int]:
        """Steps that feed `index` and itself, in evaluation order."""
        found, todo = set(), [index]
        while todo:
            step = todo.pop()
            if step not in found:
                found.add(step)
                todo += [s.step for _, _, s in self.structure.steps[step].inputs if isinstance(s, Linked)]
        return sorted(found)

    def source(self, source: Source, target: str, place: Any) -> Value:
        """The value of a linked or constant input, converted."""
        if isinstance(source, Linked):
            return convert(self.outputs(source.step, place)[source.output], source.type, target)
        assert isinstance(source, Constant), "implicit inputs are asked of the geometry"
        return self.constant(source)


def _only_vector_varies(step: Step) -> bool:
    return all(name == "Vector" or isinstance(source, Constant) for name, _, source in step.inputs)


class Inputs:
    """What a node function sees: inputs by identifier, evaluated when asked for, and properties by name."""

    def __init__(self, evaluation: Evaluation, index: int, step: Step, place: Any) -> None:
        self.evaluation = evaluation
        self.index = index
        self.step = step
        self.place = place
        self._sources = {identifier: (kind, source) for identifier, kind, source in step.inputs}
        self._properties = dict(step.properties)
        self.wanted = frozenset(step.wanted)

    def __getitem__(self, identifier: str) -> Value:
        return self.at(identifier, self.place)

    def at(self, identifier: str, place: Any) -> Value:
        """The input as it is at another place."""
        kind, source = self._sources[identifier]
        if isinstance(source, Implicit):
            return self.evaluation._places[place].generated if identifier == "Vector" else self.geometry.up
        return self.evaluation.source(source, kind, place)

    def has(self, identifier: str) -> bool:
        """Whether the input is linked or constant, not implicit."""
        return not isinstance(self._sources[identifier][1], Implicit)

    def enabled(self, identifier: str) -> bool:
        """Whether the node has this input under its properties."""
        return identifier in self._sources

    @property
    def setting(self) -> UInt32:
        """Index of the lane's parameter set."""
        return self.evaluation.frame.setting

    def linked(self, identifier: str) -> Linked | None:
        """The link that feeds an input, if any."""
        source = self._sources[identifier][1]
        return source if isinstance(source, Linked) else None

    @property
    def geometry(self) -> Geometry:
        """Coordinates of the lanes here."""
        return self.evaluation._places[self.place]

    def option(self, name: str) -> str:
        """An enum property."""
        value = self._properties[name]
        assert isinstance(value, str)
        return value

    def flag(self, name: str) -> bool:
        """A boolean property."""
        return bool(self._properties[name])

    def number(self, name: str) -> Float:
        """A numeric property, which is a parameter."""
        constant = self._properties[name]
        assert isinstance(constant, Constant)
        return self.evaluation.number(constant.row)

    def ramp(self, name: str) -> tuple[RampShape, Value]:
        """A color ramp property and its table."""
        shape = self._properties[name]
        assert isinstance(shape, RampShape)
        return shape, self.evaluation.ramps[shape.row]

    def curve(self, name: str) -> CurveShape:
        """A curve property; its table lies in the parameters."""
        shape = self._properties[name]
        assert isinstance(shape, CurveShape)
        return shape

    @property
    def tables(self) -> EnergyTables:
        """The energy tables of shading."""
        assert self.evaluation.tables is not None
        return self.evaluation.tables

    @property
    def constants_only(self) -> bool:
        """Whether every input of the prelude is a constant."""
        names = self.evaluation.specs[self.step.type].prelude_inputs
        return all(isinstance(self._sources[name][1], Constant) for name in names if name in self._sources)

    def prelude(self) -> list[Float]:
        """The numbers of the node's prelude, by lane."""
        spec = self.evaluation.specs[self.step.type]
        found = self.evaluation.preludes.get(self.index)
        if found is None:
            assert spec.prelude is not None
            return list(spec.prelude(self))
        setting = self.evaluation.frame.setting
        packets = [dr.gather(Array4f, buffer, setting, mode=dr.ReduceMode.Expand) for buffer in found]
        return [number for packet in packets for number in packet]

    @property
    def octave_limit(self) -> int | None:
        """Octaves to unroll to, or None to loop."""
        return self.evaluation.octave_limit
