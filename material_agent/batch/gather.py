"""From what a user names to the references of a batch, each with an id of its own."""

from __future__ import annotations

import glob
import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from references import ReferenceFault, ReferenceSet, SetItem, load_set
from references.sets import item_id


class Fault(NamedTuple):
    """An input that cannot be a task, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Gathered:
    """The references of a batch, in a fixed order; what was asked for and cannot be one; remarks."""

    items: tuple[SetItem, ...]
    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()


def gather(references: Sequence[str]) -> Gathered:
    """Find the references that folders, manifests, pictures, patterns and bundled names stand for.

    The id of a reference is made of its name in its folder or manifest. Where two sources bring the same id, both get
    the name of their folder as well. A file that is named twice is one task.
    """
    sets: list[ReferenceSet] = []
    faults: list[Fault] = []
    for name in references:
        for place in _expanded(name):
            try:
                sets.append(load_set(place))
            except ReferenceFault as error:
                faults.append(Fault(error.name, error.reason))
    faults += [Fault(fault.name, fault.reason) for one in sets for fault in one.faults]
    ignored = [name for one in sets for name in one.ignored]
    notes = [f"{len(ignored)} files are no pictures and were left out: {_some(ignored)}"] if ignored else []
    items, twice = _once(sets)
    if twice:
        notes.append(f"{len(twice)} references were named twice and are done once: {_some(twice)}")
    return Gathered(tuple(items), tuple(faults), tuple(notes))


def _expanded(name: str) -> list[str]:
    if "\0" in name or not glob.has_magic(name) or Path(name).exists():
        return [name]
    # Path.glob takes no absolute pattern.
    found = sorted(path for path in glob.glob(name, recursive=True) if Path(path).is_file())  # noqa: PTH207
    return found or [name]


def _once(sets: Sequence[ReferenceSet]) -> tuple[list[SetItem], list[str]]:
    """Every reference once, with unique ids."""
    found: dict[tuple[str, str], tuple[ReferenceSet, SetItem]] = {}
    twice = []
    for one in sets:
        for item in one:
            path = Path(item.source)
            key = (str(path.resolve()) if path.exists() else item.source, repr(item.preparation))
            if key in found:
                twice.append(item.name)
            else:
                found[key] = (one, item)
    held = Counter(item.id.casefold() for _, item in found.values())
    items = [item if held[item.id.casefold()] == 1 else _qualified(one, item) for one, item in found.values()]
    still = Counter(item.id.casefold() for item in items)
    items = [item if still[item.id.casefold()] == 1 else _by_path(item) for item in items]
    return items, twice


def _qualified(one: ReferenceSet, item: SetItem) -> SetItem:
    folder = one.name if one.path is None or one.path.is_dir() else one.path.resolve().parent.name
    return replace(item, id=item_id(f"{folder}/{item.name}"))


def _by_path(item: SetItem) -> SetItem:
    # One file may be in a batch several times, each with another preparation.
    digest = hashlib.sha256(repr(item.preparation).encode()).hexdigest()[:8]
    return replace(item, id=item_id(f"{Path(item.source).resolve().as_posix().lstrip('/')}/{digest}"))


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
