"""Where the nodes go in Blender's editor: left to right along the links, in frames by role, without overlaps.

Nodes of one role stand together in a block as long as that leaves an order of blocks; a role that is visited twice, as
color that shapes a later height, gets a second block. Blocks stand in columns by their distance from the output, and so
do the nodes within a block, so that every link runs to the right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graph_api.catalog import load_catalog
from graph_api.faces import Face, face_of, kind_of
from graph_api.model import Graph, Node

GAP_X, GAP_Y = 70.0, 30.0
FRAME_MARGIN, FRAME_TITLE = 28.0, 34.0
BLOCK_GAP = 60.0
TITLES = {
    "mapping": "Mapping", "macro": "Macro", "meso": "Meso", "micro": "Micro", "color": "Color", "shading": "Shading",
}  # fmt: skip
# What a node without a role is for, where its type leaves no doubt.
_BY_KIND = {"SHADER": "shading", "COLOR": "color", "INPUT": "mapping"}
_BY_TYPE = {
    "ShaderNodeMapping": "mapping", "ShaderNodeTexCoord": "mapping", "ShaderNodeUVMap": "mapping",
    "ShaderNodeBump": "shading", "ShaderNodeNormalMap": "shading", "ShaderNodeDisplacement": "shading",
    "ShaderNodeVectorDisplacement": "shading", "ShaderNodeValToRGB": "color",
    "ShaderNodeValue": "", "ShaderNodeRGB": "",
}  # fmt: skip
_NO_BLOCK = ("output",)


@dataclass(frozen=True)
class Frame:
    """A frame round the nodes of one role; (`x`, `y`) is its upper left corner, y grows upward."""

    role: str
    title: str
    members: tuple[str, ...]
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Arrangement:
    """Upper left corners of the nodes and the frames, in interface units, y upward; `faces` by node id."""

    places: Mapping[str, tuple[float, float]]
    frames: tuple[Frame, ...]
    faces: Mapping[str, Face]


def role_of(node: Node) -> str:
    """The node's role, or what its type says of it; empty when neither does."""
    if node.role or node.type == "ShaderNodeOutputMaterial":
        return node.role or "output"
    return _BY_TYPE.get(node.type, _BY_KIND.get(kind_of(node.type), ""))


def arrange(graph: Graph) -> Arrangement:
    """Place every node of the graph; the rightmost node ends at x = 0."""
    catalog = load_catalog(graph.blender_version)
    faces = {node.id: face_of(node, graph, catalog) for node in graph.nodes.values()}
    feeds: dict[str, list[str]] = {name: [] for name in graph.nodes}
    for link in graph.links:
        if link.src in feeds and link.dst in feeds:
            feeds[link.src].append(link.dst)
    blocks = _blocks(graph, feeds)
    sizes = {name: (face.width, face.height) for name, face in faces.items()}
    inner = [_Box(block, _columns(block.members, feeds, sizes, GAP_X, GAP_Y), sizes) for block in blocks]
    home = {name: str(index) for index, block in enumerate(blocks) for name in block.members}
    outer_feeds: dict[str, list[str]] = {str(index): [] for index in range(len(blocks))}
    for source, targets in feeds.items():
        outer_feeds[home[source]] += [home[name] for name in targets if home[name] != home[source]]
    extents = {str(index): box.size for index, box in enumerate(inner)}
    outer = _columns(list(outer_feeds), outer_feeds, extents, BLOCK_GAP, BLOCK_GAP)
    places: dict[str, tuple[float, float]] = {}
    frames: list[Frame] = []
    counts: dict[str, int] = {}
    for index, box in enumerate(inner):
        x, y = outer[str(index)]
        for name, (dx, dy) in box.places.items():
            places[name] = (x + box.pad + dx, y - box.title - box.pad + dy)
        title = TITLES.get(box.block.role)
        if title is not None:
            counts[title] = counts.get(title, 0) + 1
            number = f" {counts[title]}" if counts[title] > 1 else ""
            frames.append(Frame(box.block.role, title + number, tuple(box.block.members), x, y, *box.size))
    return Arrangement({name: places[name] for name in graph.nodes}, tuple(frames), faces)


@dataclass
class _Block:
    role: str
    members: list[str] = field(default_factory=list)
    upstream: set[int] = field(default_factory=set)


class _Box:
    """A block with its nodes placed from its own upper left corner."""

    def __init__(
        self, block: _Block, places: Mapping[str, tuple[float, float]], sizes: Mapping[str, tuple[float, float]]
    ) -> None:
        self.block = block
        framed = block.role in TITLES
        self.pad, self.title = (FRAME_MARGIN, FRAME_TITLE) if framed else (0.0, 0.0)
        left, top = min(x for x, _ in places.values()), max(y for _, y in places.values())
        self.places = {name: (x - left, y - top) for name, (x, y) in places.items()}
        width = max(x + sizes[name][0] for name, (x, _) in self.places.items())
        height = max(sizes[name][1] - y for name, (_, y) in self.places.items())
        self.size = (width + 2 * self.pad, height + 2 * self.pad + self.title)


def _blocks(graph: Graph, feeds: Mapping[str, Sequence[str]]) -> list[_Block]:
    """The nodes in blocks whose order has no circle; every node in exactly one."""
    feeding: dict[str, list[str]] = {name: [] for name in graph.nodes}
    for source, targets in feeds.items():
        for target in targets:
            feeding[target].append(source)
    blocks: list[_Block] = []
    home: dict[str, int] = {}
    latest: dict[str, int] = {}
    for name in _in_order(feeds):
        role = role_of(graph.nodes[name])
        sources = {home[one] for one in feeding[name] if one in home}
        behind = set(sources)
        for one in sources:
            behind |= blocks[one].upstream
        index = latest.get(role)
        # Joining closes a circle when something between here and the block stands outside it.
        if index is None or any(index in blocks[one].upstream for one in sources) or role in _NO_BLOCK:
            blocks.append(_Block(role))
            index = len(blocks) - 1
            latest[role] = index
        blocks[index].members.append(name)
        home[name] = index
        _spread(blocks, index, behind - {index})
    return blocks


def _spread(blocks: list[_Block], index: int, behind: set[int]) -> None:
    """Note that `behind` feeds block `index`, and with it every block that `index` feeds."""
    for number, block in enumerate(blocks):
        if number == index or index in block.upstream:
            block.upstream |= behind


def _in_order(feeds: Mapping[str, Sequence[str]]) -> list[str]:
    """Sources before what they feed; nodes of a circle last, in the order given."""
    waiting = dict.fromkeys(feeds, 0)
    for targets in feeds.values():
        for target in targets:
            waiting[target] += 1
    ready = [name for name, count in waiting.items() if count == 0]
    ordered: list[str] = []
    while ready:
        name = ready.pop(0)
        ordered.append(name)
        for target in feeds[name]:
            waiting[target] -= 1
            if waiting[target] == 0:
                ready.append(target)
    known = set(ordered)
    return ordered + [name for name in feeds if name not in known]


def _columns(
    names: Sequence[str],
    feeds: Mapping[str, Sequence[str]],
    sizes: Mapping[str, tuple[float, float]],
    gap_x: float,
    gap_y: float,
) -> dict[str, tuple[float, float]]:
    """Upper left corners: the column is the longest way to the right edge, the row follows what a thing feeds."""
    inside = set(names)
    onward = {name: [one for one in feeds[name] if one in inside and one != name] for name in names}
    depth: dict[str, int] = {}
    for name in reversed(_in_order(onward)):
        depth[name] = 1 + max((depth[one] for one in onward[name] if one in depth), default=-1)
    columns: dict[int, list[str]] = {}
    for name in names:
        columns.setdefault(depth[name], []).append(name)
    middle: dict[str, float] = {}
    places: dict[str, tuple[float, float]] = {}
    right = 0.0
    for number in sorted(columns):
        column = sorted(columns[number], key=lambda name: -_mean(middle[one] for one in onward[name] if one in middle))
        total = sum(sizes[name][1] for name in column) + gap_y * (len(column) - 1)
        wanted = _mean(middle[one] for name in column for one in onward[name] if one in middle)
        top, width = wanted + total / 2, max(sizes[name][0] for name in column)
        for name in column:
            places[name] = (right - sizes[name][0], top)
            middle[name] = top - sizes[name][1] / 2
            top -= sizes[name][1] + gap_y
        right -= width + gap_x
    return places


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known) if known else 0.0
