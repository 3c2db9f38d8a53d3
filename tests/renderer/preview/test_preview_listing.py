"""What the documentation says is drawn is what the code draws, and every option of the catalog is drawn or named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from graph_api.catalog import available_versions, load_catalog
from renderer.preview import missing
from renderer.preview.listing import BEGIN, END, listing

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))
ROOT = Path(__file__).resolve().parents[3]
# Options that are left to Blender on purpose.
LEFT = {
    ("ShaderNodeMix", "data_type", "ROTATION"),
    ("ShaderNodeNormalMap", "convention", "DIRECTX"),
    ("ShaderNodeNormalMap", "base", "DISPLACED"),
}


def test_documented_table_is_the_code_s() -> None:
    text = (ROOT / "docs" / "preview.md").read_text(encoding="utf-8")
    assert text.split(BEGIN)[1].split(END)[0].strip() == listing().strip()


def test_page_has_the_figures_of_the_records() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "preview_figures.py"), "--check"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("version", available_versions())
def test_every_option_is_drawn_or_left_on_purpose(version: str) -> None:
    from renderer.preview.nodes import NODES

    catalog = load_catalog(version)
    left = set()
    for name, spec in NODES.items():
        kind = catalog.node(name)
        if kind is None:
            continue
        for prop in kind.properties.values():
            if prop.type == "enum" and prop.name not in catalog.common:
                drawn = spec.options.get(prop.name, ())
                left |= {(name, prop.name, item) for item in prop.items if item not in drawn}
    assert left <= LEFT, sorted(left - LEFT)
