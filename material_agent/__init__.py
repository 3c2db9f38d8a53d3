"""An agent that looks at one picture of a material and builds an editable Blender shader graph that renders like it."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

if sys.version_info[:2] not in ((3, 11), (3, 13)):
    raise ImportError(
        "expected Python 3.11 (Blender 4.5 LTS to 5.0) or 3.13 (Blender 5.1 and later), "
        f"got {sys.version_info[0]}.{sys.version_info[1]}"
    )

if TYPE_CHECKING:
    from material_agent.api import fit_material
    from material_agent.config import RunConfig
    from material_agent.errors import MaterialAgentError
    from material_agent.fit import RunResult

__all__ = ["MaterialAgentError", "RunConfig", "RunResult", "fit_material"]

_HOMES = {"MaterialAgentError": "errors", "RunConfig": "config", "RunResult": "fit", "fit_material": "api"}


def __getattr__(name: str) -> object:
    """Load a public name when it is first used, so that importing the package stays cheap."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
