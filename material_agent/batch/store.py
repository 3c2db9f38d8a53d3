"""Where a batch writes: a folder of this machine, or any place that fsspec can write to."""

from __future__ import annotations

import fcntl
import hashlib
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from material_agent.errors import BadInput


class Store(Protocol):
    """Files by name ("runs/a/result.json") below one root. Writes are whole or not at all."""

    root: str

    def read(self, name: str) -> bytes | None:
        """The content of a file, None when there is none."""
        ...

    def write(self, name: str, data: bytes) -> None:
        """Write a file; a reader sees the old content or the new."""
        ...

    def local(self, name: str) -> Path | None:
        """The folder `name` on this machine, None when it is elsewhere."""
        ...

    def upload(self, name: str, folder: Path) -> None:
        """Replace what is below `name` by the files of `folder`."""
        ...

    def intact(self, name: str, files: Mapping[str, str]) -> str:
        """Compare the files below `name` with their sha256; what is wrong with the first bad one, or empty."""
        ...

    def locked(self) -> Any:
        """Hold the store for this batch, as a context manager. Raises `BadInput` when another holds it."""
        ...


def open_store(out: str) -> Store:
    """The store at a path or URL. Raises `BadInput` when nothing can be written there."""
    if "://" not in out:
        return Folder(Path(out))
    return Remote(out)


def sha256_of(path: Path) -> str:
    """The hash of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Folder:
    """A folder of this machine."""

    def __init__(self, root: Path) -> None:
        # Tasks run in folders of their own, so that a relative path would mean another place there.
        self._root = root.expanduser().absolute()
        self.root = str(self._root)
        try:
            self._root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"expected a folder to write to, got {self.root!r}: {error.strerror}") from error

    def read(self, name: str) -> bytes | None:
        """The content of a file, None when there is none."""
        try:
            return (self._root / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    def write(self, name: str, data: bytes) -> None:
        """Write a file through a temporary one beside it."""
        write_whole(self._root / name, data)

    def local(self, name: str) -> Path | None:
        """The folder itself."""
        return self._root / name

    def upload(self, name: str, folder: Path) -> None:
        """Nothing is to be moved: a task writes into its folder."""

    def intact(self, name: str, files: Mapping[str, str]) -> str:
        """Hash every file."""
        for file, digest in files.items():
            path = self._root / name / file
            if not path.is_file():
                return f"{file} is missing"
            if sha256_of(path) != digest:
                return f"{file} was changed or cut"
        return ""

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder; the system lets go when this process ends, however it ends."""
        handle = os.open(self._root, os.O_RDONLY)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BadInput(f"expected a folder of one's own, got {self.root}, where a batch is going on") from None
            yield
        finally:
            os.close(handle)


class Remote:
    """A place behind a URL. One batch at a time must write to it: object stores know no locks."""

    def __init__(self, url: str) -> None:
        import fsspec  # noqa: PLC0415 - most batches write to a folder

        self.root = url.rstrip("/")
        try:
            self._system, self._path = fsspec.core.url_to_fs(self.root)
            self._system.makedirs(self._path, exist_ok=True)
        except (ImportError, ValueError, OSError) as error:
            raise BadInput(f"expected a URL that fsspec can write to, got {url!r}: {error}") from error

    def read(self, name: str) -> bytes | None:
        """The content of a file, None when there is none."""
        try:
            return bytes(self._system.cat_file(self._at(name)))
        except (FileNotFoundError, IsADirectoryError):
            return None

    def write(self, name: str, data: bytes) -> None:
        """Write a file; on systems whose writes are not whole, through a temporary one."""
        target = self._at(name)
        self._system.makedirs(target.rpartition("/")[0], exist_ok=True)
        partial = f"{target}.{uuid.uuid4().hex[:8]}.partial"
        self._system.pipe_file(partial, data)
        self._system.mv(partial, target)

    def local(self, name: str) -> Path | None:
        """Elsewhere."""
        return None

    def upload(self, name: str, folder: Path) -> None:
        """Replace what is below `name` by the files of `folder`."""
        target = self._at(name)
        if self._system.exists(target):
            self._system.rm(target, recursive=True)
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                place = f"{target}/{path.relative_to(folder).as_posix()}"
                self._system.makedirs(place.rpartition("/")[0], exist_ok=True)
                self._system.put_file(str(path), place)

    def intact(self, name: str, files: Mapping[str, str]) -> str:
        """Read and hash every file: a size alone would miss a damaged one."""
        for file, digest in files.items():
            data = self.read(f"{name}/{file}")
            if data is None:
                return f"{file} is missing"
            if hashlib.sha256(data).hexdigest() != digest:
                return f"{file} was changed or cut"
        return ""

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nothing holds a URL."""
        yield

    def _at(self, name: str) -> str:
        return f"{self._path}/{name}"


def write_whole(path: Path, data: bytes) -> None:
    """Write a local file through a temporary one beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    try:
        partial.write_bytes(data)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
