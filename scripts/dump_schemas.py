"""Write the JSON schemas of what a run leaves behind to docs/schemas. Run it after changing a record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from material_agent.events import ADAPTER
from material_agent.fit import RunResult
from references.analysis.schema import analysis_schema

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "schemas"


def schemas() -> dict[str, dict[str, Any]]:
    """The schemas by file name."""
    events = ADAPTER.json_schema(mode="serialization")
    return {
        "analysis.schema.json": {"$schema": DIALECT, **analysis_schema()},
        "events.schema.json": {"$schema": DIALECT, "title": "One line of events.jsonl", **events},
        "result.schema.json": {"$schema": DIALECT, **RunResult.model_json_schema(mode="serialization")},
    }


DIALECT = "https://json-schema.org/draft/2020-12/schema"


def main() -> None:
    """Write every schema."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, schema in schemas().items():
        (FOLDER / name).write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
