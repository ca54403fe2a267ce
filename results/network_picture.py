# SPDX-License-Identifier: GPL-2.0-or-later
"""The network of a run as a picture (SVG), drawn from its plan: from left to right as frames travel."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

_WIDTH, _BOX, _ROW = 1080, 148, 150
_LINE = 15
_FILLS = {"host": "#eef4fa", "netbox": "#fdf3e7", "router": "#eaf6f0"}
_STROKES = {"host": "#0072B2", "netbox": "#E69F00", "router": "#009E73"}


@dataclass(frozen=True)
class Box:
    """A node with its lines of text, at a column and a row."""

    name: str
    kind: str
    lines: tuple[str, ...]
    column: int
    row: int

    @property
    def height(self) -> int:
        return 40 + _LINE * len(self.lines)


def picture(plan: Mapping[str, Any], words: Mapping[str, Sequence[str]], left: str | None) -> str:
    """`words` are the lines under a node's name; `left` is the host that the picture begins with."""
    nodes = {node["name"]: node["kind"] for node in plan["nodes"]}
    ends = [(wire["left"]["node"], wire["right"]["node"]) for wire in plan["wires"]]
    columns = _columns(list(nodes), ends, left)
    boxes: dict[str, Box] = {}
    used: dict[int, int] = {}
    for name in sorted(nodes, key=lambda node: columns[node]):
        row = used.get(columns[name], 0)
        used[columns[name]] = row + 1
        boxes[name] = Box(name, nodes[name], tuple(words.get(name, ())), columns[name], row)
    return _draw(boxes, ends)


def _columns(nodes: Sequence[str], ends: Sequence[tuple[str, str]], left: str | None) -> dict[str, int]:
    """The number of wires from the leftmost node; parts that no wire joins to it begin at the left again."""
    beside: dict[str, list[str]] = {node: [] for node in nodes}
    for one, other in ends:
        beside[one].append(other)
        beside[other].append(one)
    columns: dict[str, int] = {}
    for first in [*([left] if left in beside else []), *nodes]:
        if first in columns:
            continue
        columns[first] = 0
        waiting = deque([first])
        while waiting:
            node = waiting.popleft()
            for other in beside[node]:
                if other not in columns:
                    columns[other] = columns[node] + 1
                    waiting.append(other)
    return columns


def _draw(boxes: Mapping[str, Box], ends: Sequence[tuple[str, str]]) -> str:
    columns = max((box.column for box in boxes.values()), default=0) + 1
    rows = max((box.row for box in boxes.values()), default=0) + 1
    width = max(_WIDTH, columns * (_BOX + 24))
    step = width / columns
    tallest = max((box.height for box in boxes.values()), default=0)
    row_height = max(_ROW, tallest + 24)
    height = rows * row_height

    def centre(box: Box) -> tuple[float, float]:
        return step * (box.column + 0.5), row_height * (box.row + 0.5)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="the network">']
    for one, other in ends:
        (x1, y1), (x2, y2) = centre(boxes[one]), centre(boxes[other])
        parts.append(f'<line x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}" stroke="#98a2ad" stroke-width="2"/>')
    parts += [_box(box, *centre(box)) for box in boxes.values()]
    return "".join([*parts, "</svg>"])


def _box(box: Box, x: float, y: float) -> str:
    top = y - box.height / 2
    corner = 22 if box.kind == "router" else 7
    shape = (
        f'<rect x="{x - _BOX / 2:.0f}" y="{top:.0f}" width="{_BOX}" height="{box.height}" rx="{corner}" '
        f'fill="{_FILLS.get(box.kind, "#fff")}" stroke="{_STROKES.get(box.kind, "#777")}" stroke-width="1.5"/>'
    )
    texts = [(box.name, 18, 'font-size="14" font-weight="600"'), (box.kind, 33, 'font-size="11" fill="#66727e"')]
    texts += [(line, 33 + _LINE * (at + 1), 'font-size="11.5" fill="#25303b"') for at, line in enumerate(box.lines)]
    return shape + "".join(
        f'<text x="{x:.0f}" y="{top + down:.0f}" text-anchor="middle" {style}>{escape(text)}</text>'
        for text, down, style in texts
    )
