"""Rules of the house that no linter has."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("graph_api", "renderer", "evaluators", "references", "material_agent")
LONGEST = 400
# Time may be measured where it is a safety stop or told to people; never where a number or a graph is made.
CLOCKS = {
    "material_agent/budget.py": "the ledger measures a run's seconds",
    "material_agent/events/log.py": "events carry the time for people",
    "material_agent/cli/calibrate.py": "the weights file says on which day it was made",
    "material_agent/cli/progress.py": "the display shows the time that is left",
    "material_agent/cli/batch_progress.py": "the display shows how long each task has run",
    "material_agent/batch/progress.py": "pace and time left, for the display",
    "material_agent/batch/run.py": "how often the gallery is written while a batch runs",
    "material_agent/batch/runner.py": "the time limit of a task, and how long it took",
    "material_agent/batch/task.py": "how long a task took, and patience with a folder in use",
}
CLOCK_PREFIXES = ("renderer/",)  # time limits of renders, and how long they took
PATHS = re.compile(r"(?<![\w.])/(?:home|Users|root|work)/\w")
GLOBAL_RANDOM = {"random", "np.random", "numpy.random"}
ALLOWED_RANDOM = {"default_rng", "Generator", "SeedSequence", "PCG64", "BitGenerator", "Philox"}
CLOCK_CALLS = {
    "time.time", "time.time_ns", "time.monotonic", "time.perf_counter", "time.process_time", "datetime.now",
    "datetime.utcnow", "datetime.today", "date.today", "datetime.datetime.now", "datetime.date.today",
}  # fmt: skip


def committed() -> list[Path]:
    """Files that git knows or would know; outside a checkout, every file below the packages."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    names = listing.stdout.splitlines()
    if not names:
        return [path for name in (*PACKAGES, "tests", "scripts") for path in (ROOT / name).rglob("*") if path.is_file()]
    return [path for name in sorted(set(names)) if (path := ROOT / name).is_file()]


FILES = committed()
CODE = [path for path in FILES if path.suffix == ".py"]
SHIPPED = [path for path in CODE if path.relative_to(ROOT).parts[0] in PACKAGES]


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def dotted(node: ast.expr) -> str:
    """`a.b.c` of an attribute chain, else an empty string."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


def imported_names(tree: ast.AST) -> dict[str, str]:
    """Local name → what it stands for, over the whole file."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {
                item.asname or item.name.split(".")[0]: (item.asname and item.name) or item.name.split(".")[0]
                for item in node.names
            }
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {item.asname or item.name: f"{node.module}.{item.name}" for item in node.names}
    return names


def mentioned(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and full dotted name of every attribute chain or name that comes from an import."""
    names = imported_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name):
            head, _, rest = dotted(node).partition(".")
            if head in names:
                yield node.lineno, names[head] + (f".{rest}" if rest else "")


def random_uses(tree: ast.AST) -> list[int]:
    """Lines that draw from a generator that the whole process shares."""
    lines = []
    for line, name in mentioned(tree):
        module, _, function = name.rpartition(".")
        if module in GLOBAL_RANDOM and function not in ALLOWED_RANDOM and function[:1].islower():
            lines.append(line)
    return lines


def clock_uses(tree: ast.AST) -> list[int]:
    return [line for line, name in mentioned(tree) if name in CLOCK_CALLS]


def test_no_file_is_long():
    long = {relative(path): count for path in CODE if (count := len(path.read_text().splitlines())) > LONGEST}
    assert not long, f"expected at most {LONGEST} lines, got {long}"


def test_nothing_draws_from_a_shared_generator():
    found = {relative(path): lines for path in CODE if (lines := random_uses(ast.parse(path.read_text())))}
    assert not found, f"expected a numpy Generator passed in, got {found}"


def test_results_do_not_see_the_clock():
    found = {
        name: lines
        for path in SHIPPED
        if not (name := relative(path)).startswith(CLOCK_PREFIXES)
        and name not in CLOCKS
        and (lines := clock_uses(ast.parse(path.read_text())))
    }
    assert not found, f"expected no clock outside {sorted(CLOCKS)}, got {found}"


def test_every_package_says_what_is_public():
    silent = []
    for path in SHIPPED:
        if path.name == "__init__.py":
            targets = [
                target.id
                for node in ast.parse(path.read_text()).body
                if isinstance(node, ast.Assign | ast.AnnAssign)
                for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
                if isinstance(target, ast.Name)
            ]
            if "__all__" not in targets:
                silent.append(relative(path))
    assert not silent, f"expected __all__ in {silent}"


def test_no_machine_is_named():
    found = []
    for path in FILES:
        if path.suffix in {".py", ".md", ".toml", ".json", ".sh", ".yaml", ".yml", ".j2"} or path.name in {
            "Makefile",
            "run",
        }:
            text = path.read_text(encoding="utf-8")
            found += [f"{relative(path)}:{text.count(chr(10), 0, match.start()) + 1}" for match in PATHS.finditer(text)]
    assert not found, f"expected no path of one machine, got {found}"


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("import numpy as np\nnp.random.rand(3)", 1),
        ("from numpy import random as r\nr.normal()", 1),
        ("import random\nrandom.shuffle([])", 1),
        ("from random import choice\nchoice([1])", 1),
        ("import numpy as np\nnp.random.default_rng(0).normal()", 0),
        ("def f(random): return random.choice", 0),
    ],
)
def test_the_random_rule_sees_what_it_should(code, count):
    assert len(random_uses(ast.parse(code))) == count


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("import time\ntime.time()", 1),
        ("from time import monotonic as now\nnow()", 1),
        ("from datetime import datetime\ndatetime.now()", 1),
        ("import time\ntime.sleep(1)", 0),
    ],
)
def test_the_clock_rule_sees_what_it_should(code, count):
    assert bool(clock_uses(ast.parse(code))) == bool(count)
