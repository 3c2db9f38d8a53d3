"""Renders per second of the pool against one Blender start for each render.

    python benchmarks/renderer.py [--quick] [--jobs N]

Same graphs, same engine, flat view, all six channels, one sample. The process side is what agents do that start Blender
for each picture: a fresh Python imports bpy, builds the graph, renders on all cores, leaves the floats in a file. The
two sides take turns, so that other load on the machine meets both.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

# Python puts this folder first, where this very file would hide the package of its name.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _report import finish, spread, table

from graph_api.model import ColorRamp, ColorStop, Graph, Link, Node
from renderer import CHANNELS, BlenderPool, RenderRequest, RenderSettings

BARS = {"ratio_pool_to_process_64": 80.0, "ratio_pool_to_process_128": 30.0, "ratio_pool_to_process_256": 8.0}
BATCH = {64: 48, 128: 24, 256: 8}
TEXTURES = {
    "ShaderNodeTexNoise": ("Fac", {"Detail": 3.0}),
    "ShaderNodeTexVoronoi": ("Distance", {}),
    "ShaderNodeTexWave": ("Fac", {"Distortion": 2.0}),
    "ShaderNodeTexBrick": ("Fac", {}),
}


def material(texture: str, scale: float) -> Graph:
    """A texture that drives color through a ramp, roughness, and the normal through a bump."""
    output, inputs = TEXTURES[texture]
    ramp = ColorRamp((ColorStop(0.2, (0.1, 0.05, 0.02, 1.0)), ColorStop(0.8, (0.6, 0.5, 0.3, 1.0))))
    nodes = (
        Node("place", "ShaderNodeTexCoord"),
        Node("texture", texture, {"Scale": scale, **inputs}),
        Node("ramp", "ShaderNodeValToRGB", properties={"color_ramp": ramp}),
        Node("bump", "ShaderNodeBump", {"Distance": 0.02}),
        Node("shader", "ShaderNodeBsdfPrincipled"),
        Node("out", "ShaderNodeOutputMaterial"),
    )
    links = (
        Link("place", "UV", "texture", "Vector"),
        Link("texture", output, "ramp", "Fac"),
        Link("texture", output, "bump", "Height"),
        Link("texture", output, "shader", "Roughness"),
        Link("ramp", "Color", "shader", "Base Color"),
        Link("bump", "Normal", "shader", "Normal"),
        Link("shader", "BSDF", "out", "Surface"),
    )
    return Graph("5.0", {node.id: node for node in nodes}, links)


def request(index: int, resolution: int) -> RenderRequest:
    """The request of a number: candidates of one structure come in runs, as a search makes them."""
    texture = list(TEXTURES)[(index // 4) % len(TEXTURES)]
    settings = RenderSettings(resolution=resolution, samples=1)
    return RenderRequest(material(texture, 4.0 + index % 13), "flat", CHANNELS, settings)


def render_alone(source: Path, target: Path, threads: int) -> None:
    """The process side, run in the fresh Python."""
    from renderer.blender.engine import Engine  # noqa: PLC0415 - bpy belongs to this side alone

    result = Engine(threads).render(pickle.loads(source.read_bytes()))
    np.savez(target, **result.channels)


def process_seconds(item: RenderRequest, folder: Path, threads: int) -> float:
    """Wall seconds from the start of a Blender process to its end."""
    source, target = folder / "request.pickle", folder / "result.npz"
    source.write_bytes(pickle.dumps(item))
    target.unlink(missing_ok=True)
    start = time.perf_counter()
    command = [sys.executable, __file__, "--alone", str(source), str(target), str(threads)]
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    parser.add_argument("--jobs", type=int, default=None, help="workers of the pool (default: one for each core)")
    parser.add_argument("--alone", nargs=3, metavar=("REQUEST", "RESULT", "THREADS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        render_alone(Path(options.alone[0]), Path(options.alone[1]), int(options.alone[2]))
        return 0
    rounds, budget_s = (5, 40.0) if options.quick else (15, 600.0)
    begun = time.perf_counter()
    figures: dict[str, float] = {}
    details: dict[str, object] = {}
    rows = []
    with BlenderPool(options.jobs) as pool, tempfile.TemporaryDirectory() as name:
        pool.warm_up()
        cores = os.cpu_count() or 1
        process: dict[int, list[float]] = {size: [] for size in BATCH}
        pooled: dict[int, list[float]] = {size: [] for size in BATCH}
        for size, count in BATCH.items():
            pool.render_many([request(index, size) for index in range(count)])
        for turn in range(rounds):
            for size, count in BATCH.items():
                batch = [request(turn + index, size) for index in range(count)]
                process[size].append(process_seconds(batch[0], Path(name), cores))
                start = time.perf_counter()
                results = pool.render_many(batch)
                pooled[size].append((time.perf_counter() - start) / count)
                assert all(result.ok for result in results)
                alone = np.load(Path(name) / "result.npz")
                for channel, array in results[0].channels.items():
                    np.testing.assert_allclose(alone[channel], array, atol=1e-5, err_msg=channel)
            if (time.perf_counter() - begun) * (turn + 2) / (turn + 1) > budget_s:
                break
        for size in BATCH:
            one, many = spread(process[size]), spread(pooled[size])
            figures[f"ratio_pool_to_process_{size}"] = one["median"] / many["median"]
            figures[f"pool_renders_per_second_{size}"] = 1 / many["median"]
            details[f"seconds_{size}"] = {"process": one, "pool": many}
            rows.append((f"{size}²", 1e3 * one["median"], 1e3 * (one["q3"] - one["q1"]), 1e3 * many["median"],
                         1e3 * (many["q3"] - many["q1"]), one["n"]))  # fmt: skip
        details["pool"] = {"jobs": pool.jobs, "threads": pool.threads, "blender": pool.version}
    table(("size", "process ms", "IQR", "pool ms", "IQR", "rounds"), rows)
    print()
    return finish("renderer", figures, BARS, details=details)


if __name__ == "__main__":
    sys.exit(main())
