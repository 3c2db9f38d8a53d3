"""What every command promises: exit codes, one JSON object on stdout, one line for bad input, quick help."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from material_agent.cli.app import run
from material_agent.cli.commands import COMMANDS
from material_agent.cli.exits import Exit, code_of, message_of
from material_agent.cli.output import Reply, plain, reserved_stdout
from material_agent.errors import BadInput, BudgetExhausted

PICTURE = ["skimage:brick"]
SLOWEST = 1.5  # times the bar on an idle machine: shared caches and clocks make processor time vary


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name, capsys):
    assert run([name, "--help"]) == Exit.SUCCESS
    # A server speaks its own protocol on stdout.
    assert name == "mcp" or "--json" in capsys.readouterr().out


def test_help_is_quick():
    # Processor time, because other tests may be using the cores.
    before = os.times()
    result = subprocess.run(
        [sys.executable, "-m", "material_agent.cli", "--help"], capture_output=True, text=True, check=False
    )
    after = os.times()
    assert result.returncode == 0
    assert all(name in result.stdout for name in COMMANDS)
    used = after.children_user + after.children_system - before.children_user - before.children_system
    assert used < 0.5 * SLOWEST


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "nonsense"),
        (["fit"], "reference"),
        (["fit", "no-such-picture"], "no bundled reference"),
        (["fit", *PICTURE, "--seed", "-1"], "--seed"),
        (["fit", *PICTURE, "--quality", "best"], "draft"),
        (["fit", *PICTURE, "--memory", "2"], "retrieved"),
        (["fit", *PICTURE, "--actor", "oracle"], "known: builtin, refine, scripted:FILE, PROVIDER:MODEL"),
        (["fit", *PICTURE, "--actor", "scripted:"], "known: builtin, refine, scripted:FILE, PROVIDER:MODEL"),
        (["fit", *PICTURE, "--actor", "scripted:/no/such/file.json"], "/no/such/file.json"),
        (["fit", *PICTURE, "--patch-size", "0"], "--patch-size"),
        (["fit", *PICTURE, "--patch-size", "nan"], "--patch-size"),
        (["fit", *PICTURE, "--jobs", "0"], "--jobs"),
        (["fit", *PICTURE, "-o", "{text}"], "text.txt"),
        (["fit", *PICTURE, "-o", "{text}/run"], "text.txt"),
        (["fit", *PICTURE, "-o", "{folder}", "--resume"], "no events.jsonl"),
        (["fit", *PICTURE, "--actor", "scripted:{deep}"], "expected a script"),
        (["fit", "{dot}", "-o", "{folder}"], "1×1"),
        (["analyze", *PICTURE, "--patch-size", "-1"], "finite number above 0"),
        (["evaluate", *PICTURE, *PICTURE, "--patch-size", "inf"], "finite number above 0"),
        (["export", "{graph}", "--to", "maps", "--patch-size", "nan"], "finite number above 0"),
        (["render", "{graph}", "--time-limit", "nan"], "finite number above 0"),
        (["render", "{graph}", "--samples", "99999999999999999999"], "--samples"),
        (["render", "{graph}", "-o", "{text}", "-r", "8"], "text.txt"),
        (["render", "{deep}"], "deep.json"),
        (["inspect", "{digits}"], "digits.json"),
        (["inspect", "{nan}x"], "does not exist"),
        (["render", "{nan}"], "finite numbers"),
        (["inspect", "{old}"], "expected one of"),
        (["inspect", "{object}"], "material-agent/graph"),
        (["render", "missing.json"], "missing.json"),
        (["render", "{empty}"], "JSON"),
        (["render", "{list}"], "one JSON object, got list"),
        (["render", "{graph}", "--channels", "beauty,depth"], "known: beauty"),
        (["render", "{graph}", "--channels", ","], "got none"),
        (["render", "{graph}", "--view", "side"], "flat"),
        (["render", "{graph}", "--resolution", "0"], "resolution"),
        (["evaluate", "{graph}", "missing.png"], "missing.png"),
        (["evaluate", "{broken}", *PICTURE], "broken.png"),
        (["analyze", "{broken}"], "broken.png"),
        (["inspect", "{folder}"], "run folder"),
        (["inspect", "{text}"], "run folder"),
        (["export", "{graph}", "--to", "gltf"], "blend"),
        (["export", "{graph}"], "--to"),
        (["report", "{folder}"], "events.jsonl"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, said, inputs, capfd, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    words = [word.format(**inputs) if "{" in word else word for word in arguments]
    assert run([*words, "--json"]) == Exit.BAD_INPUT
    out, err = capfd.readouterr()
    lines = [line for line in err.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1
    assert said in lines[0]
    assert "Traceback" not in err
    answer = json.loads(out)
    assert answer["schema"] == {"name": "material-agent/error", "version": 1}
    assert answer["error"]["code"] == Exit.BAD_INPUT
    assert f"error: {answer['error']['message']}" == lines[0]


@pytest.fixture
def inputs(tmp_path):
    from graph_api import dumps, start_graph

    folder = tmp_path / "inputs"
    folder.mkdir()
    good = dumps(start_graph("5.0"))
    contents = {
        "graph.json": good,
        "nan.json": good.replace('"role": "shading"', '"role": "shading", "inputs": {"Roughness": NaN}'),
        "old.json": good.replace('"5.0"', '"2.80"'),
        "object.json": "{}",
        "deep.json": '{"attempts":' * 100_000,
        "digits.json": '{"version":' + "9" * 5000 + "}",
        "empty.json": "",
        "list.json": "[]",
        "broken.png": "this is text",
        "text.txt": "this is text",
    }
    for name, text in contents.items():
        (folder / name).write_text(text)
    Image.new("RGB", (1, 1)).save(folder / "dot.png")
    other = tmp_path / "other"
    other.mkdir()
    return {"folder": str(other)} | {path.stem: str(path) for path in folder.iterdir()}


def test_nothing_but_the_reply_reaches_stdout(capfd):
    with reserved_stdout() as stream:
        print("chatter of Python")
        os.write(1, b"chatter of a library\n")
        stream.write("the reply\n")
    print("after")
    out, err = capfd.readouterr()
    assert out == "the reply\nafter\n"
    assert "chatter of Python" in err
    assert "chatter of a library" in err


def test_json_has_no_number_that_json_does_not_know():
    import numpy as np

    reply = Reply("x", {"nan": float("nan"), "array": np.array([1.5, np.inf]), "path": Path("a"), "set": ("b",)})
    data = json.loads(reply.as_json(), parse_constant=pytest.fail)
    assert data == {
        "schema": {"name": "material-agent/x", "version": 1},
        "nan": None,
        "array": [1.5, None],
        "path": "a",
        "set": ["b"],
    }
    assert plain(np.float32(0.5)) == 0.5


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BadInput("x"), Exit.BAD_INPUT),
        (KeyboardInterrupt(), Exit.INTERRUPTED),
        (BudgetExhausted("renders", 2, 1), Exit.BAD_INPUT),
        (FileNotFoundError(2, "No such file or directory", "a"), Exit.BAD_INPUT),
        (ZeroDivisionError("x"), None),
    ],
)
def test_errors_have_exit_codes(error, code):
    assert code_of(error) == code


def test_errors_of_the_packages_have_exit_codes():
    from evaluators.errors import EvaluatorError, WeightsUnavailableError
    from graph_api import CatalogMissing
    from references import ReferenceFault
    from renderer import BlenderUnavailable, BlendFileError

    assert code_of(BlenderUnavailable("x")) == Exit.ENVIRONMENT
    assert code_of(BlendFileError("x")) == Exit.BAD_INPUT
    assert code_of(WeightsUnavailableError("a", "b", "c")) == Exit.ENVIRONMENT
    assert code_of(EvaluatorError("a", "b")) == Exit.BAD_INPUT
    assert code_of(ReferenceFault("a", "b")) == Exit.BAD_INPUT
    assert code_of(CatalogMissing("1.0", ["5.0"])) == Exit.BAD_INPUT


def test_a_fault_of_ours_is_not_passed_off_as_bad_input(monkeypatch, capsys):
    def broken(*, json: bool = False) -> Reply:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("material_agent.cli.app.COMMANDS", {"broken": broken})
    assert run(["broken"]) == Exit.INTERNAL
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "fault of material-agent" in err


def test_ctrl_c_is_answered_like_any_other_end(monkeypatch, capsys):
    def stopped(*, json: bool = False) -> Reply:
        raise KeyboardInterrupt

    monkeypatch.setattr("material_agent.cli.app.COMMANDS", {"stopped": stopped})
    assert run(["stopped", "--json"]) == Exit.INTERRUPTED
    out, err = capsys.readouterr()
    assert json.loads(out)["error"]["code"] == Exit.INTERRUPTED
    assert err == "interrupted\n"


def test_messages_are_one_line():
    assert message_of(ValueError("a\n  b")) == "a b"
    assert message_of(FileNotFoundError(2, "No such file or directory", "x.png")) == "x.png: No such file or directory"
