"""How well references are understood: the bundled ones against their graphs, and photographs against people.

Usage: python benchmarks/references.py [--quick] [--photos DIR]
Bars: regular against stochastic AUC .99, lattice vectors within 3 % in 90 %, orientation within 4° where it is coherent
(all), the true family and structure among the first two hypotheses in 90 % (also of turned cuts, which nothing was set
on), photographs told apart 14 of 15, and less than 1.5 s of processor time for an analysis at 512². `DIR` holds
photographs and, in it or above it, a manifest.json with `file` and `regular`; MATERIAL_AGENT_PHOTOS serves as well.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

# Python puts this folder first, where this very file would hide the package of its name.
sys.path.append(sys.path.pop(0))

from _report import finish, spread, table

from evaluators.functional.orientation import TRUSTED_COHERENCE
from references import Analysis, ReferenceFault, analyze, bundled_names, load_reference
from references.bundled import Bundled, bundled
from references.synthetic import direction_error_deg, lattice_error

LATTICE_TOLERANCE, DIRECTION_TOLERANCE_DEG, SECONDS = 0.03, 4.0, 1.5
BARS = {
    "regular_auc": 0.99,
    "lattice_share": 0.9,
    "orientation_share": 1.0,
    "family_top2_share": 0.9,
    "structure_top2_share": 0.9,
    "turned_family_top2_share": 0.9,
    "turned_regular_share": 0.9,
    "speed_ratio": 1.0,
}
PHOTO_BARS = {"photos_right_share": 14 / 15}
TIMED = tuple(name for name in bundled_names() if name.startswith("skimage:"))


@dataclass(frozen=True)
class Judged:
    """One bundled picture against what is known of it; None where nothing is."""

    name: str
    entry: Bundled
    analysis: Analysis

    @property
    def strength(self) -> float:
        lattice = self.analysis.lattice
        return lattice.strength if lattice else 0.0

    @property
    def lattice_error(self) -> float | None:
        lattice = self.analysis.lattice
        if self.entry.lattice is None:
            return None
        if lattice is None:
            return math.inf
        return lattice_error(np.array(lattice.vectors) / self.analysis.measured.size_px, self.entry.lattice)

    @property
    def direction_error_deg(self) -> float | None:
        found = self.analysis.orientation
        if self.entry.direction_deg is None or found.coherence <= TRUSTED_COHERENCE:
            return None
        return direction_error_deg(found.angle_rad, self.entry.direction_deg)

    @property
    def family_rank(self) -> int:
        return [item.family for item in self.analysis.families].index(self.entry.family)

    @property
    def structure_rank(self) -> int:
        return [item.structure for item in self.analysis.hypotheses].index(self.entry.structure)


def auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Share of pairs in the right order; ties count half."""
    above = np.subtract.outer(np.asarray(positive), np.asarray(negative))
    return float(np.mean((above > 0) + 0.5 * (above == 0)))


def share(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else math.nan


def judge(quick: bool) -> list[Judged]:
    """Analyse every bundled picture and its twin; quickly only one of each family, and its twin."""
    entries = list({entry.family: entry for entry in bundled()}.values()) if quick else bundled()
    names = [(entry.id + twin, entry) for entry in entries for twin in ("", ":twin")]
    return [Judged(name, entry, analyze(load_reference(name))) for name, entry in names]


def judge_turned(quick: bool) -> list[Judged]:
    """Analyse the twins turned by 90° and cut to their middle three quarters: pictures that nothing was set on."""
    entries = list({entry.family: entry for entry in bundled()}.values()) if quick else bundled()
    found = []
    for entry in entries:
        picture = np.rot90(load_reference(f"{entry.id}:twin").image_srgb)
        edge = picture.shape[0] // 8
        found.append(Judged(entry.id, entry, analyze(np.ascontiguousarray(picture[edge:-edge, edge:-edge]))))
    return found


def seconds_at_512(repeats: int) -> list[float]:
    """Processor seconds of `analyze` on pictures of 512², which other load on the machine does not change.

    On a free core the clock says the same, or less where numpy takes a second one. The first call, which also loads
    tables, is left out.
    """
    taken = []
    for name in TIMED:
        picture = load_reference(name)
        assert picture.image_srgb.shape[0] == 512, "the textures of scikit-image are 512²"
        for _ in range(repeats + 1):
            start = time.process_time()
            analyze(picture)
            taken.append(time.process_time() - start)
    return taken[1:]


def photographs(folder: Path) -> list[tuple[str, bool, bool]]:
    """Name, whether it repeats, and whether a lattice was found, for each photograph of the manifest."""
    manifest = next((p for p in (folder / "manifest.json", folder.parent / "manifest.json") if p.is_file()), None)
    if manifest is None:
        raise SystemExit(f"expected a manifest.json with file and regular in {folder} or above it")
    rows = []
    for item in json.loads(manifest.read_text(encoding="utf-8")):
        try:
            picture = load_reference(folder / item["file"])
        except ReferenceFault as fault:
            raise SystemExit(str(fault)) from None
        rows.append((item["file"], bool(item["regular"]), analyze(picture).lattice is not None))
    return rows


def main() -> int:
    """Print what is wrong, then the figures against their bars."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--photos", type=Path, default=os.environ.get("MATERIAL_AGENT_PHOTOS"))
    options = parser.parse_args()
    judged = judge(options.quick)
    regular = [one.strength for one in judged if one.entry.lattice is not None]
    stochastic = [one.strength for one in judged if one.entry.lattice is None]
    lattices = [error <= LATTICE_TOLERANCE for one in judged if (error := one.lattice_error) is not None]
    directions = [error <= DIRECTION_TOLERANCE_DEG for one in judged if (error := one.direction_error_deg) is not None]
    turned = judge_turned(options.quick)
    seconds = seconds_at_512(1 if options.quick else 3)
    figures = {
        "regular_auc": auc(regular, stochastic),
        "lattice_share": share(lattices),
        "orientation_share": share(directions),
        "family_top2_share": share([one.family_rank < 2 for one in judged]),
        "family_top1_share": share([one.family_rank < 1 for one in judged]),
        "structure_top2_share": share([one.structure_rank < 2 for one in judged]),
        "turned_family_top2_share": share([one.family_rank < 2 for one in turned]),
        "turned_regular_share": share(
            [(one.analysis.lattice is None) == (one.entry.lattice is None) for one in turned]
        ),
        "speed_ratio": SECONDS / median(seconds),
        "pictures": len(judged),
        "lattices": len(lattices),
        "directions": len(directions),
    }
    missed = [one for one in judged if one.family_rank > 1 or (one.lattice_error or 0) > LATTICE_TOLERANCE]
    rows = [(one.name, one.entry.family, one.analysis.families[0].family, one.lattice_error or "-") for one in missed]
    table(("missed", "family", "said first", "lattice error"), rows)
    details: dict[str, object] = {"seconds_at_512": spread(seconds)}
    bars = dict(BARS)
    if options.photos is None:
        print("photographs: skipped; give --photos DIR or MATERIAL_AGENT_PHOTOS")
    else:
        rows = photographs(Path(options.photos))
        right = [repeats == found for _, repeats, found in rows]
        figures |= {"photos_right_share": share(right), "photos_right": sum(right), "photos": len(rows)}
        bars |= PHOTO_BARS
        details["photos_wrong"] = [name for (name, _, _), good in zip(rows, right, strict=True) if not good]
    return finish("references", figures, bars, details=details, packages=("numpy", "scipy", "pillow"))


if __name__ == "__main__":
    sys.exit(main())
