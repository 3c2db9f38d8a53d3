"""What the panel remembers: the open run and the attempt that is looked at."""

import bpy

from .runs import Attempt, Run, read_run

_RUNS: dict[str, Run] = {}


class MaterialAgentState(bpy.types.PropertyGroup):
    """Where the user stands; lives with the window manager, so that no file is changed by looking."""

    folder: bpy.props.StringProperty(name="Run", description="The folder of the open run")
    attempt: bpy.props.IntProperty(name="Attempt", description="The attempt that is shown", min=0, default=0)


def open_run(state: MaterialAgentState, folder: str) -> Run:
    """Read a run and show its best attempt. Raises `RunUnreadable`."""
    run = read_run(folder)
    _RUNS[run.folder] = run
    state.folder = run.folder
    state.attempt = run.best_index
    return run


def current(state: MaterialAgentState) -> tuple[Run, Attempt] | None:
    """The open run and the attempt that is shown; None when none is open."""
    run = _RUNS.get(state.folder)
    if run is None or not run.attempts:
        return None
    return run, run.attempts[min(state.attempt, len(run.attempts) - 1)]


def forget() -> None:
    """Let go of what was read."""
    _RUNS.clear()


CLASSES = (MaterialAgentState,)
