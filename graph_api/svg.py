"""A graph drawn as Blender's node editor shows it: frames, nodes, sockets, values, ramps, curves and links."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.sax.saxutils import escape

from graph_api.arrange import Arrangement, Frame, arrange
from graph_api.canonical import digest
from graph_api.faces import HEADER, REROUTE, Face, Row, value_text
from graph_api.model import ColorRamp, CurveMapping, Graph, Link, Value

# The colors of Blender's default theme, for headers by kind, for sockets by type, for frames by role.
HEADERS = {
    "TEXTURE": "#79461d", "SHADER": "#2b652b", "COLOR": "#6e6e1d", "VECTOR": "#3c3c83", "CONVERTER": "#246283",
    "INPUT": "#83314a", "OUTPUT": "#4a2026", "GROUP": "#1d5d45", "SCRIPT": "#5c4a3c",
}  # fmt: skip
SOCKETS = {
    "VALUE": "#a1a1a1", "RGBA": "#c7c729", "VECTOR": "#6363c7", "SHADER": "#63c763", "INT": "#598c5c",
    "BOOLEAN": "#cca6d6", "STRING": "#70b2ff",
}  # fmt: skip
FRAMES = {
    "mapping": "#3b2a38", "macro": "#2c3442", "meso": "#2a3a3c", "micro": "#2c3a30", "color": "#3b3826",
    "shading": "#2b3a2b",
}  # fmt: skip
MARKS = {"added": "#4fbf67", "removed": "#e0565b", "changed": "#e8a33d"}
_BACK, _BODY, _FIELD, _TEXT, _FAINT = "#1d1d1d", "#303030", "#545454", "#e6e6e6", "#b4b4b4"
_EDGE = 60.0
_CHARACTER = 6.9
_CONTROL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_svg(graph: Graph, marks: Mapping[str, str] | None = None, arrangement: Arrangement | None = None) -> str:
    """The drawing as an SVG document with its size in interface units.

    `marks` rings nodes by id as "added", "removed" or "changed". An empty graph gives an empty drawing.
    """
    placed = arrangement or arrange(graph)
    left, top, right, bottom = _bounds(placed)
    width, height = right - left + 2 * _EDGE, top - bottom + 2 * _EDGE
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{left - _EDGE:.0f} {-top - _EDGE:.0f} {width:.0f} {height:.0f}" '
        f'font-family="Inter, DejaVu Sans, sans-serif" font-size="11.5">'
    )
    back = _rect(left - _EDGE, -top - _EDGE, width, height, _BACK)
    parts = [head, back, *map(_frame, placed.frames), *(_link(link, graph, placed) for link in graph.links)]
    parts += [_node(placed.faces[name], *placed.places[name], (marks or {}).get(name, "")) for name in placed.places]
    return "\n".join([*parts, "</svg>", ""])


def _bounds(placed: Arrangement) -> tuple[float, float, float, float]:
    boxes = [(*placed.places[n], f.width, f.height) for n, f in placed.faces.items()]
    boxes += [(frame.x, frame.y, frame.width, frame.height) for frame in placed.frames]
    if not boxes:
        return 0.0, 0.0, 200.0, -100.0
    return (
        min(x for x, _, _, _ in boxes), max(y for _, y, _, _ in boxes),
        max(x + w for x, _, w, _ in boxes), min(y - h for _, y, _, h in boxes),
    )  # fmt: skip


def clean(text: str) -> str:
    """Text that XML can hold."""
    return escape(_CONTROL.sub("\ufffd", text), {'"': "&quot;"})


def _text(x: float, y: float, text: str, *, anchor: str = "start", fill: str = _TEXT, room: float = 0.0) -> str:
    if room and len(text) * _CHARACTER > room:
        text = text[: max(int(room / _CHARACTER) - 1, 1)] + "…"
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}">{clean(text)}</text>'


def _frame(frame: Frame) -> str:
    color = FRAMES.get(frame.role, "#2a2a2a")
    return (
        f'<g class="frame"><rect x="{frame.x:.1f}" y="{-frame.y:.1f}" width="{frame.width:.1f}" '
        f'height="{frame.height:.1f}" rx="8" fill="{color}" stroke="#111"/>'
        f'<text x="{frame.x + frame.width / 2:.1f}" y="{-frame.y + 26:.1f}" text-anchor="middle" font-size="19" '
        f'fill="{_TEXT}">{clean(frame.title)}</text></g>'
    )


def _link(link: Link, graph: Graph, placed: Arrangement) -> str:
    if link.src not in placed.places or link.dst not in placed.places:
        return ""
    source, target = placed.faces[link.src], placed.faces[link.dst]
    x0, y0 = placed.places[link.src][0] + source.width, -placed.places[link.src][1]
    x1, y1 = placed.places[link.dst][0], -placed.places[link.dst][1]
    y0, y1 = y0 + source.dot(link.src_socket, output=True), y1 + target.dot(link.dst_socket, output=False)
    kind = next((r.type for r in source.rows if r.kind == "output" and r.socket == link.src_socket), "VALUE")
    bend = max(abs(x1 - x0) / 2, 30.0)
    return (
        f'<path class="link" d="M{x0:.1f},{y0:.1f} C{x0 + bend:.1f},{y0:.1f} {x1 - bend:.1f},{y1:.1f} '
        f'{x1:.1f},{y1:.1f}" fill="none" stroke="{SOCKETS.get(kind, "#a1a1a1")}" stroke-width="2.2" opacity="0.85"/>'
    )


def _node(face: Face, x: float, up: float, mark: str) -> str:
    y = -up
    ring = MARKS.get(mark, "#0f0f0f")
    thick = 4 if mark else 1
    parts = [
        f'<g class="node" data-id="{clean(face.id)}"><title>{clean(f"{face.id}: {face.type}")}</title>'
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{face.width:.1f}" height="{face.height:.1f}" rx="6" fill="{_BODY}" '
        f'stroke="{ring}" stroke-width="{thick}"/>'
    ]
    if face.type != REROUTE:
        color = HEADERS.get(face.kind, "#3f3f3f")
        parts.append(
            f'<path d="M{x:.1f},{y + HEADER - 4:.1f} v{-HEADER + 10:.1f} a6,6 0 0 1 6,-6 h{face.width - 12:.1f} '
            f'a6,6 0 0 1 6,6 v{HEADER - 10:.1f} z" fill="{color}"/>'
        )
        parts.append(_text(x + 10, y + 15, face.title, room=face.width - 16))
    parts += [_row(row, face, x, y) for row in face.rows]
    return "".join([*parts, "</g>"])


def _row(row: Row, face: Face, x: float, y: float) -> str:
    top, middle = y + row.top, y + row.middle
    if row.kind == "output":
        label = _text(x + face.width - 10, middle + 4, row.text, anchor="end", room=face.width - 20)
        return label + _dot(x + face.width, middle, row.type)
    if row.kind == "input":
        return _input(row, face, x, top, middle)
    if row.kind == "swatch":
        return _rect(x + 10, top + 4, face.width - 20, row.height - 8, _css(row.value))
    if isinstance(row.value, ColorRamp):
        return _ramp(row, row.value, face, x, top)
    if isinstance(row.value, CurveMapping):
        return _curve(row, row.value, face, x, top)
    return _field(row.text, value_text(row.value), x, top, face.width)


def _input(row: Row, face: Face, x: float, top: float, middle: float) -> str:
    dot = _dot(x, middle, row.type)
    if row.value is None:
        return dot + _text(x + 10, middle + 4, row.text, room=face.width - 16)
    if row.type == "RGBA":
        swatch = _rect(x + face.width - 62, top + 3, 52, 16, _css(row.value))
        return dot + _text(x + 10, middle + 4, row.text, room=face.width - 76) + swatch
    if row.type == "VECTOR" and isinstance(row.value, tuple):
        parts = [dot, _text(x + 10, middle + 4, f"{row.text}:", room=face.width - 16)]
        for index, part in enumerate(row.value):
            parts.append(_field("XYZW"[index], value_text(part), x, top + 22 + 20 * index, face.width))
        return "".join(parts)
    return dot + _field(row.text, value_text(row.value), x, top, face.width)


def _field(name: str, value: str, x: float, top: float, width: float) -> str:
    back = _rect(x + 8, top + 2, width - 16, 17, _FIELD)
    room = width - 30
    if not name:
        return back + _text(x + width / 2, top + 14.5, value, anchor="middle", room=room)
    taken = min(len(value) * _CHARACTER, room * 0.6)
    label = _text(x + 14, top + 14.5, name, fill=_FAINT, room=room - taken - 8)
    return back + label + _text(x + width - 14, top + 14.5, value, anchor="end", room=room * 0.62)


def _rect(x: float, y: float, width: float, height: float, fill: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="3" fill="{fill}"/>'


def _dot(x: float, y: float, kind: str) -> str:
    fill = SOCKETS.get(kind, "#a1a1a1")
    return f'<circle class="socket" cx="{x:.1f}" cy="{y:.1f}" r="4.6" fill="{fill}" stroke="#111"/>'


def _ramp(row: Row, ramp: ColorRamp, face: Face, x: float, top: float) -> str:
    name = f"ramp-{digest(face.id)[:12]}"
    width = face.width - 20
    constant = ramp.interpolation == "CONSTANT"
    stops: list[str] = []
    for index, stop in enumerate(ramp.stops):
        if constant and index:
            stops.append(_stop(stop.position, ramp.stops[index - 1].color))
        stops.append(_stop(stop.position, stop.color))
    handles = "".join(
        f'<rect x="{x + 10 + width * stop.position - 3:.1f}" y="{top + 44:.1f}" width="6" height="9" '
        f'fill="{_css(stop.color)}" stroke="#ddd" stroke-width="0.8"/>'
        for stop in ramp.stops
    )
    return (
        f'<linearGradient id="{name}">{"".join(stops)}</linearGradient>'
        + _field(f"{len(ramp.stops)} stops", row.text, x, top, face.width)
        + _rect(x + 10, top + 24, width, 22, f"url(#{name})")
        + handles
    )


def _stop(position: float, color: tuple[float, ...]) -> str:
    return f'<stop offset="{position:.4f}" stop-color="{_css(color)}"/>'


def _curve(row: Row, mapping: CurveMapping, face: Face, x: float, top: float) -> str:
    side_x, side_y = face.width - 20, row.height - 16
    left, low, right, high = mapping.clip
    span_x, span_y = (right - left) or 1.0, (high - low) or 1.0
    lines = [_rect(x + 10, top + 8, side_x, side_y, "#232323")]
    for index, curve in enumerate(mapping.curves):
        points = " ".join(
            f"{x + 10 + side_x * (p.x - left) / span_x:.1f},{top + 8 + side_y * (1 - (p.y - low) / span_y):.1f}"
            for p in curve
        )
        color = ("#d65555", "#5fb95f", "#5f7fd6", "#d8d8d8")[index if len(mapping.curves) > 1 else 3]
        lines.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.5"/>')
    return "".join(lines)


def _css(value: Value | None) -> str:
    """A scene-linear color as the screen shows it."""
    if not isinstance(value, tuple) or len(value) < 3:
        return _FIELD
    return "#" + "".join(f"{round(255 * _srgb(float(part))):02x}" for part in value[:3])


def _srgb(linear: float) -> float:
    clipped = min(max(linear, 0.0), 1.0) if linear == linear else 0.0  # noqa: PLR0124 - NaN
    return 12.92 * clipped if clipped <= 0.0031308 else 1.055 * clipped ** (1 / 2.4) - 0.055
