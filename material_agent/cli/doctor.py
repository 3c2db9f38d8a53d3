"""`material-agent doctor`."""

from __future__ import annotations

from material_agent.cli.exits import Exit
from material_agent.cli.options import Json
from material_agent.cli.output import Reply

_MARKS = {"ok": "ok      ", "missing": "MISSING ", "optional": "optional"}


def doctor(json: Json = False) -> Reply:
    """Tell what is missing on this machine, and the command that installs it."""
    from material_agent.doctor import examine

    checks = examine()
    lines = []
    for check in checks:
        lines.append(f"{_MARKS[check.status]}  {check.name}: {check.detail}")
        if check.command and check.status != "ok":
            lines.append(f"          → {check.command}")
    lacking = [check.name for check in checks if check.status == "missing"]
    lines.append(f"missing: {', '.join(lacking)}" if lacking else "everything that is required is here")
    code = Exit.ENVIRONMENT if lacking else Exit.SUCCESS
    return Reply("doctor", {"ok": not lacking, "checks": checks}, "\n".join(lines), code)
