"""Pictures per second of the preview against a Blender worker that stays up, and against one Blender start for each.

    python benchmarks/preview.py [--quick | --growth]

One graph of two noises, two 3D Voronois, a mapping, a ramp and a mix, with bump; all six channels, 256², batches of 16
parameter settings; the worker renders one sample on all cores. All sides take turns, so that other load on the machine
meets each of them. Then: how long a structure never seen compiles, growth with pixels, batch and number of nodes beside
the arithmetic limit of this machine, and memory over thousands of evaluations.
"""

from __future__ import annotations

import argparse
import json
import pickle
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil

# Python puts this folder first, where a neighbour would hide the package of its name.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _report import finish, spread, table

from graph_api.model import ColorRamp, ColorStop, Graph, Link, Node
from renderer import CHANNELS, BlenderPool, RenderRequest, RenderSettings

SIZE, BATCH = 256, 16
BARS = {
    "ratio_preview_to_worker": 30.0,
    "ratio_preview_to_process": 200.0,
    "compile_headroom": 1.0,
    "memory_flatness": 1.0,
}
COMPILE_LIMIT_S = 1.5
# Hash and interpolation work of one pixel, counted by hand from the published algorithms: an octave of 3D noise has
# eight corners of 35 (hash) and 10 operations (gradient) and 24 of interpolation; a Voronoi cell has 27 (hash) and 9
# (distance), 18 with its color's index. The bump's two further places repeat all but the hashes. The kernel leaves out
# corners that weigh nothing and cells that are too far, so that it may need less.
_OCTAVE, _AGAIN = 8 * (35 + 10) + 24, 8 * 10 + 24
OPERATIONS = {
    "broad": 3 * _OCTAVE,
    "fine": 3 * (_OCTAVE + 2 * _AGAIN),
    "cells": 27 * (27 + 18),
    "grains": 27 * (27 + 3 * 9),
}
# Memory counts as flat when the second half of the evaluations adds less than this.
MEMORY_LIMIT_MB = 8.0


def material(octaves: float = 2.0, extra: int = 0) -> Graph:
    """The graph of the comparison; `extra` math nodes in a row make others of the same kind but a new structure."""
    ramp = ColorRamp(
        (
            ColorStop(0.2, (0.1, 0.05, 0.02, 1.0)),
            ColorStop(0.5, (0.4, 0.3, 0.2, 1.0)),
            ColorStop(0.8, (0.8, 0.7, 0.6, 1.0)),
        )
    )
    nodes = [
        Node("place", "ShaderNodeTexCoord"),
        Node("mapping", "ShaderNodeMapping", {"Rotation": (0.0, 0.0, 0.3)}),
        Node("broad", "ShaderNodeTexNoise", {"Scale": 6.0, "Detail": octaves}),
        Node("fine", "ShaderNodeTexNoise", {"Scale": 20.0, "Detail": octaves}),
        Node("cells", "ShaderNodeTexVoronoi", {"Scale": 5.0}),
        Node("grains", "ShaderNodeTexVoronoi", {"Scale": 9.0}),
        Node("ramp", "ShaderNodeValToRGB", properties={"color_ramp": ramp}),
        Node("color", "ShaderNodeMix", properties={"data_type": "RGBA", "blend_type": "OVERLAY"}),
        Node("height", "ShaderNodeMix", {"Factor_Float": 0.4}),
        Node("roughness", "ShaderNodeMapRange", {"To Min": 0.3, "To Max": 0.8}),
        Node("bump", "ShaderNodeBump", {"Distance": 0.01}),
        Node("shader", "ShaderNodeBsdfPrincipled"),
        Node("output", "ShaderNodeOutputMaterial"),
    ]
    chain = ["height"]
    wires = [("place", "UV", "mapping", "Vector"), ("broad", "Fac", "ramp", "Fac")]
    wires += [("mapping", "Vector", name, "Vector") for name in ("broad", "fine", "cells", "grains")]
    wires += [("ramp", "Color", "color", "A_Color"), ("cells", "Color", "color", "B_Color")]
    wires += [("color", "Result_Color", "shader", "Base Color"), ("fine", "Fac", "height", "A_Float")]
    wires += [("grains", "Distance", "height", "B_Float"), ("bump", "Normal", "shader", "Normal")]
    wires += [("fine", "Fac", "roughness", "Value"), ("roughness", "Result", "shader", "Roughness")]
    wires += [("shader", "BSDF", "output", "Surface")]
    for index in range(extra):
        nodes.append(Node(f"step {index}", "ShaderNodeMath", {"Value_001": 1.01}, {"operation": "MULTIPLY"}))
        wires.append((chain[-1], "Result_Float" if index == 0 else "Value", f"step {index}", "Value"))
        chain.append(f"step {index}")
    wires.append((chain[-1], "Result_Float" if extra == 0 else "Value", "bump", "Height"))
    return Graph("5.0", {node.id: node for node in nodes}, tuple(Link(*wire) for wire in wires))


def render_alone(source: Path, target: Path) -> None:
    """The process side, run in a fresh Python."""
    from renderer.blender.engine import Engine  # noqa: PLC0415 - bpy belongs to this side alone

    result = Engine(psutil.cpu_count() or 1).render(pickle.loads(source.read_bytes()))
    np.savez(target, **result.channels)


def process_seconds(item: RenderRequest, folder: Path) -> float:
    """Wall seconds from the start of a Blender process to its end."""
    source, target = folder / "request.pickle", folder / "result.npz"
    source.write_bytes(pickle.dumps(item))
    start = time.perf_counter()
    subprocess.run([sys.executable, __file__, "--alone", str(source), str(target)], check=True, capture_output=True)
    return time.perf_counter() - start


def batch(turn: int) -> dict[tuple[str, str], np.ndarray]:
    """Sixteen settings, new ones in each turn."""
    rng = np.random.default_rng(turn)
    return {
        ("broad", "Scale"): rng.uniform(4.0, 8.0, BATCH),
        ("cells", "Scale"): rng.uniform(3.0, 7.0, BATCH),
        ("ramp", "color_ramp.positions"): np.sort(rng.uniform(0.0, 1.0, (BATCH, 3)), axis=1),
    }


def compare(rounds: int, budget_s: float) -> tuple[dict[str, float], dict[str, object]]:
    """The three sides by turns: figures, and the spread of each."""
    from renderer.preview import PreviewEngine  # noqa: PLC0415 - the process side must not pay for it

    kernel = PreviewEngine().compile(material())
    request = RenderRequest(material(), "flat", CHANNELS, RenderSettings(SIZE, 1))
    times: dict[str, list[float]] = {"preview": [], "preview_cpu": [], "worker": [], "worker_cpu": [], "process": []}
    begun = time.perf_counter()
    with BlenderPool(1) as pool, tempfile.TemporaryDirectory() as name:
        worker_render = pool.render(request)
        assert worker_render.ok
        worker = psutil.Process(pool.pids[0])
        kernel.evaluate(batch(0), SIZE, CHANNELS)["beauty"].sum()
        for turn in range(rounds):
            start, cpu = time.perf_counter(), time.process_time()
            for again in range(3):
                pictures = kernel.evaluate(batch(3 * turn + again), SIZE, CHANNELS)
                _ = [pictures[channel][0, 0, 0] for channel in CHANNELS]
            times["preview"].append((time.perf_counter() - start) / (3 * BATCH))
            times["preview_cpu"].append((time.process_time() - cpu) / (3 * BATCH))
            start, cpu = time.perf_counter(), sum(worker.cpu_times()[:2])
            for again in range(3):
                moved = replace(request.graph.nodes["broad"], inputs={"Scale": 5.0 + turn + again, "Detail": 2.0})
                pool.render(replace(request, graph=request.graph.with_node(moved)))
            times["worker"].append((time.perf_counter() - start) / 3)
            times["worker_cpu"].append((sum(worker.cpu_times()[:2]) - cpu) / 3)
            times["process"].append(process_seconds(request, Path(name)))
            if (time.perf_counter() - begun) * (turn + 2) / (turn + 1) > budget_s:
                break
        single = kernel.evaluate({}, SIZE, CHANNELS)
        for channel in CHANNELS:
            np.testing.assert_allclose(single[channel][0], worker_render.channels[channel], atol=2e-3, err_msg=channel)
    seen = {name: spread(values) for name, values in times.items()}
    table(
        ("side", "ms an image", "q1", "q3", "rounds"),
        [(name, 1e3 * s["median"], 1e3 * s["q1"], 1e3 * s["q3"], s["n"]) for name, s in seen.items()],
    )
    figures = {
        "ratio_preview_to_worker": seen["worker"]["median"] / seen["preview"]["median"],
        "ratio_preview_to_process": seen["process"]["median"] / seen["preview"]["median"],
        "ratio_cpu_time_to_worker": seen["worker_cpu"]["median"] / seen["preview_cpu"]["median"],
        "preview_images_per_second": 1.0 / seen["preview"]["median"],
    }
    return figures, {"seconds_an_image": seen}


def fresh_compile_seconds(folder: Path) -> tuple[float, float]:
    """First evaluation of a structure, in a new process without a cache, less a second: wall and processor time."""
    code = (
        "import sys, time; sys.path[:0] = [sys.argv[1], sys.argv[2]]\n"
        "import preview\nfrom renderer import CHANNELS\nfrom renderer.preview import PreviewEngine\n"
        "engine = PreviewEngine()\n"
        "def run(kernel):\n"
        "    start, cpu = time.perf_counter(), time.process_time()\n"
        "    kernel.evaluate({}, 64, CHANNELS)['beauty'].sum()\n"
        "    return time.perf_counter() - start, time.process_time() - cpu\n"
        "run(engine.compile(preview.material(extra=1)))\n"
        "kernel = engine.compile(preview.material()); first, second = run(kernel), run(kernel)\n"
        "print(*(a - b for a, b in zip(first, second)))\n"
    )
    root, here = str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent)
    import os  # noqa: PLC0415

    environment = {**os.environ, "HOME": str(folder)}
    command = [sys.executable, "-c", code, root, here]
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    wall, cpu = map(float, run.stdout.split()[-2:])
    return wall, cpu


def textures(count: int) -> Graph:
    """`count` noise textures of three octaves, added up: growth with nodes that have work to do."""
    nodes = [Node("place", "ShaderNodeTexCoord")]
    wires = []
    total: tuple[str, str] | None = None
    for index in range(count):
        nodes.append(Node(f"noise {index}", "ShaderNodeTexNoise", {"Scale": 5.0 + index, "Detail": 2.0}))
        wires.append(("place", "UV", f"noise {index}", "Vector"))
        if total is None:
            total = (f"noise {index}", "Fac")
            continue
        nodes.append(Node(f"sum {index}", "ShaderNodeMath", {}, {"operation": "ADD"}))
        wires += [(*total, f"sum {index}", "Value"), (f"noise {index}", "Fac", f"sum {index}", "Value_001")]
        total = (f"sum {index}", "Value")
    assert total is not None
    nodes += [Node("shader", "ShaderNodeBsdfPrincipled"), Node("output", "ShaderNodeOutputMaterial")]
    wires += [(*total, "shader", "Base Color"), ("shader", "BSDF", "output", "Surface")]
    return Graph("5.0", {node.id: node for node in nodes}, tuple(Link(*wire) for wire in wires))


def growth() -> dict[str, object]:
    """Processor milliseconds an image by pixels, batch and nodes, each beside the arithmetic limit for that work.

    Processor time, because other work on the machine hardly moves it.
    """
    from renderer.preview import PreviewEngine  # noqa: PLC0415

    engine = PreviewEngine()
    rate = operations_per_second()
    whole = float(sum(OPERATIONS.values()))

    def point(
        graph: Graph, node: str, settings: int, size: int, channels: tuple[str, ...], work: float
    ) -> dict[str, float]:
        kernel, runs = engine.compile(graph), []
        for turn in range(6):
            params = {(node, "Scale"): np.linspace(4.0, 8.0, settings) + 0.01 * turn}
            start = time.process_time()
            pictures = kernel.evaluate(params, size, channels)
            _ = [pictures[channel][0, 0, 0] for channel in channels]
            runs.append((time.process_time() - start) / settings)
        return {"ms": 1e3 * min(runs[1:]), "limit_ms": 1e3 * work * size * size / rate}

    def bench(settings: int, size: int, extra: int = 0) -> dict[str, float]:
        return point(material(extra=extra), "broad", settings, size, CHANNELS, whole)

    found: dict[str, dict[str, dict[str, float]]] = {
        "pixels": {str(size): bench(4, size) for size in (32, 64, 128, 256, 512)},
        "batch": {str(settings): bench(settings, 64) for settings in (1, 4, 16, 64, 256)},
        "textures": {
            str(count): point(textures(count), "noise 0", 16, 128, ("base_color",), count * 3.0 * _OCTAVE)
            for count in (1, 2, 4, 8, 16)
        },
        "nodes": {str(13 + extra): bench(16, 128, extra) for extra in (0, 8, 32)},
    }
    rows = [(f"{axis} {key}", p["ms"], p["limit_ms"]) for axis, points in found.items() for key, p in points.items()]
    table(("growth", "CPU ms an image", "limit"), rows)
    limit = {
        "operations_per_second": rate,
        "operations_per_pixel": whole,
        "ms_an_image": 1e3 * whole * SIZE * SIZE / rate,
    }
    table(("arithmetic limit", ""), list(limit.items()))
    return {"growth": found, "limit": limit}


def operations_per_second() -> float:
    """The best rate of hash and interpolation work on one core, in operations a processor second.

    Rounds of xor, subtract and rotate, and of multiply-add, eight independent ones of each.
    """
    import drjit as dr  # noqa: PLC0415
    from drjit.auto import Float, UInt32  # noqa: PLC0415

    lanes, steps = 1 << 20, 64

    def rate() -> float:
        words = [dr.arange(UInt32, lanes) + index for index in range(8)]
        values = [Float(word) for word in words]
        for _ in range(steps):
            words = [(word ^ 0x9E3779B9) - ((word << 7) | (word >> 25)) for word in words]
            values = [dr.fma(value, 0.5, 1.0) for value in values]
        total = sum(words[1:], words[0])
        both = sum(values[1:], values[0]) + Float(total)
        start = time.process_time()
        dr.eval(both)
        dr.sync_thread()
        return lanes * steps * 8 * 6 / (time.process_time() - start)

    rate()
    return max(rate() for _ in range(3))


def memory_mb(evaluations: int) -> dict[str, float]:
    """Resident memory after the first tenth, at half time and at the end."""
    from renderer.preview import PreviewEngine  # noqa: PLC0415

    kernel = PreviewEngine().compile(material())
    process = psutil.Process()
    marks = {evaluations // 10: "tenth", evaluations // 2: "half", evaluations: "end"}
    found = {}
    for count in range(1, evaluations + 1):
        kernel.evaluate({("broad", "Scale"): [3.0 + count % 17]}, 16, CHANNELS)["beauty"].sum()
        if count in marks:
            found[marks[count]] = process.memory_info().rss / 2**20
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    parser.add_argument("--growth", action="store_true", help="the growth alone")
    parser.add_argument("--alone", nargs=2, metavar=("REQUEST", "RESULT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        render_alone(Path(options.alone[0]), Path(options.alone[1]))
        return 0
    if options.growth:
        print(json.dumps(growth()))
        return 0
    figures, details = compare(*((3, 18.0) if options.quick else (12, 150.0)))
    with tempfile.TemporaryDirectory() as name:
        compiled, figures["compile_cpu_seconds"] = fresh_compile_seconds(Path(name))
    figures["compile_seconds"] = compiled
    figures["compile_headroom"] = COMPILE_LIMIT_S / max(compiled, 1e-3)
    if not options.quick:
        details.update(growth())
    memory = memory_mb(500 if options.quick else 10_000)
    grown = memory["end"] - memory["half"]
    figures["memory_growth_mb"] = grown
    figures["memory_flatness"] = MEMORY_LIMIT_MB / max(grown, MEMORY_LIMIT_MB / 100)
    details["memory_mb"] = memory
    print()
    return finish("preview", figures, BARS, details=details, packages=("bpy", "numpy", "drjit", "karellen-llvm-core"))


if __name__ == "__main__":
    sys.exit(main())
