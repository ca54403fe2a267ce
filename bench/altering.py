# SPDX-License-Identifier: GPL-2.0-or-later
"""What it costs to change a lab of fifty nodes: seconds of `netboxit apply`, and datagrams of other flows that are lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from bench.flows import Flows, Pair
from bench.lab import removed, timed
from bench.networks import Network
from bench.outcome import Outcome, Table
from bench.settings import Surroundings
from testbed.labs.lab import Lab

#: Each two hosts and a link; with two hosts on a wire of their own they are fifty nodes.
_PAIRS = 16
_LAB = "bench-altering"


def measure(around: Surroundings) -> Outcome:
    file = around.folder / f"{_LAB}.yaml"

    def write(network: Network) -> None:
        file.write_text(json.dumps(network, indent=1) + "\n")

    write(_network())
    rounds: dict[str, list[tuple[float, int, int]]] = {name: [] for name in _CHANGES}
    with removed(_LAB):
        around.progress(f"bringing up {_LAB}")
        timed("apply", str(file))
        for _ in range(around.settings.pairs):
            for name, change in _CHANGES.items():
                around.progress(f"{_LAB}: {name}")
                with Flows(Lab.open(_LAB), _pairs()) as flows:
                    changed = _network()
                    change(changed)
                    write(changed)
                    taken_s = timed("apply", str(file))
                lost = flows.lost()
                rounds[name].append((taken_s, sum(lost[1:]), lost[0]))
                write(_network())
                timed("apply", str(file))
    seconds = {name: [trial[0] for trial in all_of] for name, all_of in rounds.items()}
    return Outcome(
        figures={
            "apply_s": {name: median(values) for name, values in seconds.items()},
            "apply_link_s": max(median(seconds[_LIVE]), median(seconds[_AGAIN])),
            "apply_lost": {name: sum(trial[1] for trial in all_of) for name, all_of in rounds.items()},
        },
        tables=(
            Table(
                "`netboxit apply` on a lab of 50 nodes, start of the program included",
                ("change", "s", "spread", "lost of the 16 other flows", "of the flow through it"),
                tuple(
                    (name, *_range(seconds[name]), str(sum(trial[1] for trial in all_of)), _own(all_of))
                    for name, all_of in rounds.items()
                ),
                f"Each flow sends {Flows.RATE:g} datagrams a second while `apply` runs; the last column is a median.",
            ),
        ),
    )


def _network() -> Network:
    hosts: dict[str, Any] = {"left": {"address": "10.9.0.1/24"}, "right": {"address": "10.9.0.2/24"}}
    netboxes: dict[str, Any] = {}
    wires = [["left", "right"]]
    for number in range(1, _PAIRS + 1):
        hosts |= {f"{side}{number}": {"address": f"10.8.{number}.{last}/24"} for side, last in (("a", 1), ("b", 2))}
        netboxes[f"link{number}"] = {
            "technology": "ethernet",
            "rate": "1 Gbit/s",
            "delay": "1 us",
            "stations": {"left": {}, "right": {}},
        }
        wires += [[f"a{number}", f"link{number}.left"], [f"link{number}.right", f"b{number}"]]
    return {"name": _LAB, "hosts": hosts, "netboxes": netboxes, "wires": wires}


def _pairs() -> list[Pair]:
    """The first goes through what is changed."""
    through = [Pair(f"a{number}", f"b{number}", f"10.8.{number}.2") for number in range(1, _PAIRS + 1)]
    return [*through, Pair("left", "right", "10.9.0.2")]


def _nothing(network: Network) -> None:
    """The file as it was."""


def _live(network: Network) -> None:
    network["netboxes"]["link1"]["delay"] = "50 us"


def _restart(network: Network) -> None:
    network["netboxes"]["link1"]["classes"] = {"voice": {"dscp": "ef"}}


def _station(network: Network) -> None:
    network["hosts"]["c1"] = {"address": "10.8.1.3/24"}
    network["netboxes"]["link1"]["stations"]["third"] = {}
    network["wires"].append(["c1", "link1.third"])


_LIVE, _AGAIN = "the delay of a link: set live", "classes of a link: it starts again"

#: In words: what is changed of the network.
_CHANGES: dict[str, Callable[[Network], None]] = {
    "nothing": _nothing,
    _LIVE: _live,
    _AGAIN: _restart,
    "a host more at a link: both start": _station,
}


def _range(values: Sequence[float]) -> tuple[str, str]:
    return f"{median(values):.2f}", f"{min(values):.2f} … {max(values):.2f}"


def _own(measured: Sequence[tuple[float, int, int]]) -> str:
    return f"{median(trial[2] for trial in measured):g}"
