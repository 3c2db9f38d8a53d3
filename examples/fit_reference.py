"""Fit a bundled reference and say what came of it.

Run: .venv/bin/python examples/fit_reference.py
"""

from __future__ import annotations

from pathlib import Path

from material_agent import RunConfig, fit_material
from material_agent.events import Event


def tell(event: Event) -> None:
    """Print every verdict as it comes in."""
    if event.kind == "evaluation":
        print(f"attempt {event.attempt}: reward {event.evaluation.reward:.3f}")  # type: ignore[attr-defined]


def main() -> None:
    """One draft run."""
    config = RunConfig(reference="pebbles", out=Path("runs/example"), quality="draft", attempts=1, seed=7)
    result = fit_material(config, progress=tell, overwrite=True)
    print(result.outcome, result.reason)
    for name, path in result.files.items():
        print(f"{name:<12}{config.out / path}")


# Blender's workers are processes of their own: without this guard nothing breaks, but imports would start a run.
if __name__ == "__main__":
    main()
