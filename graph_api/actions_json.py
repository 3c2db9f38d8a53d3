"""Actions as JSON, and the schemas for models and MCP: both made from the dataclasses, there is no second list."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from graph_api.actions import ACTIONS, Action
from graph_api.depth import DEEPEST, too_deep
from graph_api.errors import ActionRejected, MalformedGraph
from graph_api.model import Value
from graph_api.resolve import closest, suggest
from graph_api.values_json import value_from_json, value_to_json

Json = dict[str, Any]

VALUE_SCHEMA: Json = {
    "anyOf": [{"type": kind} for kind in ("number", "string", "boolean")]
    + [{"type": "array", "items": {}}, {"type": "object"}],
    "description": "a number, text (an enum item, a hex color), true or false, a list of numbers, "
    'or for a color ramp {"stops": [{"position": 0.0, "color": [r, g, b, a]}], "interpolation": "LINEAR"}',
}


@cache
def _hints(op: str) -> dict[str, Any]:
    return get_type_hints(ACTIONS[op])


def _is_value(hint: object) -> bool:
    return hint == Value


def _schema_of(hint: Any) -> Json:
    if _is_value(hint):
        return dict(VALUE_SCHEMA)
    if get_origin(hint) is Literal:
        return {"type": "string", "enum": list(get_args(hint))}
    if get_origin(hint) is tuple:
        return {"type": "array", "items": {"type": "string"}}
    assert hint is str or hint == str | None, f"{hint}: the actions' other fields are text"
    return {"type": "string"}


@cache
def _schema(op: str) -> Json:
    kind = ACTIONS[op]
    properties, required = {}, []
    for field in fields(kind):
        properties[field.name] = _schema_of(_hints(op)[field.name])
        if field.default is MISSING:
            required.append(field.name)
        elif field.default not in (None, ""):
            default = field.default
            properties[field.name]["default"] = list(default) if isinstance(default, tuple) else default
    text = " ".join(inspect.getdoc(kind).split()) if kind.__doc__ else ""  # type: ignore[union-attr]
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"name": op, "description": text, "parameters": parameters}


def action_schema() -> dict[str, Json]:
    """For each action its `name`, `description` and `parameters` (a JSON schema of its fields)."""
    return {op: {**_schema(op)} for op in ACTIONS}


def action_to_json(action: Action) -> Json:
    """An action as `{"op": …, fields}`; fields at their default are left out."""
    found: Json = {"op": action.op}
    for field in fields(action):
        value = getattr(action, field.name)
        if field.default is MISSING or value != field.default:
            hint = _hints(action.op)[field.name]
            found[field.name] = _open(value) if _is_value(hint) else list(value) if isinstance(value, tuple) else value
    return found


def _open(value: object) -> Any:
    """The value of a `set_param`, which may still be a model's own JSON."""
    if isinstance(value, Mapping):
        return {str(key): _open(item) for key, item in value.items()}
    if isinstance(value, list) or (isinstance(value, tuple) and any(isinstance(item, list | dict) for item in value)):
        return [_open(item) for item in value]
    return value_to_json(value)  # type: ignore[arg-type]


def action_from_json(data: object) -> Action:
    """The action that a model or a client wrote; raises `ActionRejected` (code `bad_action`) with what is wrong.

    A value is taken as it is: `apply` knows what it is for and coerces it.
    """
    if too_deep(data):
        raise ActionRejected("bad_action", f"JSON of at most {DEEPEST} levels", "a deeper one")
    if not isinstance(data, Mapping):
        raise ActionRejected("bad_action", 'an object {"op": …}', repr(data)[:80], known=tuple(ACTIONS))
    op = data.get("op")
    kind = ACTIONS.get(op) if isinstance(op, str) else None
    if kind is None:
        near = suggest(op, ACTIONS) if isinstance(op, str) else None
        raise ActionRejected(
            "bad_action", "the name of an action as op", repr(op)[:80], known=tuple(ACTIONS), suggestion=near
        )
    known = [field.name for field in fields(kind)]
    unknown = [str(key) for key in data if key != "op" and key not in known]
    if unknown:
        names = closest(unknown[0], known)
        raise ActionRejected("bad_action", f"fields of {op}", ", ".join(unknown), known=names)
    missing = [field.name for field in fields(kind) if field.default is MISSING and field.name not in data]
    if missing:
        raise ActionRejected("bad_action", f"{', '.join(missing)} in {op}", "nothing", known=tuple(known))
    hints = _hints(kind.op)
    return kind(**{name: _field(data[name], hints[name], f"{op}.{name}") for name in known if name in data})


def _field(raw: object, hint: Any, where: str) -> Any:
    if _is_value(hint):
        return _value(raw, where)
    if get_origin(hint) is Literal:
        if raw not in get_args(hint):
            raise ActionRejected("bad_action", f"one of its items as {where}", repr(raw)[:80], known=get_args(hint))
        return raw
    if get_origin(hint) is tuple:
        if not isinstance(raw, list | tuple) or not all(isinstance(item, str) for item in raw):
            raise ActionRejected("bad_action", f"a list of text as {where}", repr(raw)[:80])
        return tuple(raw)
    optional = get_origin(hint) in (Union, types.UnionType)
    if not isinstance(raw, str) and not (optional and raw is None):
        raise ActionRejected("bad_action", f"text as {where}", repr(raw)[:80])
    return raw


def _value(raw: object, where: str) -> object:
    """A stored value as the model's; anything else as the plain JSON it is, for `apply` to read."""
    if isinstance(raw, Mapping) and ("kind" in raw or "float" in raw):
        try:
            return value_from_json(raw, where)
        except MalformedGraph as error:
            raise ActionRejected("bad_action", f"{error.expected} at {error.where}", error.got) from None
    if isinstance(raw, list | tuple):
        return tuple(_value(item, where) for item in raw)
    if raw is None:
        raise ActionRejected("bad_action", f"a value as {where}", "null")
    return raw
