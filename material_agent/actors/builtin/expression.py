"""Arithmetic in structure files: numbers, names, + - * / **, and a few functions. Nothing else is evaluated."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "min": min,
    "max": max,
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "abs": abs,
}
_CONSTANTS = {"pi": math.pi}


class ExpressionError(ValueError):
    """An expression that is not arithmetic, or that names something unknown."""


@lru_cache(maxsize=2048)
def _parse(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise ExpressionError(f"expected arithmetic, got {text!r}") from error


def evaluate(text: str, names: Mapping[str, float]) -> float:
    """The value of `text` with `names` for its variables. Raises `ExpressionError`."""
    try:
        return float(_value(_parse(text), names))
    except (ZeroDivisionError, OverflowError, ValueError) as error:
        raise ExpressionError(f"expected a finite value of {text!r}, got {error}") from error


def _value(node: ast.expr, names: Mapping[str, float]) -> Any:
    match node:
        case ast.Constant(value=int() | float()):
            return node.value
        case ast.Name(id=name):
            if name in names:
                return names[name]
            if name in _CONSTANTS:
                return _CONSTANTS[name]
            raise ExpressionError(f"expected a parameter, got {name!r}; known: {', '.join(sorted(names))}")
        case ast.UnaryOp(op=ast.USub()):
            return -_value(node.operand, names)
        case ast.BinOp() if type(node.op) in _BINARY:
            return _BINARY[type(node.op)](_value(node.left, names), _value(node.right, names))
        case ast.Call(func=ast.Name(id=name), keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(item, names) for item in node.args))
    raise ExpressionError(f"expected numbers, names, + - * / ** and {', '.join(_FUNCTIONS)}; got {ast.unparse(node)!r}")
