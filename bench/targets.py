# SPDX-License-Identifier: GPL-2.0-or-later
"""What is to be reached, and what was: the figures that a bench is judged by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bench.pairs import Ratio
from bench.trial import LEAST_KEPT

if TYPE_CHECKING:
    from testbed.documents.bench import Figures
    from testbed.documents.bench import Target as Judged

Ratios = Mapping[str, Ratio]

#: These have something to do in every frame of the air, also without traffic.
_WITH_FRAME_CLOCK = ("wimax",)


@dataclass(frozen=True)
class Target:
    """A figure, the value that it should have at least (or at most), and where to find it; KeyError when it was not measured."""

    figure: str
    value: float
    at_least: bool
    unit: str
    find: Callable[[Ratios, Figures], float]

    def judge(self, ratios: Ratios, figures: Figures) -> Judged | None:
        try:
            measured = self.find(ratios, figures)
        except KeyError:
            return None
        reached = measured >= self.value if self.at_least else measured <= self.value
        bound = "at least" if self.at_least else "at most"
        target = f"{bound} {self.value:g} {self.unit}".strip()
        return {"figure": self.figure, "target": target, "measured": measured, "unit": self.unit, "reached": reached}


def _ratio(name: str) -> Callable[[Ratios, Figures], float]:
    return lambda ratios, figures: ratios[name].median


def _worst_lateness(level: Literal["p50", "p99_9"]) -> Callable[[Ratios, Figures], float]:
    """Of all netboxes, of frames and of events."""

    def find(ratios: Ratios, figures: Figures) -> float:
        netboxes = figures["lateness_us"].values()
        return max(
            late
            for netbox in netboxes
            for levels in (netbox, netbox["event"])
            if levels["count"] and (late := levels[level]) is not None
        )

    return find


def _worst_idle(ratios: Ratios, figures: Figures) -> float:
    return max(100 * of["cpu"] for of in figures["idle"].values() if of["technology"] not in _WITH_FRAME_CLOCK)


def _most_kept_up(ratios: Ratios, figures: Figures) -> float:
    """Of each scheme the highest rate, of these the lowest."""
    return min(
        max((step["offered"] for step in steps if step["kept_up"]), default=0.0) / 1e3 for steps in figures["services"].values()
    )


TARGETS = (
    Target("set-up A by veth wires, ratio to stock", 3, True, "", _ratio("setup_a_veth")),
    Target("set-up A by memory wires, ratio to stock", 8, True, "", _ratio("setup_a_memory")),
    Target("delivered of the loss-free rate at twice as much (veth)", 0.9, True, "", _ratio("overload_delivered")),
    Target("delivered of the loss-free rate at twice as much (memory)", 0.9, True, "", _ratio("overload_delivered_memory")),
    Target("8 netboxes in a chain, ratio to stock", 5, True, "", _ratio("chain_of_8")),
    Target("crossing a veth wire, p50", 4, False, "us", lambda _, figures: figures["crossing_us"]["veth"]["p50"]),
    Target("crossing a memory wire, p50", 1, False, "us", lambda _, figures: figures["crossing_us"]["memory"]["p50"]),
    Target("lateness in the emergency network, worst p50", 5, False, "us", _worst_lateness("p50")),
    Target("lateness in the emergency network, worst p99.9", 100, False, "us", _worst_lateness("p99_9")),
    Target("emulation against simulation, share of the tolerance", 1, False, "", lambda _, figures: figures["fidelity"]["worst"]),
    Target("8 links with 8 TCP flows in virtual time, ratio to ns-3's own nodes", 1, True, "", _ratio("virtual_chain")),
    Target("idle netbox without a frame clock, worst", 0.5, False, "% of a core", _worst_idle),
    Target("frames that selective repeat carries in time", LEAST_KEPT * 200, True, "1000/s", _most_kept_up),
    Target("emergency lab up", 3, False, "s", lambda _, figures: figures["lab_up_s"]),
    Target("emergency lab down", 1, False, "s", lambda _, figures: figures["lab_down_s"]),
    Target("lab of 50 hosts and links up", 15, False, "s", lambda _, figures: figures["lab_by_size"]["50"]["up_s"]),
    Target("`apply` of one changed link to a lab of 50 nodes", 2, False, "s", lambda _, figures: figures["apply_link_s"]),
    Target(
        "datagrams of other flows lost by any `apply`",
        0,
        False,
        "",
        lambda _, figures: float(max(figures["apply_lost"].values())),
    ),
)


def to_reach(ratios: Ratios, figures: Figures) -> list[Judged]:
    """What of it was measured."""
    return [judged for target in TARGETS if (judged := target.judge(ratios, figures))]
