"""Values as actors write them, made into what a socket or a property takes; every change is a notice.

Numbers may come as text, colors as hex (read as sRGB) or without alpha, a scalar where a vector is wanted. What is not
finite is refused, what is out of the declared range is clamped.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from graph_api.catalog import Property, Socket, load_aliases
from graph_api.depth import DEEPEST, too_deep
from graph_api.errors import ActionRejected
from graph_api.model import Node, Value
from graph_api.resolve import Notice, closest, suggest

FLOAT32_MAX = 3.4028234663852886e38
HEX = re.compile(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")
TRUTH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@dataclass
class Target:
    """Where a value goes, for messages, and the notices collected on the way."""

    node: str
    key: str
    notices: list[Notice] = field(default_factory=list)

    def notice(self, code: str, message: str) -> None:
        """Report one change."""
        self.notices.append(Notice(code, message, self.node, self.key))

    def refuse(
        self, code: str, expected: str, got: object, known: tuple[str, ...] = (), suggestion: str | None = None
    ) -> ActionRejected:
        """An error about this target."""
        text = got if isinstance(got, str) and code == "not_finite" else short(got)
        return ActionRejected(
            code,
            f"{expected} for {self.key}",
            text,
            known=known,
            suggestion=suggestion,
            node=self.node,
            socket=self.key,
        )


def short(value: object) -> str:
    """A value for a message, at most 80 characters."""
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python prints
        text = "a number too large to print"
    return text if len(text) <= 80 else text[:77] + "..."


def parsed(value: object, target: Target) -> object:
    """Text that holds a JSON list or object, or numbers with commas, as what it says; all else as it is."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text[:1] in "[{" and text:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            raise target.refuse("bad_value", "a value", value) from None
        if too_deep(found):
            raise target.refuse("bad_value", f"a value of at most {DEEPEST} levels", value)
        target.notice("parsed", f"the text {short(value)} was read as {short(found)}")
        return found
    if text[:1] == "(" or "," in text:
        parts = text.strip("()").split(",")
        try:
            numbers = [float(part) for part in parts if part.strip()]
        except ValueError:
            return value
        target.notice("parsed", f"the text {short(value)} was read as {short(numbers)}")
        return numbers
    return value


def number(value: object, target: Target) -> float:
    """One finite number that a float32 can hold."""
    if isinstance(value, bool):
        target.notice("converted", f"{value} was read as {float(value)}")
        return float(value)
    if isinstance(value, str):
        try:
            found = float(value)
        except ValueError:
            raise target.refuse("bad_value", "a number", value) from None
        if math.isfinite(found):
            target.notice("parsed", f"the text {short(value)} was read as {found}")
    elif isinstance(value, int | float):
        try:
            found = float(value)
        except OverflowError:
            found = math.inf
    elif isinstance(value, list | tuple) and len(value) == 1:
        target.notice("converted", f"{short(value)} was read as its one component")
        return number(value[0], target)
    else:
        raise target.refuse("bad_value", "a number", value)
    if not math.isfinite(found) or abs(found) > FLOAT32_MAX:
        raise target.refuse("not_finite", "a finite number", short(value))
    return found


def clamped(found: float, low: float | None, high: float | None, target: Target) -> float:
    """The number within the declared range."""
    inside = found if low is None or found >= low else low
    inside = inside if high is None or inside <= high else high
    if inside != found:
        span = f"[{'-inf' if low is None else f'{low:g}'}, {'inf' if high is None else f'{high:g}'}]"
        target.notice("clamped", f"{target.key}: {found:g} is outside {span}; set to {inside:g}")
    return inside


def to_float(value: object, socket: Socket, target: Target) -> Value:
    """For VALUE sockets."""
    return clamped(number(parsed(value, target), target), socket.min, socket.max, target)


def to_int(value: object, socket: Socket, target: Target) -> Value:
    """For INT sockets; fractions are rounded."""
    found = clamped(number(parsed(value, target), target), socket.min, socket.max, target)
    whole = round(found)
    if whole != found:
        target.notice("converted", f"{target.key}: {found:g} was rounded to {whole}")
    if abs(whole) >= 2**31:
        raise target.refuse("bad_value", "a 32-bit integer", value)
    return whole


def to_bool(value: object, target: Target) -> bool:
    """For booleans: true and false, 1 and 0, and their words."""
    if isinstance(value, bool):
        return value
    word = value.strip().casefold() if isinstance(value, str) else str(value)
    if word not in TRUTH:
        raise target.refuse("bad_value", "true or false", value)
    target.notice("converted", f"{short(value)} was read as {str(TRUTH[word]).lower()}")
    return TRUTH[word]


def components(value: object, size: int, target: Target, what: str) -> list[float]:
    """A list of numbers as long as given; scalars are repeated."""
    found = parsed(value, target)
    if isinstance(found, list | tuple):
        if len(found) == 1 and size > 1:
            found = found[0]
        else:
            return [number(item, target) for item in found]
    if isinstance(found, dict):
        raise target.refuse("bad_value", what, value)
    single = number(found, target)
    target.notice("converted", f"the scalar {single:g} was repeated for the {size} components of {target.key}")
    return [single] * size


def to_vector(value: object, socket: Socket, target: Target) -> Value:
    """For VECTOR and ROTATION sockets."""
    size = socket.size or 3
    what = f"{size} numbers"
    found = components(value, size, target, what)
    if len(found) == 2 and size == 3:
        target.notice("converted", f"{target.key}: two components, the third is 0")
        found.append(0.0)
    if len(found) != size:
        raise target.refuse("bad_value", what, value)
    return tuple(clamped(item, socket.min, socket.max, target) for item in found)


def linear(encoded: float) -> float:
    """One sRGB component in [0, 1] to linear (IEC 61966-2-1)."""
    return encoded / 12.92 if encoded <= 0.04045 else ((encoded + 0.055) / 1.055) ** 2.4


def from_hex(text: str) -> tuple[float, ...]:
    """Digits of a hex color (RGB, RGBA, RRGGBB, RRGGBBAA) as scene-linear RGBA."""
    digits = "".join(c * 2 for c in text) if len(text) in (3, 4) else text
    parts = [int(digits[i : i + 2], 16) / 255 for i in range(0, len(digits), 2)]
    return (*(linear(part) for part in parts[:3]), parts[3] if len(parts) == 4 else 1.0)


def color(value: object, target: Target, low: float | None = 0.0) -> tuple[float, float, float, float]:
    """Scene-linear RGBA."""
    if (
        isinstance(value, str)
        and (found := HEX.fullmatch(value.strip()))
        and (value.strip()[0] == "#" or not value.strip().isdigit())
    ):
        rgba = from_hex(found.group(1))
        target.notice("parsed", f"{value.strip()} was read as sRGB: linear {', '.join(f'{c:.4g}' for c in rgba)}")
    else:
        numbers = components(value, 3, target, "a color as 3 or 4 numbers or hex text")
        if len(numbers) == 3:
            target.notice("alpha", f"{target.key}: alpha 1 was added")
            numbers.append(1.0)
        rgba = tuple(numbers)
    if len(rgba) != 4:
        raise target.refuse("bad_value", "a color as 3 or 4 numbers or hex text", value)
    red, green, blue, alpha = (clamped(item, low, None, target) for item in rgba)
    return red, green, blue, alpha


def to_text(value: object, target: Target) -> str:
    """Text without NUL or lone surrogates, which Blender cannot store."""
    if not isinstance(value, str):
        raise target.refuse("bad_value", "text", value)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise target.refuse("bad_value", "text that is valid Unicode", value) from None
    if "\0" in value:
        raise target.refuse("bad_value", "text without NUL", value)
    return value


SOCKET_COERCIONS: dict[str, Callable[[object, Socket, Target], Value]] = {
    "VALUE": to_float,
    "INT": to_int,
    "BOOLEAN": lambda value, _, target: to_bool(value, target),
    "VECTOR": to_vector,
    "ROTATION": to_vector,
    "RGBA": lambda value, socket, target: color(value, target, socket.min),
    "STRING": lambda value, _, target: to_text(value, target),
    "MENU": lambda value, _, target: to_text(value, target),
}


def socket_value(value: object, socket: Socket, node: Node) -> tuple[Value, list[Notice]]:
    """What `value` means for a socket; raises ActionRejected when it cannot be one."""
    target = Target(node.id, socket.name)
    reader = SOCKET_COERCIONS.get(socket.type)
    if reader is None or socket.default is None:
        raise target.refuse("no_value", f"a link, since a {socket.type} socket holds no value,", value)
    if socket.type == "VALUE" and type(value) is float and math.isfinite(value):  # the search's case, kept short
        return clamped(value, socket.min, socket.max, target) if abs(value) <= FLOAT32_MAX else reader(
            value, socket, target
        ), target.notices
    return reader(value, socket, target), target.notices


def enum_item(value: object, prop: Property, node: Node, target: Target) -> str:
    """An item of an enum: itself, its former name, or the same but for case."""
    if value in prop.items:
        return str(value)
    former = load_aliases().item(node.type, prop.name, str(value))
    if former in prop.items:
        target.notice("alias", f"{prop.name} {value!r} is now {former!r}")
        return str(former)
    if isinstance(value, str):
        same = [item for item in prop.items if item.casefold() == value.strip().replace(" ", "_").casefold()]
        if len(same) == 1:
            target.notice("near_name", f"{value!r} was read as {same[0]!r}")
            return same[0]
    known = closest(str(value), prop.items)
    raise target.refuse("bad_enum", "an item", value, known, suggest(str(value), prop.items))


def property_scalar(value: object, prop: Property, _: Node, target: Target) -> Value:
    """For float properties."""
    return clamped(number(parsed(value, target), target), prop.min, prop.max, target)


def property_int(value: object, prop: Property, _: Node, target: Target) -> Value:
    """For int properties."""
    return to_int(value, Socket(prop.name, prop.name, "INT", 0, prop.min, prop.max), target)


def property_vector(value: object, prop: Property, _: Node, target: Target) -> Value:
    """For float arrays."""
    return to_vector(value, Socket(prop.name, prop.name, "VECTOR", prop.default, prop.min, prop.max), target)


PROPERTY_COERCIONS: dict[str, Callable[[object, Property, Node, Target], Value]] = {
    "enum": enum_item,
    "bool": lambda value, _, __, target: to_bool(value, target),
    "int": property_int,
    "float": property_scalar,
    "vector": property_vector,
    "string": lambda value, _, __, target: to_text(value, target),
    "datablock": lambda value, _, __, target: to_text(value, target),
}
