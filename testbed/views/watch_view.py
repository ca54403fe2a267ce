# SPDX-License-Identifier: GPL-2.0-or-later
"""How labs look while somebody watches them on a terminal."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from contracts.errors import NetBoxITError
from testbed.observation.watching import Watch, WatchedLab
from testbed.views import drawing, keyboard

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

_LIGHTS: Final = {"green": "green", "amber": "yellow", "red": "bold red"}
#: Below these widths, in columns, the least important things are left out.
_WIDE, _MIDDLE = 110, 76
_UNITS: Final = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


class NoTerminal(NetBoxITError):
    """A view that changes needs a terminal."""

    exit_status = 2


def watch(only: str | None, interval_s: float, ended: threading.Event) -> None:
    """Until q, Ctrl-C or a signal; the terminal is then as it was. Raises NoTerminal."""
    if not sys.stdout.isatty():
        raise NoTerminal(
            "--watch draws on a terminal, which standard output is not; `status --watch --json` writes lines for programs"
        )
    from rich.live import Live

    console = drawing.terminal()
    watching = Watch(only)
    try:
        with keyboard.keys() as descriptor, Live(console=console, screen=True, auto_refresh=False) as live:
            while True:
                watching.look()
                live.update(picture(list(watching.labs.values()), console.width, console.height, interval_s), refresh=True)
                if keyboard.pressed(descriptor, "q", interval_s, ended):
                    return
    finally:
        watching.close()


def picture(labs: Sequence[WatchedLab], width: int, height: int, interval_s: float) -> RenderableType:
    from rich.console import Group

    parts: list[RenderableType] = [drawing.plain(f"every {interval_s:g} s, q ends it", "dim", no_wrap=True)]
    if not labs:
        parts.append(drawing.plain("no lab is up"))
    for watched in sorted(labs, key=lambda one: one.lab.name):
        parts.append(drawing.plain(f"lab {watched.lab.name}", "bold", no_wrap=True))
        if watched.interval is None:
            parts.append(drawing.plain("the first interval is not over yet", "dim"))
            continue
        parts.append(nodes(watched.interval["nodes"], width))
    room = max(3, height - sum(_height(watched) for watched in labs) - 4)
    newest = [(event, watched.lab.name) for watched in labs for event in list(watched.events)[-room:]]
    if newest:
        parts.append(drawing.plain("lately", "bold"))
    for event, lab in newest[-room:]:
        prefix = f"{lab}: " if len(labs) > 1 else ""
        words = f"{event['at_s']:>9.1f} s  {prefix}{event['words']}"
        parts.append(drawing.plain(words, no_wrap=True, overflow="ellipsis"))
    return Group(*parts)


def nodes(told: Sequence[Mapping[str, Any]], width: int) -> Table:
    """A line for each port; what concerns the node as a whole is in its first."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 1, 0, 0), expand=False)
    columns = ["node", *(["cores"] if width >= _WIDE else []), "late", "port", "in", "out"]
    columns += ["delay", "lost"] if width >= _MIDDLE else ["lost"]
    for column in columns:
        right = column in ("in", "out", "delay")
        table.add_column(column, no_wrap=True, overflow="ellipsis", justify="right" if right else "left", header_style="dim")
    for node in told:
        ports = node["ports"] or [None]
        for place, port in enumerate(ports):
            cells = {
                "node": _name(node) if place == 0 else "",
                "cores": ",".join(map(str, node["cores"])) if place == 0 else "",
                "late": _lateness(node, width) if place == 0 else "",
                "lost": _lost(node) if place == 0 else "",
                "port": port["name"] if port else "",
                "in": _rate(port, "in", width) if port else "",
                "out": _rate(port, "out", width) if port else "",
                "delay": f"{port['delay_ms']:.3g} ms" if port and port["delay_ms"] is not None else "",
            }
            table.add_row(*(cells[column] for column in columns))
    return table


def _name(node: Mapping[str, Any]) -> Text:
    return drawing.plain(node["name"]) if node["alive"] else drawing.plain(f"{node['name']} ended", "bold red")


def _lateness(node: Mapping[str, Any], width: int) -> Text:
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
    bounds = [kind["p99_us"] for kind in kinds if kind["count"]]
    p99 = ("> 200 ms" if None in bounds else f"≤ {_microseconds(max(bounds))}") if bounds else "idle"
    words = [*([p99] if width >= _MIDDLE else []), *([f"{missed} missed"] if missed else [])]
    return drawing.coloured(("●", colour), f" {' '.join(words)}")


def _microseconds(value: float) -> str:
    return f"{value:g} us" if value < 1000 else f"{value / 1000:g} ms"


def _rate(port: Mapping[str, Any], way: str, width: int) -> str:
    bits, frames = port[f"{way}_bit_s"], port[f"{way}_frames_s"]
    if bits is None:
        return ""
    scaled = next(((bits / scale, unit) for scale, unit in _UNITS if bits >= scale), (bits, ""))
    text = f"{scaled[0]:.3g} {scaled[1]}bit/s"
    return f"{text} {frames:.0f}/s" if width >= _WIDE else text


def _lost(node: Mapping[str, Any]) -> Text:
    told = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in node["lost"].items())
    return drawing.plain(told, "red")


def _height(watched: WatchedLab) -> int:
    if watched.interval is None:
        return 2
    return 2 + sum(max(1, len(node["ports"])) for node in watched.interval["nodes"])
