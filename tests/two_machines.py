# SPDX-License-Identifier: GPL-2.0-or-later
"""The folder of a run over two machines, made by hand, with delays and clocks that a test knows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from contracts.machines import ClockReading, MachinesRecord, WireEnd
from contracts.plan import HostPlan, Plan
from results.conftest import MS, START_NS, US, Journey, SyntheticRun


@dataclass
class TwoMachines(SyntheticRun):
    """The same with the satellite and the centre on another machine, whose clock shows something else, joined by a tunnel."""

    #: By how much beta's clock is ahead when the run starts, and what it gains.
    offset_ns: int = 7_300_000
    drift_ppm: float = 40.0
    #: What the readings of the offset are wrong by, and say that they may be, before and after the traffic.
    wrong_ns: tuple[int, int] = (30_000, -20_000)
    error_ns: int = 45_000
    #: Frame by frame, again from the first one when there are more frames.
    tunnel_ns: dict[str, Sequence[int]] = field(
        default_factory=lambda: {"return": (80 * US, 100 * US, 150 * US), "forward": (60 * US, 70 * US, 90 * US)}
    )
    #: Numbers of frames that the tunnel loses on the way to beta.
    lost_there: Sequence[int] = ()

    #: In meoc, and in the port of sky.
    ROUTER_NS, PORT_NS = 20 * US, 2 * US

    def captured(self) -> tuple[str, ...]:
        return ("fr1", "meoc-jan", "sky-a", "eoc")

    def shown(self, node: str, time_ns: int) -> int:
        return time_ns + self._true_offset(time_ns) if node in ("sky", "eoc") else time_ns

    def _true_offset(self, time_ns: int) -> int:
        return self.offset_ns + round((time_ns - START_NS) * self.drift_ppm * 1e-6)

    def _cross(
        self, number: int, at_ns: int, journey: Journey, direction: str, seen: dict[str, list[tuple[int, bytes]]]
    ) -> int | None:
        if number != 1:
            return super()._cross(number, at_ns, journey, direction, seen)
        points, before, after = ("meoc-jan", "sky-a"), self.ROUTER_NS, self.PORT_NS
        if direction == "forward":
            points, before, after = points[::-1], after, before
        place = self.journeys[direction].index(journey)
        near = at_ns + before
        seen[points[0]].append((near, journey.data))
        if direction == "return" and place in self.lost_there:
            return None
        delays = self.tunnel_ns[direction]
        far = near + delays[place % len(delays)]
        seen[points[1]].append((far, journey.data))
        return far + after

    def plan(self) -> Plan:
        plan = super().plan()
        return replace(
            plan,
            nodes=tuple(replace(node, host="beta" if node.name in ("sky", "eoc") else "alpha") for node in plan.nodes),
            wires=tuple(replace(wire, kind="vxlan" if wire.name == "meoc-sky" else "veth") for wire in plan.wires),
            hosts=(HostPlan("alpha", True, "192.0.2.1"), HostPlan("beta", False, "192.0.2.2")),
        )

    def _documents(self) -> None:
        super()._documents()
        (self.folder / "hosts.json").write_text(json.dumps(self.told()))

    def told(self) -> MachinesRecord:
        """hosts.json."""
        end_ns = START_NS + 60_000 * MS
        ends: list[WireEnd] = [
            {"host": "alpha", "node": "meoc", "interface": "jan", "capture": "captures/meoc-jan.pcapng"},
            {"host": "beta", "node": "sky", "interface": "a", "capture": "captures/sky-a.pcapng"},
        ]
        return {
            "here": "alpha",
            "hosts": {
                "alpha": {
                    "address": "192.0.2.1",
                    "clock": {"before": _reading(0, 0, 0, START_NS), "after": _reading(0, 0, 0, end_ns)},
                    "synchronised": None,
                    "environment": {},
                },
                "beta": {
                    "address": "192.0.2.2",
                    "clock": {
                        "before": _reading(self._true_offset(START_NS) + self.wrong_ns[0], self.error_ns, 100, START_NS),
                        "after": _reading(self._true_offset(end_ns) + self.wrong_ns[1], self.error_ns, 100, end_ns),
                    },
                    "synchronised": "chrony, 12 us",
                    "environment": {"processor": {"model": "a processor", "cores": 4}, "kernel": {"release": "6.1"}},
                },
            },
            "wires": [
                {"wire": "meoc-sky", "kind": "vxlan", "mtu": 1500, "ends": ends, "probe": {"round_trip_ns": 210_000}},
            ],
        }


def _reading(offset_ns: int, error_ns: int, samples: int, at_ns: int) -> ClockReading:
    return {
        "offset_ns": offset_ns,
        "error_ns": error_ns,
        "round_trip_ns": 2 * error_ns,
        "samples": samples,
        "at_ns": at_ns,
    }
