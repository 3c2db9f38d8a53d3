"""Fits with random locks: has anything locked changed?

    python benchmarks/locks.py [--quick] [--fits N]

Each fit refines a random material towards a bundled reference under random locks: whole nodes, single sockets, a
channel, or everything but a channel. The environment is the product's, at small sizes; the graph that each fit ends
with is compared with the one that it began with. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

# When run, Python puts this folder first, where renderer.py would hide the package of its name.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _report import finish, table

from evaluators import Evaluator, Target
from graph_api import Graph, Link, Lock, Node, render_hash, start_graph
from graph_api.compare import compare
from graph_api.locking import channels, locks_for
from material_agent.actors.base import AttemptSetup
from material_agent.actors.refine import RefineActor
from material_agent.budget import Ledger
from material_agent.context import Task
from material_agent.environment import Environment, Settings
from material_agent.events import Event
from material_agent.react import Brief, Inner, StopRules
from references import load_reference
from renderer import BlenderPool
from renderer.router import Router

SIDE, CANDIDATES = 64, 32
STRUCTURES = 12
"""So many materials, each under several sets of locks: a new structure costs the preview a compilation."""
SOCKETS = {"color": "Base Color", "roughness": "Roughness", "metallic": "Metallic", "relief": "Normal"}


class Silent:
    """A log that keeps nothing."""

    def write(self, event: Event, attempt: int = 0) -> None:
        """Drop it."""


def material(rng: np.random.Generator) -> Graph:
    """A random material: textures of several scales that share and do not share channels."""
    graph = start_graph("5.0")
    kinds = ["ShaderNodeTexNoise", "ShaderNodeTexVoronoi", "ShaderNodeTexBrick", "ShaderNodeTexWave"]
    outputs = {"ShaderNodeTexVoronoi": "Distance"}
    links: list[Link] = list(graph.links)
    names: list[tuple[str, str]] = []
    for index in range(int(rng.integers(2, 5))):
        kind = str(rng.choice(kinds))
        name = f"texture_{index}"
        inputs = {"Scale": float(rng.uniform(2, 30))}
        graph = graph.with_node(Node(name, kind, inputs, role=str(rng.choice(["macro", "meso", "micro"]))))
        links.append(Link("mapping", "Vector", name, "Vector"))
        names.append((name, outputs.get(kind, "Fac")))
    graph = graph.with_node(Node("ramp", "ShaderNodeValToRGB", role="color"))
    graph = graph.with_node(Node("bump", "ShaderNodeBump", {"Distance": 0.003}, role="shading"))
    ends = (("ramp", "Fac"), ("bump", "Height"), ("principled", "Roughness"))
    links += [Link(*names[int(rng.integers(len(names)))], *end) for end in ends]
    links += [Link("ramp", "Color", "principled", "Base Color"), Link("bump", "Normal", "principled", "Normal")]
    graph = graph.with_node(replace(graph.nodes["principled"], inputs={"Metallic": 0.1, "Specular IOR Level": 0.4}))
    return replace(graph, links=tuple(links))


def words(rng: np.random.Generator, graph: Graph) -> tuple[list[str], list[str]]:
    """Random locks in the words of the command line."""
    if rng.random() < 0.3:
        return [], [str(rng.choice(list(channels())))]
    found = [str(name) for name in rng.choice(list(graph.nodes), int(rng.integers(0, 3)), replace=False)]
    found += [str(rng.choice(["principled.Metallic", "bump.Distance", "mapping.Scale", "texture_0.Scale"]))]
    return [*found, *([str(rng.choice(list(channels())))] if rng.random() < 0.5 else [])], []


def shown(graph: Graph, channel: str) -> str:
    """The hash of what renders when one channel of the shader is looked at alone."""
    socket = SOCKETS[channel]
    shader = graph.nodes["principled"]
    alone = Node("principled", shader.type, {key: v for key, v in shader.inputs.items() if key == socket})
    links = tuple(one for one in graph.links if one.dst != "principled" or one.dst_socket == socket)
    return render_hash(Graph(graph.blender_version, {**graph.nodes, "principled": alone}, links))


def violations(before: Graph, after: Graph, locked: list[str], only: list[str]) -> list[str]:
    """What of the locked differs, found without the lock's own code."""
    kept = [word for word in locked if word in channels()] + [c for c in SOCKETS if only and c not in only]
    found = [channel for channel in kept if shown(before, channel) != shown(after, channel)]
    for word in locked:
        name, _, socket = word.partition(".")
        if name not in before.nodes:
            continue
        a, b = before.nodes[name], after.nodes.get(name)
        same = b is not None and (a.inputs.get(socket) == b.inputs.get(socket) if socket else a == b)
        if not same:
            found.append(word)
    return found


def main() -> int:
    """Fit, compare, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="ten fits")
    parser.add_argument("--fits", type=int, default=100)
    given = parser.parse_args()
    fits = min(given.fits, 10) if given.quick else given.fits
    image = load_reference("brick_wall").image_srgb
    evaluator = Evaluator(Target.from_image(image), network="off")
    task = Task("brick_wall", image, 1.0, "locks")
    broken, moved = [], 0
    with BlenderPool(jobs=1) as pool:
        for seed in range(fits):
            rng = np.random.default_rng(seed)
            start = material(np.random.default_rng(seed % STRUCTURES))
            locked, only = words(rng, start)
            locks: tuple[Lock, ...] = locks_for(start, locked, only)
            ledger, log = Ledger({"candidates": CANDIDATES}), Silent()
            room = Environment(task, pool, evaluator, ledger, log, Settings(resolution=SIDE), None, Router(pool))
            room.reset(start, locks=locks)
            brief = Brief(task=task, decomposition=None, locks=locks, share={"candidates": float(CANDIDATES)})
            attempt = Inner(room, ledger, log, StopRules(12, 30)).run(RefineActor(AttemptSetup(1, seed, ledger)), brief)
            found = violations(start, attempt.final_graph, locked, only)
            broken += [f"fit {seed}, {word}" for word in found]
            moved += not compare(start, attempt.final_graph).empty
    table(("fits", "changed something", "broke a lock"), [(fits, moved, len(broken))])
    print(*broken, sep="\n")
    figures = {"locks_kept": 1.0 - len(broken) / fits, "fits_that_moved": moved / fits}
    return finish("locks", figures, {"locks_kept": 1.0, "fits_that_moved": 0.5}, details={"fits": fits})


if __name__ == "__main__":
    sys.exit(main())
