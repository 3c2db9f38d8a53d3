"""What the documentation says can be done."""

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from material_agent.cli.app import USAGE_ERROR, application, run
from material_agent.cli.commands import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def blocks(language):
    return [(page, body) for page in PAGES for kind, body in BLOCK.findall(page.read_text()) if kind == language]


SHELL = [line for _, body in blocks("sh") for line in body.splitlines()]
COMMAND_LINES = sorted({line for line in SHELL if line.startswith("material-agent")})
TARGETS = sorted({match for line in SHELL for match in re.findall(r"^make ([a-z-]+)", line)})


def parses(words):
    """What is wrong with a command line, without running it; an empty text when nothing is."""
    commands = typer.main.get_command(application()).commands
    if words[0] not in commands:
        return f"no command {words[0]}"
    try:
        commands[words[0]].make_context(words[0], words[1:])
    except USAGE_ERROR as error:
        return str(error)
    return ""


def test_there_is_something_to_check():
    assert len(COMMAND_LINES) >= 10
    assert {"demo", "test", "check"} <= set(TARGETS)


@pytest.mark.parametrize("line", COMMAND_LINES)
def test_a_documented_command_parses(line):
    words = shlex.split(line, comments=True)[1:]
    assert parses(words) == ""


def test_parsing_notices_what_is_wrong():
    assert "--colour" in parses(["fit", "brick_wall", "--colour", "red"])
    assert "paint" in parses(["paint", "brick_wall"])


@pytest.mark.parametrize("target", TARGETS)
def test_a_documented_make_target_exists(target):
    result = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_documented(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert run([name, "--help"]) == 0
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", capsys.readouterr().out)) - {"--help", "--json"}
    text = (ROOT / "docs" / "cli.md").read_text()
    section = text.split(f"## {name}\n")[1].split("\n## ")[0]
    assert {option for option in options if option not in section} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    broken = [
        target
        for target in LINK.findall(page.read_text())
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert not broken


def test_python_in_the_documentation_imports_what_exists():
    for page, body in blocks("python"):
        imports = [node for node in ast.parse(body).body if isinstance(node, ast.Import | ast.ImportFrom)]
        code = "\n".join(ast.unparse(node) for node in imports)
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert result.returncode == 0, f"{page.name}: {result.stderr}"


def test_the_example_that_needs_no_run_does_what_it_says(tmp_path):
    script = ROOT / "examples" / "build_graph.py"
    result = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "did you mean Scale?" in result.stdout
    assert (tmp_path / "runs/built/stains.blend").stat().st_size > 0
    assert (tmp_path / "runs/built/maps/base_color.png").is_file()
