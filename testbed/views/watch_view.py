# SPDX-License-Identifier: GPL-2.0-or-later
"""How labs look while somebody watches them on a terminal."""

from __future__ import annotations

import math
import os
import select
import sys
import termios
import threading
import time
import tty
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import zip_longest
from typing import Final

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from contracts.errors import WrongInput
from contracts.node_status import PartStatus
from contracts.quantities import RATE
from netboxes.stages.stage import RATES
from testbed.documents.watch import NodeFigures, Port, Service, StageFigures
from testbed.observation.watching import Watch, WatchedLab
from testbed.views import drawing

_LIGHTS: Final = {"green": "green", "amber": "yellow", "red": "bold red"}
#: Below these widths, in columns, the least important things are left out.
_WIDE, _MIDDLE = 110, 76
_UNITS: Final = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


class NoTerminal(WrongInput):
    """A view that changes needs a terminal."""


def watch(only: str | None, interval_s: float, ended: threading.Event) -> None:
    """Until q, Ctrl-C or a signal; the terminal is then as it was. Raises NoTerminal."""
    if not sys.stdout.isatty():
        raise NoTerminal(
            "--watch draws on a terminal, which standard output is not; `status --watch --json` writes lines for programs"
        )
    console = drawing.terminal()
    with (
        closing(Watch(only)) as watching,
        _keys() as descriptor,
        Live(console=console, screen=True, auto_refresh=False) as live,
    ):
        while True:
            watching.look()
            live.update(picture(list(watching.labs.values()), console.width, console.height, interval_s), refresh=True)
            if _pressed(descriptor, "q", interval_s, ended):
                return


def picture(labs: Sequence[WatchedLab], width: int, height: int, interval_s: float) -> RenderableType:
    parts: list[RenderableType] = [drawing.plain(f"every {interval_s:g} s, q ends it", "dim", no_wrap=True)]
    if not labs:
        parts.append(drawing.plain("no lab is up"))
    for watched in sorted(labs, key=lambda watched: watched.lab.name):
        parts.append(drawing.plain(f"lab {watched.lab.name}", "bold", no_wrap=True))
        if watched.interval is None:
            parts.append(drawing.plain("the first interval is not over yet", "dim"))
        else:
            parts.append(nodes(watched.interval["nodes"], width))
    lines_left = max(3, height - sum(_height(watched) for watched in labs) - 4)
    newest = [
        f"{event['at_s']:>9.1f} s  {f'{watched.lab.name}: ' if len(labs) > 1 else ''}{event['words']}"
        for watched in labs
        for event in list(watched.events)[-lines_left:]
    ]
    if newest:
        parts.append(drawing.plain("lately", "bold"))
    parts += [drawing.plain(line, no_wrap=True, overflow="ellipsis") for line in newest[-lines_left:]]
    return Group(*parts)


def nodes(figures: Sequence[NodeFigures], width: int) -> Table:
    """A line for each port; what concerns the node as a whole is in its first."""
    table = Table(box=None, padding=(0, 1, 0, 0), expand=False)
    managed = any("management" in node for node in figures)
    columns = [
        *("node", *(["cores"] if width >= _WIDE else []), "late", *(["budget"] if managed else []), "port", "in", "out"),
        *(["delay"] if width >= _MIDDLE else []),
        "lost",
    ]
    for column in columns:
        right = column in ("in", "out", "delay")
        table.add_column(column, no_wrap=True, overflow="ellipsis", justify="right" if right else "left", header_style="dim")
    no_cells: dict[str, Text | str] = {}
    for node in figures:
        ports = [_port(port, width) for port in node["ports"]]
        ports += [_service(service, width) for service in node.get("services", ())]
        ports += map(_stage, node.get("stages", ()))
        for of_node, of_port in zip_longest([_node(node, width)], ports, fillvalue=no_cells):
            table.add_row(*((of_node | of_port).get(column, "") for column in columns))
    return table


def _node(node: NodeFigures, width: int) -> dict[str, Text | str]:
    marked = node.get("marked", 0)
    lost = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in node["lost"].items())
    return {
        "node": drawing.plain(node["name"]) if node["alive"] else drawing.plain(f"{node['name']} ended", "bold red"),
        "cores": ",".join(map(str, node["cores"])),
        "late": _lateness(node, width),
        "budget": drawing.coloured(*(words for part in node.get("management", ()) for words in _budget(part))),
        "lost": drawing.coloured((lost, "red"), f"{', ' if lost else ''}{marked} marked" if marked else ""),
    }


def _budget(part: PartStatus) -> Iterator[tuple[str, str]]:
    """What a member may send, or an allocator divides; amber where it is not in force, or may be an old one."""
    rate = part["budget"] if part["role"] == "member" else part["capacity"]
    words = "none" if rate is None else RATE.write(rate)
    wrong = part["unenforced"] is not None or part["reachable"] is False
    yield (words if part["role"] == "member" else f"divides {words}"), "yellow" if wrong else ""


def _port(port: Port, width: int) -> dict[str, Text | str]:
    return {
        "port": port["name"],
        "in": _rate(port["in_bit_s"], port["in_frames_s"], width),
        "out": _rate(port["out_bit_s"], port["out_frames_s"], width),
        "delay": "" if port["delay_ms"] is None else f"{port['delay_ms']:.3g} ms",
    }


def _service(service: Service, width: int) -> dict[str, Text | str]:
    repeated, lost = service["retransmissions"], service["lost"]
    return {
        "port": drawing.plain(f"{service['station']} {service['service']}", "dim"),
        "in": _rate(service["in_bit_s"], None, width),
        "out": _rate(service["out_bit_s"], None, width),
        "delay": "" if service["delay_ms"] is None else f"{service['delay_ms']:.3g} ms",
        "lost": drawing.coloured(
            (f"{lost} lost" if lost else "", "red"), f"{', ' if lost and repeated else ''}{repeated} repeated" if repeated else ""
        ),
    }


def _stage(stage: StageFigures) -> dict[str, Text | str]:
    """Without bytes: a line has no room for both. What is not in words of its own is how many packets."""
    levels = [f"{what} {RATE.write(n) if what in RATES else f'{n:g}'}" for what, n in stage["levels"].items() if n]
    counts = [f"{n:g} {what.replace('_', ' ')}" for what, n in stage["counts"].items() if not what.endswith("_bytes")]
    return {
        "port": drawing.plain(f"{stage['port']} {stage['stage']}", "dim"),
        "lost": drawing.plain(", ".join([*counts, *levels]), "dim"),
    }


def _lateness(node: NodeFigures, width: int) -> Text:
    """A light for each netbox, and how late its frames and events were in the last interval."""
    if node["kind"] != "netbox" or not node["alive"]:
        return drawing.plain("")
    colour = _LIGHTS[node["light"]]
    if not node["answers"]:
        return drawing.plain("● silent", colour)
    if node["lateness"] is None:
        return drawing.plain("●", colour)
    kinds = [node["lateness"][kind] for kind in ("frame", "event")]
    missed = sum(kind["missed"] for kind in kinds)
    bounds_us = [math.inf if kind["p99_us"] is None else kind["p99_us"] for kind in kinds if kind["count"]]
    words = [_bound(max(bounds_us)) if bounds_us else "idle"] if width >= _MIDDLE else []
    words += [f"{missed} missed"] if missed else []
    return drawing.coloured(("●", colour), f" {' '.join(words)}")


def _bound(value_us: float) -> str:
    if math.isinf(value_us):
        return "> 200 ms"
    return f"≤ {value_us:g} us" if value_us < 1000 else f"≤ {value_us / 1000:g} ms"


def _rate(bit_s: float | None, frames_s: float | None, width: int) -> str:
    if bit_s is None:
        return ""
    scale, unit = next((unit for unit in _UNITS if bit_s >= unit[0]), (1, ""))
    text = f"{bit_s / scale:.3g} {unit}bit/s"
    return f"{text} {frames_s:.0f}/s" if frames_s is not None and width >= _WIDE else text


def _height(watched: WatchedLab) -> int:
    if watched.interval is None:
        return 2
    lines = [
        len(node["ports"]) + len(node.get("services", ())) + len(node.get("stages", ())) for node in watched.interval["nodes"]
    ]
    return 2 + sum(max(1, of_node) for of_node in lines)


@contextmanager
def _keys() -> Iterator[int | None]:
    """The terminal's descriptor, at which each key can be read at once and is not echoed; None where there is no terminal."""
    if not sys.stdin.isatty():
        yield None
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield descriptor
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _pressed(descriptor: int | None, key: str, seconds: float, ended: threading.Event) -> bool:
    """Waits so long for that key, or for the event. False: the time is over."""
    until = time.monotonic() + seconds
    while (left_s := until - time.monotonic()) > 0:
        if descriptor is None:
            return ended.wait(left_s)
        # A signal interrupts nothing here (PEP 475): it is noticed within the tenth of a second.
        typed = os.read(descriptor, 64) if select.select([descriptor], [], [], min(left_s, 0.1))[0] else b""
        if key in typed.decode(errors="replace") or ended.is_set():
            return True
    return False
