"""Sets of references: a folder of pictures or a manifest, with ids that do not depend on what else is in the set."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from references.bundled import bundled, bundled_names
from references.errors import ReferenceFault
from references.load import Reference, load_reference
from references.manifest import MANIFEST_NAMES, Entry, read_manifest
from references.preparation import Preparation

PICTURE_SUFFIXES = frozenset(
    {
        *(".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".tif", ".tiff", ".webp", ".gif", ".bmp", ".exr", ".hdr"),
        *(".avif", ".heic", ".heif", ".jp2", ".j2k", ".tga", ".ppm", ".pgm", ".pnm"),
    }
)
"""Endings that make a file of a folder a member of the set; whether it can be read is found out when it is loaded."""

BUNDLED = "bundled"
LONGEST_ID = 80
_PLAIN = re.compile(r"[a-z0-9_-]+")
_RESERVED = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))})


@dataclass(frozen=True)
class SetItem:
    """One reference of a set.

    `id`: safe as a file name on every system, unique in the set even where upper and lower case are one. `source`: what
    `load_reference` takes. `name`: as the folder or the manifest names it. `sha256`: what the manifest declares,
    checked by `load`. `meta`: the manifest's other columns.
    """

    id: str
    source: str
    name: str
    sha256: str | None = None
    preparation: Preparation = field(default_factory=Preparation)
    meta: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> Reference:
        """Load the picture, under the item's id. Raises `ReferenceFault`, also for another checksum than declared."""
        reference = load_reference(self.source, preparation=self.preparation, id=self.id)
        if self.sha256 is not None and reference.sha256 != self.sha256:
            raise ReferenceFault(
                self.name, f"expected the file with sha256 {self.sha256[:12]}…, got {reference.sha256[:12]}…"
            )
        return reference


@dataclass(frozen=True)
class ReferenceSet:
    """References with ids.

    `faults`: entries that cannot be members, each with its reason; `ignored`: files of a folder that are no pictures.
    """

    name: str
    path: Path | None
    items: tuple[SetItem, ...]
    faults: tuple[ReferenceFault, ...] = ()
    ignored: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[SetItem]:
        return iter(self.items)

    def __getitem__(self, item_id: str) -> SetItem:
        """Find an item by its id. Raises `KeyError`."""
        for item in self.items:
            if item.id == item_id:
                return item
        raise KeyError(item_id)

    def checksums(self) -> dict[str, str | None]:
        """sha256 of each item's file, by id; None where it cannot be read."""
        return {item.id: _checksum(item) for item in self.items}

    def to_json(self) -> dict[str, Any]:
        """Describe the set as plain data: what each id stands for."""
        return {
            "schema": "reference-set/1",
            "name": self.name,
            "references": [
                {
                    "id": item.id,
                    "path": item.name,
                    "sha256": item.sha256,
                    **({"meta": dict(item.meta)} if item.meta else {}),
                }
                for item in self.items
            ],
            "faults": [{"path": fault.name, "reason": fault.reason} for fault in self.faults],
            "ignored": list(self.ignored),
        }


def load_set(path: str | Path) -> ReferenceSet:
    """Find the references in a folder (below it as well), a manifest (TOML, JSON, CSV), one picture, or "bundled".

    A folder that holds `references.toml`, `.json` or `.csv` is what that manifest says. Pictures are not read here:
    `SetItem.load` does that, and raises for the bad ones. Raises `ReferenceFault` when there is no set at all.
    """
    name = str(path)
    if name == BUNDLED and not Path(name).exists():
        return _bundled_set()
    if "\0" in name:
        raise ReferenceFault(repr(name), "a file name cannot hold a NUL character")
    place = Path(name).expanduser()
    try:
        if place.is_dir():
            manifest = next((place / known for known in MANIFEST_NAMES if (place / known).is_file()), None)
            return _of_folder(place) if manifest is None else _of_manifest(manifest)
        if place.is_file():
            return _of_manifest(place) if place.suffix.lower() in (".toml", ".json", ".csv") else _of_one(place)
    except OSError as error:
        raise ReferenceFault(name, f"cannot be read: {error.strerror or error}") from None
    if name in bundled_names():
        return ReferenceSet(name, None, (SetItem(_bundled_id(name), name, name),))
    raise ReferenceFault(
        name, "expected a folder, a manifest (.toml, .json, .csv), a picture or “bundled”; nothing is there"
    )


def item_id(name: str) -> str:
    """Make the id of a file from its name in the set ("sub/a.png" → "sub.a-png"), and from nothing else.

    Names of lower-case letters, digits, "_" and "-" are kept; others are spelled out as far as possible and end in six
    hexadecimal digits of the name's SHA-256, so that no two names share an id.
    """
    plain_name = name.replace("\\", "/")
    stem, dot, suffix = plain_name.rpartition(".")
    known = f".{suffix.lower()}" in PICTURE_SUFFIXES
    parts = (stem if dot and known else plain_name).split("/")
    ending = f"-{suffix}" if dot and known else ""
    whole = ".".join(parts) + ending
    clean = all(_PLAIN.fullmatch(part) for part in parts) and (not ending or _PLAIN.fullmatch(ending[1:]))
    if clean and len(whole) <= LONGEST_ID and parts[0] not in _RESERVED and whole[0] != "-":
        return whole
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    spelled = re.sub(r"[^a-z0-9._-]+", "_", whole.lower()).strip("._-")[: LONGEST_ID - 8].rstrip("._-")
    if spelled.split(".")[0] in _RESERVED:
        spelled = "_" + spelled
    return f"{spelled or 'picture'}-{digest}"


def _of_folder(folder: Path) -> ReferenceSet:
    items, ignored = [], []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for file in sorted(files):
            if file.startswith("."):
                continue
            path = Path(place) / file
            name = path.relative_to(folder).as_posix()
            if path.suffix.lower() in PICTURE_SUFFIXES:
                items.append(SetItem(item_id(name), str(path), name))
            else:
                ignored.append(name)
    if not items:
        raise ReferenceFault(str(folder), "holds no picture; known endings: " + ", ".join(sorted(PICTURE_SUFFIXES)))
    return ReferenceSet(
        folder.resolve().name, folder, tuple(sorted(items, key=lambda item: item.name)), (), tuple(ignored)
    )


def _of_one(path: Path) -> ReferenceSet:
    return ReferenceSet(path.stem, path, (SetItem(item_id(path.name), str(path), path.name),))


def _of_manifest(path: Path) -> ReferenceSet:
    manifest = read_manifest(path)
    items: list[SetItem] = []
    faults = list(manifest.faults)
    taken: dict[str, str] = {}
    for entry in manifest.entries:
        try:
            item = _item(entry, manifest.root)
        except ReferenceFault as fault:
            faults.append(fault)
            continue
        other = taken.setdefault(item.id.casefold(), entry.path)
        if other is not entry.path:
            faults.append(
                ReferenceFault(entry.path, f"the id {item.id!r} is that of {other}; give it another with “id”")
            )
            continue
        items.append(item)
    return ReferenceSet(manifest.name, path, tuple(items), tuple(faults))


def _item(entry: Entry, root: Path) -> SetItem:
    if entry.id is not None and (
        not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", entry.id)
        or len(entry.id) > LONGEST_ID
        or entry.id.endswith(".")
        or entry.id.split(".")[0].lower() in _RESERVED
    ):
        raise ReferenceFault(
            entry.path, f"expected an id of up to {LONGEST_ID} letters, digits, “.”, “_” and “-”, got {entry.id!r}"
        )
    try:
        path = root / Path(entry.path).expanduser()
        there = "\0" not in entry.path and path.exists()
    except (OSError, ValueError, RuntimeError):
        there = False
    if not there and not _is_bundled(entry.path):
        raise ReferenceFault(entry.path, f"no such file below {root}, and no bundled reference of this name")
    source = str(path) if there else entry.path
    mask = None if entry.mask is None else root / Path(entry.mask)
    preparation = Preparation.parse(crop=entry.crop, scale=entry.scale, mask=mask, flatten=entry.flatten)
    own_id = entry.id or (item_id(entry.path) if there else _bundled_id(entry.path))
    return SetItem(own_id, source, entry.path, entry.sha256, preparation, entry.meta)


def _is_bundled(name: str) -> bool:
    return name.removesuffix(":twin") in bundled_names()


def _bundled_id(name: str) -> str:
    """Make the id of a bundled reference; beside letters its name holds at most the colon of "skimage:" or ":twin"."""
    return name.replace(":", "-")


def _bundled_set() -> ReferenceSet:
    known = {entry.id: entry for entry in bundled()}
    items = tuple(
        SetItem(
            _bundled_id(name),
            name,
            name,
            known[name].image_sha256 if name in known else None,
            meta={"family": known[name].family, "structure": known[name].structure} if name in known else {},
        )
        for name in bundled_names()
    )
    return ReferenceSet(BUNDLED, None, items)


def _checksum(item: SetItem) -> str | None:
    from references.bundled import bundled_path  # noqa: PLC0415 - beside its only use

    try:
        path = Path(item.source) if Path(item.source).is_file() else bundled_path(item.source)
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ReferenceFault):
        return None
