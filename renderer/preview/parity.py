"""Graphs that show one output of one node, generated from the catalog, and how far two pictures of one may be apart.

A new enum item or node of the catalog turns up here by itself: whatever the preview claims to draw is compared. Used by
the tests (a quick sweep), by `benchmarks/preview_parity.py` (the full one) and against a new Blender version.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from graph_api.catalog import load_catalog
from graph_api.catalog.schema import NodeType, Socket, SocketState
from graph_api.model import ColorRamp, ColorStop, CurveMapping, CurvePoint, Graph, Link, Node, Value
from renderer.protocol import RenderRequest, RenderSettings

FloatArray = npt.NDArray[np.float32]
SUBJECT = "subject"
# Where a range of the catalog is too wide to be of use; by socket name, then by node type and name.
RANGES: Mapping[str, tuple[float, float]] = {
    "Scale": (1.0, 10.0),
    "Roughness": (0.1, 0.8),
    "Detail": (0.0, 5.0),
    "Lacunarity": (1.5, 2.5),
    "Offset": (0.0, 1.0),
    "Gain": (0.3, 2.0),
    "Distortion": (-1.0, 1.0),
    "Phase Offset": (-3.0, 3.0),
    "Detail Scale": (0.5, 3.0),
    "Brick Width": (0.2, 1.0),
    "Row Height": (0.1, 0.5),
    "Exponent": (0.5, 4.0),
    "Gamma": (0.3, 3.0),
    "Bright": (-0.5, 0.5),
    "Contrast": (-0.5, 1.0),
    "Steps": (2.0, 9.0),
    "Frequency": (0.5, 4.0),
    "Strength": (0.1, 1.0),
    "Distance": (0.001, 0.05),
    "Filter Width": (0.05, 1.0),
    "Midlevel": (0.0, 1.0),
    "W": (-3.0, 3.0),
}
# Combinations of options up to this many are all drawn in the full sweep; beyond it one property varies at a time.
FULL_PRODUCT = 200
_TEXTURE = "ShaderNodeTex"


@dataclass(frozen=True)
class Case:
    """One node type with its options and one output; `requests` differ in numbers only."""

    node_type: str
    options: tuple[tuple[str, str | bool], ...]
    output: str
    requests: tuple[RenderRequest, ...]

    @property
    def label(self) -> str:
        """Text for reports, such as `TexNoise 3D FBM normalize · Color`."""
        chosen = " ".join(
            (name if value else f"no {name}") if isinstance(value, bool) else value for name, value in self.options
        )
        return " ".join(f"{self.node_type.removeprefix('ShaderNode')} {chosen}".split()) + f" · {self.output}"


@dataclass(frozen=True)
class Difference:
    """How two pictures differ: the largest and the mean absolute difference, and the share of pixels beyond 1e-4."""

    largest: float
    mean: float
    flipped: float


def difference(a: FloatArray, b: FloatArray, tolerance: float = 1e-4) -> Difference:
    """Compare pictures (H, W, C), relative to the size of the value where that is above one."""
    apart = np.abs(a.astype(np.float64) - b) / np.maximum(1.0, np.abs(a))
    apart = np.where(np.isfinite(a) | np.isfinite(b), apart, 0.0)
    return Difference(float(apart.max()), float(apart.mean()), float((apart.max(axis=-1) > tolerance).mean()))


def cases(
    node_types: Sequence[str],
    options: Mapping[str, Mapping[str, tuple[str, ...]]],
    *,
    outputs: Mapping[str, tuple[str, ...] | None],
    rng: np.random.Generator,
    settings: int = 6,
    resolution: int = 64,
    full: bool = False,
    version: str = "5.0",
) -> Iterator[Case]:
    """All cases of some node types: every option the preview draws and every output it draws."""
    catalog = load_catalog(version)
    for node_type in node_types:
        kind = catalog.node(node_type)
        if kind is None:
            continue
        for chosen in _choices(kind, options[node_type], full=full):
            state = kind.state(dict(chosen))
            if state is None:
                continue
            for socket in state.enabled_outputs:
                drawn = outputs[node_type]
                if drawn is not None and socket.identifier not in drawn:
                    continue
                graphs = (_graph(kind, state, dict(chosen), socket, rng, version) for _ in range(settings))
                render = RenderSettings(resolution=resolution)
                requests = tuple(RenderRequest(graph, "flat", ("base_color",), render) for graph in graphs)
                yield Case(node_type, chosen, socket.identifier, requests)


def _choices(
    kind: NodeType, items: Mapping[str, tuple[str, ...]], *, full: bool
) -> list[tuple[tuple[str, str | bool], ...]]:
    axes: dict[str, list[str | bool]] = {}
    for name, prop in kind.properties.items():
        if name in items:
            axes[name] = [item for item in prop.items if item in items[name]]
        elif prop.type == "bool" and name in _SWITCHES:
            axes[name] = [bool(prop.default), not prop.default]
    count = int(np.prod([len(values) for values in axes.values()])) if axes else 1
    if full and count <= FULL_PRODUCT:
        return [tuple(zip(axes, combination, strict=True)) for combination in product(*axes.values())]
    # One property at a time moves off its default; the full sweep does so within every item of the first property.
    base = {name: kind.properties[name].default for name in axes}
    leaders = next(iter(axes.values()), [False]) if full else [next(iter(base.values()), False)]
    found: dict[tuple[tuple[str, str | bool], ...], None] = {}
    for leader in leaders:
        for name, values in axes.items():
            for value in values:
                chosen = {**base, next(iter(axes)): leader, name: value}
                found[tuple((key, chosen[key]) for key in axes)] = None  # type: ignore[misc]
    return list(found) or [()]


_SWITCHES = ("normalize", "clamp", "use_clamp", "clamp_factor", "clamp_result", "invert")


def _graph(
    kind: NodeType,
    state: SocketState,
    options: dict[str, str | bool],
    output: Socket,
    rng: np.random.Generator,
    version: str,
) -> Graph:
    """The subject fed from mapped UV coordinates, its output on Base Color."""
    nodes: list[Node] = [Node("uv", "ShaderNodeTexCoord")]
    links: list[Link] = []
    inputs: dict[str, Value] = {}
    fed = _fed(kind, state)
    for socket in state.enabled_inputs:
        if socket.identifier in fed:
            links.append(_feed(nodes, links, socket, kind.type, rng))
        elif socket.default is not None and not socket.hide_value:
            inputs[socket.identifier] = _draw(socket, rng)
    properties: dict[str, Value] = {**options, **_numbers(kind, rng)}
    values: dict[str, Value] = {}
    if kind.type in ("ShaderNodeValue", "ShaderNodeRGB"):
        values = {output.identifier: _draw(output, rng)}
    nodes.append(Node(SUBJECT, kind.type, inputs, properties, values))
    nodes += [Node("shader", "ShaderNodeBsdfPrincipled"), Node("output", "ShaderNodeOutputMaterial")]
    links += [Link(SUBJECT, output.identifier, "shader", "Base Color"), Link("shader", "BSDF", "output", "Surface")]
    return Graph(version, {node.id: node for node in nodes}, tuple(links))


def _fed(kind: NodeType, state: SocketState) -> tuple[str, ...]:
    """The inputs that vary over the picture: a texture's Vector, else the first two that can."""
    if kind.type.startswith(_TEXTURE):
        return tuple(s.identifier for s in state.enabled_inputs if s.identifier == "Vector")
    usable = [s.identifier for s in state.enabled_inputs if s.type in ("VALUE", "VECTOR", "RGBA")]
    if kind.type in ("ShaderNodeBump", "ShaderNodeDisplacement"):
        return ("Height",)
    if kind.type == "ShaderNodeMapping":
        return ("Vector",)
    return (
        tuple(name for name in usable if name not in ("Fac", "Factor"))[:3]
        if "Curve" in kind.type
        else tuple(usable[:3])
    )


def _feed(nodes: list[Node], links: list[Link], socket: Socket, node_type: str, rng: np.random.Generator) -> Link:
    """A Mapping of UV for one input; a number takes one axis of it."""
    name = f"map {socket.identifier}"
    wide = 3.0 if socket.type != "RGBA" else 1.0
    place: dict[str, Value] = {
        "Location": tuple(float(x) for x in rng.uniform(-0.5, 0.5, 3) * (1.0 if wide > 1 else 0.2)),
        "Rotation": (0.0, 0.0, float(rng.uniform(-1.5, 1.5)) if wide > 1 else 0.0),
        "Scale": tuple(float(x) for x in rng.uniform(0.7, 1.0, 3) * wide),
    }
    nodes.append(Node(name, "ShaderNodeMapping", place))
    links.append(Link("uv", "UV", name, "Vector"))
    if node_type == "ShaderNodeTexWhiteNoise":
        # A hash of every bit of its input: only on steps can two renderers be compared.
        nodes.append(Node("steps", "ShaderNodeVectorMath", {"Vector_001": (0.25, 0.25, 0.25)}, {"operation": "SNAP"}))
        links.append(Link(name, "Vector", "steps", "Vector"))
        return Link("steps", "Vector", SUBJECT, socket.identifier)
    if socket.type != "VALUE":
        return Link(name, "Vector", SUBJECT, socket.identifier)
    nodes.append(Node(f"axis {socket.identifier}", "ShaderNodeSeparateXYZ"))
    links.append(Link(name, "Vector", f"axis {socket.identifier}", "Vector"))
    return Link(f"axis {socket.identifier}", "X", SUBJECT, socket.identifier)


def _range(socket: Socket) -> tuple[float, float]:
    if socket.name in RANGES and socket.type == "VALUE":
        return RANGES[socket.name]
    low, high = (-1.5 if socket.min is None else socket.min), (1.5 if socket.max is None else socket.max)
    if socket.type == "RGBA":
        return 0.0, 1.0
    return (max(low, -1.5), min(high, 1.5)) if high - low > 3.0 else (low, high)


def _draw(socket: Socket, rng: np.random.Generator) -> Value:
    low, high = _range(socket)
    if socket.size > 1:
        drawn = [float(np.float32(x)) for x in rng.uniform(low, high, socket.size)]
        return tuple([*drawn[:3], 1.0] if socket.size == 4 else drawn)
    return float(np.float32(rng.uniform(low, high)))


def _numbers(kind: NodeType, rng: np.random.Generator) -> dict[str, Value]:
    """Numeric properties, ramps and curves."""
    drawn: dict[str, Value] = {}
    for name, prop in kind.properties.items():
        if prop.type == "ramp":
            drawn[name] = random_ramp(rng)
        elif prop.type == "curve" and isinstance(prop.default, CurveMapping):
            drawn[name] = random_curves(prop.default, rng)
        elif name in _NUMBERS:
            low, high = _NUMBERS[name]
            drawn[name] = (
                int(rng.integers(int(low), int(high) + 1))
                if prop.type == "int"
                else float(np.float32(rng.uniform(low, high)))
            )
    return drawn


_NUMBERS = {
    "offset": (0.0, 1.0),
    "squash": (0.5, 1.5),
    "offset_frequency": (1, 4),
    "squash_frequency": (1, 4),
    "turbulence_depth": (0, 6),
}


def random_ramp(
    rng: np.random.Generator, interpolation: str = "LINEAR", color_mode: str = "RGB", hue: str = "NEAR", stops: int = 4
) -> ColorRamp:
    """A ramp of random stops."""
    positions = np.sort(rng.uniform(0.0, 1.0, stops)).astype(np.float32)
    colors = rng.uniform(0.0, 1.0, (stops, 4)).astype(np.float32)
    made = (
        ColorStop(float(position), (float(c[0]), float(c[1]), float(c[2]), float(c[3])))
        for position, c in zip(positions, colors, strict=True)
    )
    return ColorRamp(tuple(made), color_mode, interpolation, hue)


def random_curves(like: CurveMapping, rng: np.random.Generator, points: int = 4) -> CurveMapping:
    """Curves with random points, as many as `like` has."""
    curves = []
    for _ in like.curves:
        x = np.concatenate([[0.0], np.sort(rng.uniform(0.1, 0.9, points - 2)), [1.0]]).astype(np.float32)
        y = rng.uniform(0.0, 1.0, points).astype(np.float32)
        handles = rng.choice(["AUTO", "AUTO_CLAMPED", "VECTOR"], points)
        curves.append(tuple(CurvePoint(float(a), float(b), str(h)) for a, b, h in zip(x, y, handles, strict=True)))
    return CurveMapping(
        tuple(curves), like.extend, like.use_clip, like.clip, like.black_level, like.white_level, like.tone
    )
