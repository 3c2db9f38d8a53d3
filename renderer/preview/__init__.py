"""renderer.preview: the same materials through one fused kernel, in milliseconds and with derivatives.

Importing it needs neither Dr.Jit nor LLVM; using it raises `PreviewUnavailable` with the command that installs them.
"""

from renderer.preview.backend import missing
from renderer.preview.engine import Kernel, PreviewEngine
from renderer.preview.errors import PreviewUnavailable, PreviewUnsupported
from renderer.preview.pictures import Pictures
from renderer.preview.renderer import PreviewRenderer
from renderer.preview.support import unsupported

__all__ = [
    "Kernel",
    "Pictures",
    "PreviewEngine",
    "PreviewRenderer",
    "PreviewUnavailable",
    "PreviewUnsupported",
    "missing",
    "unsupported",
]
