"""`material-agent calibrate`."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from material_agent.cli.exits import Exit
from material_agent.cli.options import Json
from material_agent.cli.output import Reply

BAR_WRONG, BAR_RIGHT, BAR_ORDER = 0.03, 0.15, 0.95
"""What must be met at the largest size, at which materials are accepted."""


def calibrate(
    photos: Annotated[
        Path | None,
        typer.Option("--photos", envvar="MATERIAL_AGENT_PHOTOS", help="A folder of photographs.", show_default=False),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The weights file to write.")] = Path("weights.json"),
    cache: Annotated[
        Path, typer.Option("--cache", help="A folder for renders and distances; a second run reads them.")
    ] = Path("calibration-cache"),
    per_family: Annotated[
        int | None, typer.Option("--per-family", min=1, help="Bundled materials of each family.", show_default=False)
    ] = None,
    at_hand: Annotated[
        bool, typer.Option("--at-hand", help="Measure nothing: fit on what the cache holds of an earlier run.")
    ] = False,
    json: Json = False,
) -> Reply:
    """Fit the evaluator's weights and thresholds on materials of known truth, and say how right they are."""
    from material_agent.calibrate.calibration import calibrated, write
    from material_agent.calibrate.collect import bundled_materials, chosen, collect, photographs

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    materials = [*photographs(photos, say), *bundled_materials()]
    table = collect(materials, chosen(materials, per_family), cache, say, at_hand=at_hand)
    command = "material-agent calibrate" + (" --photos DIR" if photos else "")
    command += f" --per-family {per_family}" if per_family else ""
    command += " --at-hand" if at_hand else ""
    date = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    result = calibrated(table, command=command, date=date)
    write(result, output)
    figures = result["made_by"]["figures"]
    lines = [line for size, found in figures.items() for line in _lines(size, found)]
    data = {"output": output, "comparisons": len(table.rows), "figures": figures}
    met = _met(figures[max(figures, key=int)])
    return Reply("calibrate", data, "\n".join([*lines, str(output)]), Exit.SUCCESS if met else Exit.NOT_ACCEPTED)


def _met(figures: Mapping[str, Any]) -> bool:
    held_out, order = figures["held_out"], figures["order"]
    return bool(
        held_out["pass_given_wrong_upper95"] <= BAR_WRONG
        and held_out["fail_given_right"] <= BAR_RIGHT
        and (order["agreement"] is None or order["agreement"] >= BAR_ORDER)
    )


def _lines(size: str, figures: Mapping[str, Any]) -> list[str]:
    found, order = figures["held_out"], figures["order"]
    return [
        f"{size} px, held out by family, {found['materials']} materials:",
        f"  P(pass | wrong) {found['pass_given_wrong']:.1%}, at most {found['pass_given_wrong_upper95']:.1%} (95 %), "
        f"{found['wrong_count']} wrong, {found['hard_count']} of them hard",
        f"  P(fail | right) {found['fail_given_right']:.1%} of {found['right_count']}",
        f"  P(wrong | pass) {found['wrong_given_pass_at_0.5']:.1%} where half are wrong, "
        f"{found['wrong_given_pass_at_0.9']:.1%} where nine in ten are",
        f"  order of graded damage right in {order['agreement'] or 0:.1%} of {order['pairs']} pairs",
    ]
