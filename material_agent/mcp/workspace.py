"""The one folder that a client can reach: what it names is inside, or refused."""

from __future__ import annotations

from pathlib import Path

from material_agent.errors import BadInput


class Workspace:
    """A folder. Every path of a client is relative to it; links that lead out of it are refused like paths that do."""

    def __init__(self, root: Path) -> None:
        """Raises `BadInput` when `root` cannot be a folder."""
        try:
            root.mkdir(parents=True, exist_ok=True)
            self.root = root.resolve(strict=True)
        except OSError as error:
            raise BadInput(f"expected a folder as workspace, got {str(root)!r}: {error.strerror}") from error

    def existing(self, name: str) -> Path:
        """A file of the workspace. Raises `BadInput` for anything else, whether or not it exists outside."""
        path = self._inside(name)
        if not _is_file(path):
            raise BadInput(f"expected a file of the workspace, got {name!r}")
        return path

    def new(self, name: str) -> Path:
        """A place to write to; folders on the way are made. Raises `BadInput` when it is outside, or a folder."""
        path = self._inside(name)
        if path == self.root or path.is_dir():
            raise BadInput(f"expected the name of a file in the workspace, got {name!r}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"expected a place in the workspace to write to, got {name!r}: {error.strerror}") from error
        return path

    def folder(self, name: str) -> Path:
        """A folder to write into; it need not exist. Raises `BadInput` when it is outside, a file, or holds links."""
        path = self._inside(name)
        if path.is_dir() and any(entry.is_symlink() for entry in path.iterdir()):
            raise BadInput(f"expected a folder without links, got {name!r}")
        if path.exists() and not path.is_dir():
            raise BadInput(f"expected the name of a folder in the workspace, got {name!r}, a file")
        return path

    def _inside(self, name: str) -> Path:
        """The real path behind a name: links are followed before the place is judged."""
        if not name or "\0" in name or Path(name).is_absolute() or ".." in Path(name).parts:
            raise BadInput(f"expected a relative path inside the workspace, got {name[:120]!r}")
        try:
            path = (self.root / name).resolve()
        except (OSError, RuntimeError) as error:  # a name too long, a circle of links
            raise BadInput(f"expected a path inside the workspace, got {name[:120]!r}") from error
        if not path.is_relative_to(self.root):
            raise BadInput(f"expected a path inside the workspace, got {name[:120]!r}, which leads out of it")
        return path


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name too long for any file
        return False
