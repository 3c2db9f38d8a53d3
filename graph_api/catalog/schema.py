"""Node types as values: what a catalog file says, with the sockets that each setting of the properties enables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from graph_api.model import Scalar, Value


@dataclass(frozen=True)
class Socket:
    """An input or output of a node type, in one state of the node.

    `type` is Blender's (`VALUE`, `VECTOR`, `RGBA`, `SHADER`, …). `min` and `max` are the range that the node declares
    for the value, None where it declares none; Blender's Python accepts more, the node's meaning does not. `label` is
    what the interface shows where that is not the name (`Exponent` for a Math `Value`). `hide_value` says that Blender
    ignores the value: without a link the input takes what the geometry gives (texture coordinates, the normal).
    """

    identifier: str
    name: str
    type: str
    default: Value | None = None
    min: float | None = None
    max: float | None = None
    subtype: str = ""
    label: str = ""
    hide_value: bool = False
    multi: bool = False
    enabled: bool = True

    @property
    def size(self) -> int:
        """Number of components of the value: 1 for a scalar, 0 where there is none."""
        if self.default is None:
            return 0
        return len(self.default) if isinstance(self.default, tuple) else 1


@dataclass(frozen=True)
class Property:
    """A property of a node type.

    `type` is one of enum, bool, int, float, vector, string, datablock, ramp, curve. `min` and `max` are enforced by
    Blender, `soft_min` and `soft_max` are what its sliders offer. `datablock` names the kind of data a name stands for.
    """

    name: str
    type: str
    default: Value
    items: tuple[str, ...] = ()
    min: float | None = None
    max: float | None = None
    soft_min: float | None = None
    soft_max: float | None = None
    datablock: str = ""


@dataclass(frozen=True)
class SocketState:
    """All sockets of a node under one setting of its properties, by identifier, in Blender's order."""

    inputs: Mapping[str, Socket]
    outputs: Mapping[str, Socket]

    @cached_property
    def enabled_inputs(self) -> tuple[Socket, ...]:
        """The inputs that take part under this setting."""
        return tuple(socket for socket in self.inputs.values() if socket.enabled)

    @cached_property
    def enabled_outputs(self) -> tuple[Socket, ...]:
        """The outputs that take part under this setting."""
        return tuple(socket for socket in self.outputs.values() if socket.enabled)

    def side(self, output: bool) -> Mapping[str, Socket]:
        """The outputs or the inputs."""
        return self.outputs if output else self.inputs


@dataclass(frozen=True)
class NodeType:
    """A node type of one Blender version.

    `deciding` maps the properties that decide about sockets to their values; `table` holds, for each combination of
    those values in row-major order, the index into `states` (None: Blender refuses the combination).
    """

    type: str
    label: str
    properties: Mapping[str, Property]
    deciding: Mapping[str, tuple[Scalar, ...]]
    table: tuple[int | None, ...]
    states: tuple[SocketState, ...]
    _strides: tuple[tuple[str, Mapping[Scalar, int]], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        strides: list[tuple[str, Mapping[Scalar, int]]] = []
        step = len(self.table)
        for name, values in self.deciding.items():
            step //= len(values)
            strides.append((name, {value: index * step for index, value in enumerate(values)}))
        object.__setattr__(self, "_strides", tuple(strides))

    def state(self, properties: Mapping[str, Value]) -> SocketState | None:
        """The sockets under these properties (absent ones have their default); None for a refused combination."""
        offset = 0
        for name, steps in self._strides:
            value = properties[name] if name in properties else self.properties[name].default
            step = steps.get(value)  # type: ignore[arg-type]
            if step is None:
                return None
            offset += step
        index = self.table[offset]
        return None if index is None else self.states[index]

    @cached_property
    def default_state(self) -> SocketState:
        """The sockets of a fresh node."""
        state = self.state({})
        assert state is not None, f"{self.type}: Blender made this node with its defaults"
        return state

    def enabled_when(self, identifier: str, *, output: bool = False) -> dict[str, tuple[Scalar, ...]]:
        """For each deciding property, the values under which the socket can be enabled; empty: always or never."""
        found: dict[str, set[Scalar]] = {name: set() for name, _ in self._strides}
        for offset, index in enumerate(self.table):
            if index is None or identifier not in self.states[index].side(output):
                continue
            if self.states[index].side(output)[identifier].enabled:
                rest = offset
                for name, steps in self._strides:
                    unit = max(1, list(steps.values())[1] if len(steps) > 1 else 1)
                    found[name].add(self.deciding[name][rest // unit])
                    rest %= unit
        return {
            name: tuple(value for value in self.deciding[name] if value in values)
            for name, values in found.items()
            if 0 < len(values) < len(self.deciding[name])
        }
