"""The published schemas are those of the code."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_schemas_in_docs_are_current():
    spec = importlib.util.spec_from_file_location("dump_schemas", ROOT / "scripts" / "dump_schemas.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    schemas = module.schemas()
    assert set(schemas) == {"analysis.schema.json", "events.schema.json", "result.schema.json"}
    for name, schema in schemas.items():
        stored = json.loads((ROOT / "docs" / "schemas" / name).read_text("utf-8"))
        assert stored == schema, f"{name} is not current: run scripts/dump_schemas.py"
