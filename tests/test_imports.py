"""Importing is cheap and pulls in only what a layer may use; looked at in fresh processes."""

import subprocess
import sys

import pytest

PACKAGES = ("graph_api", "renderer", "evaluators", "references", "material_agent")
# Package → what its import must not load, by top-level module.
FORBIDDEN = {
    "graph_api": {
        "bpy",
        "numpy",
        "torch",
        "pydantic",
        "scipy",
        "PIL",
        "renderer",
        "evaluators",
        "references",
        "material_agent",
    },
    "renderer": {"bpy", "torch", "pydantic", "evaluators", "references", "material_agent"},
    "renderer.blender": {"bpy", "torch", "pydantic", "evaluators", "references", "material_agent"},
    "evaluators": {"bpy", "torch", "references", "material_agent"},
    "references": {"bpy", "torch", "material_agent"},
    "material_agent": {"bpy", "torch", "numpy"},
    "material_agent.cli": {"bpy", "torch", "numpy", "renderer", "evaluators", "references"},
}


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)


def loaded_by(statement: str) -> set[str]:
    """Top-level modules that `statement` loads in a fresh process."""
    result = python(f"import sys; before = set(sys.modules); {statement}; print(*sorted(set(sys.modules) - before))")
    assert result.returncode == 0, result.stderr
    return {name.split(".")[0] for name in result.stdout.split()}


@pytest.mark.parametrize("package", FORBIDDEN)
def test_importing_loads_nothing_from_above_or_beside(package):
    loaded = loaded_by(f"import {package}")
    assert package.split(".")[0] in loaded
    assert not loaded & FORBIDDEN[package]


def test_graph_api_loads_only_the_standard_library():
    assert loaded_by("import graph_api") <= set(sys.stdlib_module_names) | {"graph_api"}


@pytest.mark.parametrize("package", PACKAGES)
def test_what_a_package_promises_is_there(package):
    code = (
        f"import {package} as p; assert len(set(p.__all__)) == len(p.__all__); [getattr(p, name) for name in p.__all__]"
    )
    result = python(code)
    assert result.returncode == 0, result.stderr


def test_an_unsupported_python_is_told_so():
    result = python("import sys; sys.version_info = (3, 12, 1, 'final', 0)\nimport material_agent")
    assert result.returncode == 1
    assert "expected Python 3.11" in result.stderr.splitlines()[-1]
