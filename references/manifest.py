"""Manifests of reference sets: TOML, JSON or CSV; each entry a path (or a bundled reference's name) and choices."""

from __future__ import annotations

import csv
import io
import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from references.errors import ReferenceFault

MANIFEST_NAMES = ("references.toml", "references.json", "references.csv")
"""Names under which a folder's own manifest is looked for, in this order."""

LARGEST_MANIFEST = 16 * 1024 * 1024
PATH_KEYS = ("path", "file", "image", "reference")
LIST_KEYS = ("references", "items")
_TEXT_KEYS = ("id", "crop", "scale", "mask")
_YES, _NO = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0"})
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


@dataclass(frozen=True)
class Entry:
    """One line of a manifest, its values still as the user wrote them; `meta` holds all other keys."""

    path: str
    id: str | None = None
    sha256: str | None = None
    crop: str | None = None
    scale: str | None = None
    mask: str | None = None
    flatten: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Manifest:
    """A manifest as read: paths are relative to `root`; `faults` are entries that make no sense."""

    name: str
    root: Path
    entries: tuple[Entry, ...]
    faults: tuple[ReferenceFault, ...]


def read_manifest(path: Path) -> Manifest:
    """Read a manifest by its ending. Raises `ReferenceFault` when it is no manifest at all."""
    try:
        if path.stat().st_size > LARGEST_MANIFEST:
            raise ReferenceFault(str(path), f"expected a manifest of at most {LARGEST_MANIFEST >> 20} MB")
        text = path.read_text(encoding="utf-8-sig")
        head, rows = _READERS[path.suffix.lower()](text)
    except UnicodeDecodeError as error:
        raise ReferenceFault(str(path), f"expected UTF-8 text, got byte {error.start} that is none") from None
    except (ValueError, RecursionError, csv.Error) as error:
        raise ReferenceFault(str(path), f"expected a {path.suffix[1:].upper()} manifest, got: {error}") from None
    if not rows:
        raise ReferenceFault(str(path), f"names no reference; expected a list under “{LIST_KEYS[0]}”")
    entries, faults = [], []
    for number, row in enumerate(rows, 1):
        try:
            entries.append(_entry(row, number))
        except ReferenceFault as fault:
            faults.append(fault)
    root = path.parent / str(head.get("root", "."))
    return Manifest(str(head.get("name") or path.stem), root, tuple(entries), tuple(faults))


def _entry(row: Any, number: int) -> Entry:
    where = f"entry {number}"
    row = {"path": row} if isinstance(row, str) else row
    if not isinstance(row, Mapping):
        raise ReferenceFault(where, f"expected a path or a table with one, got {type(row).__name__}")
    values = {str(key).strip(): value for key, value in row.items() if key and value not in (None, "")}
    key = next((known for known in PATH_KEYS if isinstance(values.get(known), str)), None)
    if key is None:
        raise ReferenceFault(where, f"expected a path under one of {', '.join(PATH_KEYS)}, got none")
    path = values.pop(key)
    choices = {name: _text(path, name, values.pop(name)) for name in _TEXT_KEYS if name in values}
    checksum = values.pop("sha256", None)
    if checksum is not None and not _SHA256.fullmatch(str(checksum).strip()):
        raise ReferenceFault(path, f"expected a sha256 of 64 hexadecimal digits, got {str(checksum)[:80]!r}")
    sha256 = None if checksum is None else str(checksum).strip().lower()
    flatten = _truth(path, values.pop("flatten", False))
    return Entry(path, sha256=sha256, flatten=flatten, meta=values, **choices)


def _truth(path: str, value: Any) -> bool:
    text = str(value).strip().lower()
    if text not in _YES | _NO:
        raise ReferenceFault(path, f"flatten: expected true or false, got {text[:80]!r}")
    return text in _YES


def _text(path: str, name: str, value: Any) -> str:
    if isinstance(value, list) and name == "crop":
        return ",".join(str(part) for part in value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ReferenceFault(path, f"{name}: expected text or a number, got {type(value).__name__}")
    return str(value)


def _from_toml(text: str) -> tuple[Mapping[str, Any], list[Any]]:
    return _head_and_rows(tomllib.loads(text))


def _from_json(text: str) -> tuple[Mapping[str, Any], list[Any]]:
    return _head_and_rows(json.loads(text))


def _from_csv(text: str) -> tuple[Mapping[str, Any], list[Any]]:
    first = text.partition("\n")[0]
    reader = csv.DictReader(io.StringIO(text), delimiter=";" if first.count(";") > first.count(",") else ",")
    if not set(PATH_KEYS) & {name.strip() for name in reader.fieldnames or ()}:
        raise ValueError(f"a first line without a column named {' or '.join(PATH_KEYS)}")
    return {}, [{key: value for key, value in row.items() if isinstance(key, str)} for row in reader]


def _head_and_rows(data: Any) -> tuple[Mapping[str, Any], list[Any]]:
    if isinstance(data, list):
        return {}, data
    rows = next((data[key] for key in LIST_KEYS if isinstance(data, Mapping) and isinstance(data.get(key), list)), None)
    if rows is None:
        raise ValueError(f"no list under {' or '.join(LIST_KEYS)}")
    return data, rows


_READERS: Mapping[str, Callable[[str], tuple[Mapping[str, Any], list[Any]]]] = {
    ".toml": _from_toml,
    ".json": _from_json,
    ".csv": _from_csv,
}
