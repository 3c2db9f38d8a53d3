"""Write what the preview's benchmarks measured, and the table of its nodes, into docs/preview.md and its plot.

Usage: python scripts/preview_figures.py [--check] [--keep RESULT ...]
`--keep` first takes the last lines of benchmark outputs, files each, into `benchmarks/records/`. `--check` changes
nothing and tells whether the page has the figures of the records.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from _page import table, with_section

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
PAGE, PLOT, RECORDS = (
    ROOT / "docs" / "preview.md",
    ROOT / "docs" / "preview-growth.svg",
    ROOT / "benchmarks" / "records",
)
Record = Mapping[str, Any]


def keep(path: Path) -> None:
    """Store the last line of a benchmark's output under the benchmark's name."""
    record = json.loads(path.read_text(encoding="utf-8").strip().splitlines()[-1])
    RECORDS.mkdir(exist_ok=True)
    text = json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False)
    (RECORDS / f"{record['benchmark']}.json").write_text(text + "\n", encoding="utf-8")


def load(name: str) -> Record | None:
    """A kept record."""
    path = RECORDS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def two_columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A narrow table set twice side by side."""
    half = math.ceil(len(rows) / 2)
    right = [*rows[half:], *[[""] * len(head)] * (2 * half - len(rows))]
    return table([*head, "", *head], [[*a, "", *b] for a, b in zip(rows[:half], right, strict=True)])


def made_by(record: Record) -> str:
    """Where a record comes from."""
    machine = record["machine"]
    return (
        f"commit {record['commit']}, {machine['cores']} cores of {machine['cpu']}, load {machine['load']}, "
        f"Dr.Jit {record['versions']['drjit']}"
    )


def number(value: float) -> str:
    """Three digits, "equal" for zero."""
    return f"{value:.2g}" if value else "equal"


def parity(record: Record) -> str:
    """The sweep over nodes and the random graphs."""
    nodes, mixed = record["nodes"], record["random_graphs"]
    rows = [
        [name.removeprefix("ShaderNode"), _count(r), number(r["largest"]), str(len(r["failed"]) or "")]
        for name, r in sorted(nodes.items())
    ]
    done = sum(r["done"] for r in nodes.values())
    beyond = [line for _, r in sorted(nodes.items()) for line in r["failed"]]
    parts = [
        f"{done} cases of six settings at {record['side']}² ({made_by(record)}); “largest” is the largest difference, "
        "relative above one, in pictures without a pixel on the other side of a jump; “beyond” counts pictures out of "
        "tolerance:",
        two_columns(["node", "cases", "largest", "beyond"], rows),
    ]
    if beyond:
        parts.append("Beyond tolerance:\n" + "\n".join(f"- {line}" for line in beyond))
    parts.append(
        f"{mixed['cases']} random graphs of 5–20 nodes: the largest mean difference is "
        f"{mixed['largest_mean']:.2g} (bar 1e-4); no pixel is left out."
    )
    return "\n\n".join(parts)


def _count(result: Mapping[str, Any]) -> str:
    done, cases = result["done"], result["cases"]
    return str(done) if done == cases else f"{done} of {cases}"


def gradients(record: Record) -> str:
    """Derivatives by node."""
    rows = [
        [name.removeprefix("ShaderNode"), str(r["compared"]), f"{r['largest']:.1e}" if r["largest"] else "rounding",
         ", ".join(f"{key} ({count})" for key, count in sorted(r["rough"].items()))]
        for name, r in sorted(record["nodes"].items()) if r["compared"] or r["rough"]
    ]  # fmt: skip
    figures = record["figures"]
    return "\n\n".join(
        [
            f"{figures['compared']:.0f} derivatives ({made_by(record)}): {figures['share_within']:.1%} within 1 % of "
            f"central differences, {figures['not_finite']:.0f} not finite. “Rough”: parameters, and in how many cases, "
            "by which less than half the pixels are smooth, so that nothing is compared:",
            table(["node", "compared", "largest error", "rough"], rows),
        ]
    )


def speed(record: Record) -> str:
    """The three sides, the figures against their bars, and the arithmetic limit."""
    seen, figures, bars = record["seconds_an_image"], record["figures"], record["bars"]
    cpu = {"preview": seen["preview_cpu"], "worker": seen["worker_cpu"]}
    names = {"preview": "preview", "worker": "Blender worker, 1 sample", "process": "one Blender start each"}
    sides = [
        [text, f"{1e3 * seen[side]['median']:.3g}", f"{1e3 * cpu[side]['median']:.3g}" if side in cpu else "–"]
        for side, text in names.items()
    ]
    rows = [
        [f"`{name}`", f"{bars[name]:g}" if name in bars else "–",
         f"{value:.3g}" + (" **below**" if name in bars and value < bars[name] else "")]
        for name, value in figures.items()
    ]  # fmt: skip
    parts = [
        f"Measured at {made_by(record)}:",
        table(["side", "ms an image (wall, median)", "CPU ms"], sides),
        table(["figure", "bar", "measured"], rows),
    ]
    if "limit" in record:
        limit = record["limit"]
        parts.append(
            f"One core here does {limit['operations_per_second']:.2g} integer and multiply-add operations a second. "
            f"The textures of this graph are {limit['operations_per_pixel']:.0f} of them for each pixel as the "
            f"algorithms are published, {limit['ms_an_image']:.3g} CPU ms an image; the kernel takes "
            f"{1e3 * seen['preview_cpu']['median']:.3g}, shading and bump included, because it leaves out what cannot "
            "matter."
        )
        parts.append("![Growth with pixels, batch, textures and nodes](preview-growth.svg)")
    return "\n\n".join(parts)


AXES = {
    "pixels": "side in pixels, batch of 4",
    "batch": "settings at once, 64²",
    "textures": "noise textures, 128², batch of 16",
    "nodes": "nodes (13 and more Math), 128², batch of 16",
}
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 300, 220, 44, 30, 40


def plot(growth: Mapping[str, Any]) -> str:
    """Four panels with logarithmic axes as SVG: processor milliseconds an image, and the arithmetic limit."""
    panels = [_panel(title, growth[axis], index) for index, (axis, title) in enumerate(AXES.items())]
    style = "text{font:11px sans-serif;fill:#222}.a{stroke:#999;fill:none}.m{stroke:#1667b7;fill:none;stroke-width:2}"
    style += ".d{fill:#1667b7}.l{stroke:#c1440e;fill:none;stroke-dasharray:5 3}.w{fill:#fff}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {2 * HEIGHT + 20}">'
        f'<style>{style}</style><rect class="w" width="100%" height="100%"/>{"".join(panels)}'
        f'<text x="{LEFT}" y="{2 * HEIGHT + 12}">processor ms an image: solid measured, dashed the arithmetic limit of '
        "the published algorithms</text></svg>\n"
    )


def _panel(title: str, found: Mapping[str, Mapping[str, float]], index: int) -> str:
    points = {key: found[key] for key in sorted(found, key=float)}
    xs = [math.log(float(key)) for key in points]
    lines = {"m": [p["ms"] for p in points.values()], "l": [p["limit_ms"] for p in points.values()]}
    values = [value for line in lines.values() for value in line]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    x0, y0 = WIDTH * (index % 2), HEIGHT * (index // 2)

    def x(value: float) -> float:
        return x0 + LEFT + (WIDTH - LEFT - 20) * (value - xs[0]) / (xs[-1] - xs[0])

    def y(value: float) -> float:
        share = (math.log10(value) - low) / (high - low)
        return y0 + HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share

    parts = [f'<text x="{x0 + LEFT}" y="{y0 + 18}">{title}</text>']
    for power in range(low, high + 1):
        at = y(10.0**power)
        parts.append(f'<path class="a" d="M{x0 + LEFT} {at:.1f}H{x0 + WIDTH - 20}"/>')
        parts.append(f'<text x="{x0 + LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for key, place in zip(points, xs, strict=True):
        parts.append(f'<text x="{x(place):.1f}" y="{y0 + HEIGHT - BOTTOM + 16}" text-anchor="middle">{key}</text>')
    for name, line in lines.items():
        path = " ".join(f"{x(place):.1f} {y(value):.1f}" for place, value in zip(xs, line, strict=True))
        parts.append(f'<path class="{name}" d="M{path}"/>')
    dots = zip(xs, lines["m"], strict=True)
    parts += [f'<circle class="d" cx="{x(a):.1f}" cy="{y(b):.1f}" r="3"/>' for a, b in dots]
    return "".join(parts)


SECTIONS: Mapping[str, Callable[[Record], str]] = {
    "preview_parity": parity,
    "preview_gradients": gradients,
    "preview": speed,
}


def main() -> int:
    """Run the script."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 where the page is behind")
    parser.add_argument("--keep", nargs="*", type=Path, default=[], metavar="RESULT", help="outputs of benchmarks")
    options = parser.parse_args()
    for path in options.keep:
        keep(path)
    from renderer.preview.listing import listing  # noqa: PLC0415 - the package is found by the line above

    page = with_section(PAGE.read_text(encoding="utf-8"), "nodes", listing())
    for name, section in SECTIONS.items():
        record = load(name)
        if record is not None:
            page = with_section(page, name, section(record))
    measured = load("preview") or {}
    drawn = plot(measured["growth"]) if "growth" in measured else ""
    if options.check:
        same = PAGE.read_text(encoding="utf-8") == page
        print("up to date" if same else f"{PAGE} is behind; run python scripts/preview_figures.py")
        return 0 if same else 1
    PAGE.write_text(page, encoding="utf-8")
    if drawn:
        PLOT.write_text(drawn, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
