# SPDX-License-Identifier: GPL-2.0-or-later
"""A network as a picture (SVG), drawn from its plan: from left to right as frames travel."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from contracts import durable
from contracts.errors import WrongInput
from contracts.netbox_configuration import netbox_configuration
from contracts.plan import Plan
from results.flow_path import ends, kinds
from system.user_privileges import check_new

_WIDTH, _BOX, _GAP = 1080, 148, 20
_LINE = 15
#: Characters in a box, of some 6 units each.
_LONGEST_LINE = 24
_WIRE = 'fill="none" stroke="#98a2ad" stroke-width="2"'
#: Between two machines.
_LEAVING = 'fill="none" stroke="#D55E00" stroke-width="2" stroke-dasharray="7 5"'
#: Around the nodes of a machine: room for its name, and below them.
_HEAD, _FOOT = 26, 8
_FONTS = "system-ui, sans-serif"
_FILLS = {"host": "#eef4fa", "netbox": "#fdf3e7", "router": "#eaf6f0", "switch": "#f8eef4"}
_STROKES = {"host": "#0072B2", "netbox": "#E69F00", "router": "#009E73", "switch": "#CC79A7"}
#: As many parameters fit into a box of the picture.
_MOST_LINES = 6
#: Keys of a netbox that are no parameters of what it emulates; the technology stands by itself, its machine around it.
_NO_PARAMETERS = ("technology", "host", "io", "cores", "share")


class PictureFailed(WrongInput):
    """A picture could not be written."""


def write_picture(plan: Plan, written: Mapping[str, object], file: Path, *, overwrite: bool = False) -> None:
    """Draws the network of a plan, of a topology with this data, into an SVG file of its own. Raises PictureFailed, FileThere."""
    if file.suffix.lower() not in ("", ".svg"):
        raise PictureFailed(f"picture {file}: pictures are SVG, and not {file.suffix[1:]}; call it {file.stem}.svg")
    if not overwrite:
        check_new([file])
    drawn = picture(plan, network_words(plan, written), rightmost(plan), alone=True)
    try:
        durable.write(file, drawn + "\n")
    except OSError as error:
        raise PictureFailed(f"picture {file}: {error.strerror}; give the path of a file that can be written") from error


def network_words(plan: Plan, topology: Mapping[str, object]) -> dict[str, list[str]]:
    """For each node the lines for its box: of a netbox technology and parameters as the user wrote them, of others addresses."""
    written = topology.get("netboxes")
    words = {}
    for node in plan.nodes:
        if node.kind == "netbox":
            own = written.get(node.name, {}) if isinstance(written, dict) else {}
            plain = [
                f"{name.replace('_', ' ')} {str(value).lower() if isinstance(value, bool) else value}"
                for name, value in own.items()
                if isinstance(value, (str, int, float)) and name not in _NO_PARAMETERS
            ]
            # Of a lab whose topology is not at hand: traffic through a lab that was up keeps its own file only.
            technology = own.get("technology", netbox_configuration(node)["technology"])
            words[node.name] = [str(technology), *plain[:_MOST_LINES]]
        else:
            words[node.name] = [address for interface in node.interfaces for address in interface.addresses]
    return words


def topology_data(path: Path) -> Mapping[str, object]:
    """What a topology file holds; nothing of one that is missing or damaged."""
    try:
        content = YAML(typ="safe").load(path)
    except (OSError, UnicodeDecodeError, RecursionError, YAMLError):
        return {}
    return content if isinstance(content, dict) else {}


def rightmost(plan: Plan) -> str | None:
    """The host that a picture ends with: return traffic is drawn from left to right."""
    return next((entry.destination if entry.direction == "return" else entry.source for entry in plan.traffic), None)


def picture(plan: Plan, words: Mapping[str, Sequence[str]], right: str | None, *, alone: bool = False) -> str:
    """`words` are the lines under a node's name; `right` is the host that the picture ends with, None: the last node.
    `alone` is for a file of its own, which no page gives a size and a font.

    A node's column tells by how many wires it is away from there. Parts that no wire joins to it stand below. The machines of a
    lab over several are frames, one below the other, and wires between them are dashed.
    """
    joined = [(first_end.node, second_end.node) for first_end, second_end in ends(plan)]
    machines = {node.name: node.host for node in plan.nodes}
    machines |= {neighbour: machines[node] for node, neighbour in joined if neighbour not in machines}
    boxes = {name: Box(name, kind, tuple(words.get(name, ())), machines.get(name, "")) for name, kind in kinds(plan).items()}
    roots = _trees(boxes, joined, right)
    columns = max((box.column for box in boxes.values()), default=0) + 1
    width = max(_WIDTH, columns * (_BOX + 24))
    for box in boxes.values():
        box.x = width - width / columns * (box.column + 0.5)
    height, frames = 0.0, list[str]()
    for machine in dict.fromkeys((*(host.name for host in plan.hosts), *(box.machine for box in boxes.values()))):
        top = height
        for root in [root for root in roots if root.machine == machine]:
            height += _HEAD if machine and height == top else 0
            _place(root, height)
            height += root.branch_height
        if machine and height > top:
            height += _FOOT
            frames.append(_frame(machine, top, height - _FOOT, width))
    return _draw(boxes, joined, frames, width, height, alone)


@dataclass
class Box:
    """A node with its lines of text, its place (the middle of it), and the nodes that are reached by it from the right."""

    name: str
    kind: str
    lines: tuple[str, ...]
    machine: str
    column: int = 0
    x: float = 0.0
    y: float = 0.0
    behind: list[Box] = field(default_factory=list)

    @property
    def height(self) -> int:
        return 40 + _LINE * len(self.lines)

    @property
    def branch_height(self) -> float:
        """The height that it takes with all that is behind it."""
        return max(self.height + _GAP, sum(box.branch_height for box in self.behind))


def _trees(boxes: Mapping[str, Box], joined: Sequence[tuple[str, str]], right: str | None) -> list[Box]:
    """Gives each box its column, counted from the right, and what is behind it by a shortest path; one root for each part.

    What is reached from another machine is a root, too.
    """
    beside: dict[str, list[str]] = {name: [] for name in boxes}
    for node, neighbour in joined:
        beside[node].append(neighbour)
        beside[neighbour].append(node)
    roots: list[Box] = []
    seen: set[str] = set()
    for first in [*([right] if right in beside else []), *reversed(beside)]:
        if first in seen:
            continue
        roots.append(boxes[first])
        seen.add(first)
        waiting = deque([first])
        while waiting:
            node = waiting.popleft()
            for other in beside[node]:
                if other not in seen:
                    seen.add(other)
                    boxes[other].column = boxes[node].column + 1
                    (boxes[node].behind if boxes[other].machine == boxes[node].machine else roots).append(boxes[other])
                    waiting.append(other)
    return roots


def _place(box: Box, top: float) -> None:
    """A box stands in the middle of what is behind it."""
    box.y = top + box.branch_height / 2
    top += (box.branch_height - sum(other.branch_height for other in box.behind)) / 2
    for other in box.behind:
        _place(other, top)
        top += other.branch_height


def _draw(
    boxes: Mapping[str, Box],
    wires: Sequence[tuple[str, str]],
    frames: Sequence[str],
    width: float,
    height: float,
    alone: bool,
) -> str:
    size = f'width="{width}" height="{height:.0f}" font-family="{_FONTS}" ' if alone else ""
    box = f'viewBox="0 0 {width} {height:.0f}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size}{box} role="img" aria-label="the network">']
    if alone:
        parts.append(f'<rect width="{width}" height="{height:.0f}" fill="#fff"/>')
    drawn = [*frames, *(_wire(boxes[node], boxes[neighbour]) for node, neighbour in wires), *map(_box, boxes.values())]
    return "".join([*parts, *drawn, "</svg>"])


def _wire(box: Box, other: Box) -> str:
    """From side to side, so that it crosses no box of either column; straight where both are in one."""
    style = _WIRE if box.machine == other.machine else _LEAVING
    if box.column == other.column:
        return f'<path d="M{box.x:.0f} {box.y:.0f}L{other.x:.0f} {other.y:.0f}" {style}/>'
    (left, left_y), (right, right_y) = sorted([(box.x, box.y), (other.x, other.y)])
    left, right = left + _BOX / 2, right - _BOX / 2
    # Where there is a column between them, the curve has its turns beside them.
    turn = min((right - left) / 2, _BOX / 2)
    return (
        f'<path d="M{left:.0f} {left_y:.0f}C{left + turn:.0f} {left_y:.0f} {right - turn:.0f} {right_y:.0f} '
        f'{right:.0f} {right_y:.0f}" {style}/>'
    )


def _frame(machine: str, top: float, bottom: float, width: float) -> str:
    return (
        f'<rect x="4" y="{top + 4:.0f}" width="{width - 8:.0f}" height="{bottom - top - 4:.0f}" rx="10" '
        'fill="#f7f8fa" stroke="#c4cbd3"/>'
        f'<text x="16" y="{top + 22:.0f}" font-size="13" font-weight="600" fill="#66727e">{escape(machine)}</text>'
    )


def _fitting(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 1]}…"


def _box(box: Box) -> str:
    top = box.y - box.height / 2
    corner = 22 if box.kind == "router" else 7
    shape = (
        f'<rect x="{box.x - _BOX / 2:.0f}" y="{top:.0f}" width="{_BOX}" height="{box.height}" rx="{corner}" '
        f'fill="{_FILLS.get(box.kind, "#fff")}" stroke="{_STROKES.get(box.kind, "#777")}" stroke-width="1.5"/>'
    )
    texts = [(box.name, 18, 'font-size="14" font-weight="600"'), (box.kind, 33, 'font-size="11" fill="#66727e"')]
    texts += [(_fitting(line), 33 + _LINE * (at + 1), 'font-size="11.5" fill="#25303b"') for at, line in enumerate(box.lines)]
    return shape + "".join(
        f'<text x="{box.x:.0f}" y="{top + down:.0f}" text-anchor="middle" {style}>{escape(text)}</text>'
        for text, down, style in texts
    )
