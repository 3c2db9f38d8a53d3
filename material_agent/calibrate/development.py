"""The development set: materials of known truth, re-seeded, nearly right, damaged by degrees, and wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from skimage import color

from evaluators import Evaluator, Target
from evaluators.pictures import quadrants, resize_srgb
from graph_api import Graph
from material_agent.calibrate.damage import PERIODS, other_bonds, scaled, stepped, turned, twin, without_branches
from material_agent.calibrate.degrade import DEGRADATIONS, FloatArray, recoloured

Label = Literal["right", "wrong", "graded"]
Render = Callable[[Sequence[Graph]], list[FloatArray | None]]
"""Graphs → sRGB pictures (S, S, 3), or None where there was none."""
_SCREENED_AT = 64
_GRAPH_DAMAGE: dict[str, Callable[[Graph, float, np.random.Generator], Graph | None]] = {
    "scale_up": lambda graph, amount, _: scaled(graph, amount),
    "scale_down": lambda graph, amount, _: scaled(graph, amount),
    "rotation": lambda graph, amount, _: turned(graph, amount),
    "parameters": stepped,
}
_NEEDS_PHASE = ("phase_scramble", "block_shuffle")


@dataclass(frozen=True)
class Material:
    """One material of the set: `image` is the reference; a photograph has no `graph`."""

    id: str
    family: str
    image: FloatArray
    graph: Graph | None = None


@dataclass(frozen=True)
class Sample:
    """One candidate for a material, `image` sRGB (S, S, 3).

    `label`: "right" and "wrong" are what the decision is judged by, "graded" only what the order is judged by. `chain`
    and `severity` (from 0, undamaged) say which samples form a series; `hard`: a wrong one that is near.
    """

    kind: str
    label: Label
    image: FloatArray
    chain: str = ""
    severity: int = 0
    hard: bool = False


def samples_of_graph(
    material: Material, others: Sequence[Material], render: Render, table: dict[str, Any]
) -> Iterator[Sample]:
    """All samples of a material with a graph; `others` are the rest of the set. Equal input gives equal samples."""
    assert material.graph is not None, "a photograph has samples_of_photo"
    graph, rng = material.graph, _generator(material, table)
    rule = table["right"]
    twins = [twin(graph, rng) for _ in range(rule["twins"])]
    near = [g for _ in range(rule["near"]) if (g := stepped(twin(graph, rng), rule["near_step"], rng)) is not None]
    pictures = render([*twins, *near])
    for image in _there(pictures[: len(twins)]):
        yield Sample("twin", "right", image)
    for image in _there(pictures[len(twins) :]):
        tinted = DEGRADATIONS["tint"](image, rule["near_tint"], rng)
        yield Sample("near", "right", DEGRADATIONS["washed"](tinted, rule["near_washed"], rng))
    yield from _graph_chains(material, graph, render, table, rng)
    base = render([twin(graph, rng)])[0]
    if base is not None:
        yield from _picture_chains(material.image, base, table["picture_chains"], table, rng)
    yield from _branches_and_bonds(graph, render, table, rng)
    yield from _others(material, others, table, rng)
    yield from _near_misses(material, graph, render, table, rng)


def samples_of_photo(material: Material, others: Sequence[Material], table: dict[str, Any]) -> Iterator[Sample]:
    """All samples of a photograph, whose reference is its first quarter: the other quarters, damaged, and others."""
    rng = _generator(material, table)
    first, *rest = quadrants(material.image)
    for image in rest:
        yield Sample("quarter", "right", image)
    yield from _picture_chains(first, rest[0], table["photo_chains"], table, rng)
    quarters = [Material(o.id, o.family, quadrants(o.image)[1]) for o in others]
    yield from _others(Material(material.id, material.family, first), quarters, table, rng)


def target_of(material: Material) -> FloatArray:
    """The picture that a material's samples are compared with."""
    return material.image if material.graph is not None else quadrants(material.image)[0]


def gradient_kurtosis(image: FloatArray) -> float:
    """Kurtosis of the luma's differences between neighbours, 3 for a Gaussian texture; blurred by area first.

    Averaged over rows and columns, each with its own variance: together the fine and the coarse direction of a grain
    are long-tailed although each is Gaussian, and scrambling its phases leaves it that way.
    """
    grey = resize_srgb(image, min(128, image.shape[0])) @ np.array([0.2126, 0.7152, 0.0722])
    found = []
    for axis in (0, 1):
        values = np.diff(grey, axis=axis)
        variance = float(values.var())
        found.append(float(((values - values.mean()) ** 4).mean()) / variance**2 if variance > 0 else 3.0)
    return sum(found) / 2


def _generator(material: Material, table: dict[str, Any]) -> np.random.Generator:
    return np.random.default_rng([table["seed"], *material.id.encode()])


def _there(pictures: Sequence[FloatArray | None]) -> Iterator[FloatArray]:
    return (picture for picture in pictures if picture is not None)


def _graph_chains(
    material: Material, graph: Graph, render: Render, table: dict[str, Any], rng: np.random.Generator
) -> Iterator[Sample]:
    for kind, rule in table["graph_chains"].items():
        seed = int(rng.integers(2**31))
        if kind == "rotation" and material.family not in table["directed_families"]:
            continue
        base = twin(graph, rng)
        steps: list[tuple[int, Graph]] = [(0, base)]
        for severity, amount in enumerate(rule["amounts"], start=1):
            changed = _GRAPH_DAMAGE[kind](base, amount, np.random.default_rng(seed))
            if changed is not None:
                steps.append((severity, changed))
        pictures = render([changed for _, changed in steps])
        for (severity, _), image in zip(steps, pictures, strict=True):
            if image is not None and len(steps) > 1:
                yield Sample(kind, _label(severity, rule), image, kind, severity)


def _label(severity: int, rule: dict[str, Any]) -> Label:
    if severity == 0:
        return "right"
    return "wrong" if severity >= rule["wrong_from"] else "graded"


def _picture_chains(
    reference: FloatArray,
    base: FloatArray,
    chains: dict[str, Any],
    table: dict[str, Any],
    rng: np.random.Generator,
) -> Iterator[Sample]:
    phases_matter = gradient_kurtosis(reference) > table["gaussian_kurtosis"]
    for kind, rule in chains.items():
        seed = int(rng.integers(2**31))
        if kind in _NEEDS_PHASE and not phases_matter:
            continue
        yield Sample(kind, "graded", base, kind, 0)
        for severity, amount in enumerate(rule["amounts"], start=1):
            image = DEGRADATIONS[kind](base, amount, np.random.default_rng(seed))
            yield Sample(kind, _label(severity, rule), image, kind, severity, kind in table["hard"])


def _branches_and_bonds(
    graph: Graph, render: Render, table: dict[str, Any], rng: np.random.Generator
) -> Iterator[Sample]:
    base = twin(graph, rng)
    removed = [changed for _, changed in without_branches(base)]
    whole, *pictures = render([base, *removed])
    for image in _there(pictures):
        if whole is not None and mean_delta_e(whole, image) > table["branch_visible_delta_e"]:
            yield Sample("branch_removed", "wrong", image, hard="branch_removed" in table["hard"])
    bonds = [twin(changed, rng) for _, changed in other_bonds(graph) for _ in range(table["bond_seeds"])]
    for image in _there(render(bonds)):
        yield Sample("other_bond", "wrong", image, hard=True)


def mean_delta_e(a: FloatArray, b: FloatArray) -> float:
    """Mean CIE76 difference of two pictures, pixel by pixel: for renders of one seed."""
    difference: npt.NDArray[np.float64] = color.rgb2lab(a) - color.rgb2lab(b)
    return float(np.linalg.norm(difference, axis=-1).mean())


def _others(
    material: Material, others: Sequence[Material], table: dict[str, Any], rng: np.random.Generator
) -> Iterator[Sample]:
    rule = table["others"]
    strange = [other for other in others if other.family != material.family]
    chosen = rng.permutation(len(strange))[: rule["raw"]]
    for index in chosen:
        yield Sample("other", "wrong", strange[int(index)].image)
    tried = rng.permutation(len(strange))[: rule["recoloured_of"]]
    painted = [recoloured(strange[int(index)].image, material.image) for index in tried]
    for index in _best(material, painted, rule["recoloured_best"]):
        yield Sample("recoloured", "wrong", painted[index], hard=True)


def _best(material: Material, images: Sequence[FloatArray], count: int) -> list[int]:
    """The images that a search would keep, by its own screen."""
    if not images:
        return []
    small = np.stack([resize_srgb(image, _SCREENED_AT) for image in images])
    scores = Evaluator(Target.from_image(material.image), network="off").screen(small)
    return [int(index) for index in np.argsort(-scores, kind="stable")[:count]]


def _near_misses(
    material: Material, graph: Graph, render: Render, table: dict[str, Any], rng: np.random.Generator
) -> Iterator[Sample]:
    rule = table["near_misses"]
    drawn = []
    for _ in range(rule["draws"]):
        factor = float(np.exp(rng.choice((-1, 1)) * rng.uniform(*rule["scale_off"])))
        changed = scaled(twin(graph, rng), factor)
        if changed is not None:
            # A step of the periods would take back what the scale is off by.
            drawn.append(stepped(changed, float(rng.uniform(*rule["step"])), rng, keep=PERIODS) or changed)
    images = [recoloured(image, material.image) for image in _there(render(drawn))]
    for index in _best(material, images, rule["kept"]):
        yield Sample("near_miss", "wrong", images[index], hard=True)
