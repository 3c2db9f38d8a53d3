"""The JSON schema of an analysis, made from the types that hold it."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from references.analysis.model import SCHEMA_VERSION, Inferred, Measured

_PLAIN: dict[Any, dict[str, Any]] = {
    float: {"type": "number"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    str: {"type": "string"},
}


def analysis_schema() -> dict[str, Any]:
    """The schema of `Analysis.to_json`: arrays are nested lists, masks are left out."""
    return {
        "title": "The analysis of a reference",
        "type": "object",
        "properties": {
            "schema": {"const": f"analysis/{SCHEMA_VERSION}"},
            "measured": _schema(Measured),
            "inferred": _schema(Inferred),
        },
        "required": ["schema", "measured", "inferred"],
        "additionalProperties": False,
    }


def _schema(kind: Any) -> dict[str, Any]:
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    if kind is type(None):
        return {"type": "null"}
    fields = _fields(kind)
    if fields is not None:
        shown = {name: _schema(hint) for name, hint in fields.items() if not _is_mask(hint)}
        about = " ".join((kind.__doc__ or "").split())
        return {
            "type": "object",
            "description": about,
            "properties": shown,
            "required": list(shown),
            "additionalProperties": False,
        }
    return _generic(kind)


def _generic(kind: Any) -> dict[str, Any]:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(one) for one in arguments]}
    if origin is np.ndarray:
        return {"type": "array"}
    if origin is tuple and arguments[-1] is Ellipsis:
        return {"type": "array", "items": _schema(arguments[0])}
    if origin is tuple:
        return {"type": "array", "prefixItems": [_schema(one) for one in arguments], "items": False}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(arguments[1])}
    raise TypeError(f"expected a type that JSON can hold, got {kind!r}")


def _fields(kind: Any) -> dict[str, Any] | None:
    """Names and types of a dataclass or named tuple; None for anything else."""
    if dataclasses.is_dataclass(kind):
        names = [item.name for item in dataclasses.fields(kind)]
    elif isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        names = list(kind._fields)
    else:
        return None
    hints = get_type_hints(kind)
    return {name: hints[name] for name in names}


def _is_mask(hint: Any) -> bool:
    return get_origin(hint) is np.ndarray and np.bool_ in get_args(get_args(hint)[-1])
