# SPDX-License-Identifier: GPL-2.0-or-later
"""What the satellite link shows of satellites that pass: delay over time, handovers, gaps."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from contracts.nature import EARTH_RADIUS, SPEED_OF_LIGHT
from netboxes.engine.virtual import Emulation, emulate, run
from netboxes.satellite.link_under_test import HUB, LINK, MEOC, flow
from netboxes.satellite.orbit import Orbit
from netboxes.satellite.parameters import Parameters
from netboxes.validation import Chapter, Curve, Figure, Plot

#: Fast, so that BBFRAMEs (11.7 us) hardly count.
FAST = LINK | {"forward_rate": "1 Gbit/s"}
#: ms: two BBFRAMEs, and what the delay changes by meanwhile.
BBFRAMES = 0.025


def chapters() -> Iterator[Chapter]:
    yield _passes()
    yield _profile()


def _took(emulation: Emulation) -> tuple[Any, Any]:
    """When each packet that arrived was sent, s since the network's time began, and how long it took, s."""
    arrived = emulation.records[emulation.records["fate"] == 0]
    return arrived["in_ns"] / 1e9 - 1.0, (arrived["out_ns"] - arrived["in_ns"]) / 1e9


def _passes() -> Chapter:
    figures: list[Figure] = []
    curves: list[Curve] = []
    cases: list[tuple[str, dict[str, Any]]] = [
        ("LEO 1200 km", {"altitude": "1200 km", "minimum_elevation": 25, "gap": "200 ms"}),
        ("MEO 8063 km", {"altitude": "8063 km", "minimum_elevation": 20, "inclination": 0, "every": "45 min"}),
    ]
    for name, parameters in cases:
        orbit = Orbit.model_validate(parameters)
        period = orbit.period()
        emulation = emulate("satellite", FAST | {"orbit": parameters}, {"hub": flow(HUB, MEOC, 100, period / 301, 603)})
        at, took = _took(emulation)
        expected = np.array([_delay_of_pass(orbit, float(x) % period) for x in at])
        worst = float(np.max(np.abs(took - expected)))
        figures.append(Figure(f"{name}: farthest from the geometry at any time", "ms", 0.0, worst * 1e3, absolute=BBFRAMES))
        shortest_ms = 2e3 * orbit.altitude / SPEED_OF_LIGHT
        figures.append(Figure(f"{name}: shortest delay", "ms", shortest_ms, took.min() * 1e3, absolute=BBFRAMES))
        handovers = [line["at_s"] for line in emulation.events("handover")]
        figures.append(Figure(f"{name}: time of the first handover", "s", period, handovers[0], absolute=1e-6))
        figures.append(Figure(f"{name}: handovers in two passes", "", 2, len(handovers)))
        if orbit.every is None:
            farthest = 2e3 * _range_at(orbit.minimum_elevation, orbit.altitude) / SPEED_OF_LIGHT
            figures.append(Figure(f"{name}: longest delay", "ms", farthest, took.max() * 1e3, absolute=BBFRAMES))
            figures += _gap(name, parameters, period, 0.2)
        order = np.argsort(at)
        curves += [
            Curve(name, list(at[order] / period), list(expected[order] * 1e3), measured=False),
            Curve(name, list(at[order][::15] / period), list(took[order][::15] * 1e3), measured=True),
        ]
    o3b = Orbit.model_validate(cases[1][1])
    once_round = 2 * math.pi / o3b.angular_speed() / 3600
    figures.append(Figure("MEO 8063 km: once round as seen from the ground", "h", 6.0, once_round, relative=0.01))
    return Chapter(
        "Satellites that pass",
        "Two satellites one after the other of a polar LEO orbit of 1200 km above 25 degrees, with handovers of 200 ms, and "
        "of O3b's orbit (8063 km above the equator, one every 45 minutes: eight that come round in six hours, as specified by "
        "its operator; 1 %, since that is a round figure). Expected: the range by plane geometry, twice, over the speed of "
        "light; the tolerance is two BBFRAMEs of 11.7 us. At a handover all is lost that would be sent or arrive while nobody "
        "serves: what entered a way of 15 ms before it or during it, a packet each millisecond.",
        figures,
        [Plot("satellite-passes", "Delay while satellites pass", "time (satellites)", "one-way delay (ms)", curves)],
    )


def _range_at(elevation: float, altitude: float) -> float:
    """m, by the law of sines in the triangle of station, satellite and the earth's centre."""
    at_station = math.radians(90.0 + elevation)
    at_satellite = math.asin(EARTH_RADIUS * math.sin(at_station) / (EARTH_RADIUS + altitude))
    return (EARTH_RADIUS + altitude) * math.sin(math.pi - at_station - at_satellite) / math.sin(at_station)


def _delay_of_pass(orbit: Orbit, seconds: float) -> float:
    """s, by the law of cosines at the earth's centre, from the culmination in the middle of a satellite's time."""
    radius = EARTH_RADIUS + orbit.altitude
    served = min(orbit.pass_time(), orbit.period())
    angle = orbit.angular_speed() * (seconds - served / 2)
    highest = math.radians(orbit.highest_elevation)
    nearest = math.acos(EARTH_RADIUS * math.cos(highest) / radius) - highest
    psi = math.acos(math.cos(nearest) * math.cos(angle))
    return 2 * math.sqrt(EARTH_RADIUS**2 + radius**2 - 2 * EARTH_RADIUS * radius * math.cos(psi)) / SPEED_OF_LIGHT


def _gap(name: str, parameters: dict[str, Any], period: float, gap: float) -> Iterator[Figure]:
    """Packets by the millisecond around the first handover."""
    sent = [*flow(HUB, MEOC, 100, 1.0, 1), *flow(HUB, MEOC, 60, 0.001, 2000, start=period)]
    emulation = emulate("satellite", FAST | {"orbit": parameters}, {"hub": sent})
    path = _delay_of_pass(Orbit.model_validate(parameters), period - gap)
    lost = emulation.statistics["frames"]["lost"]["outage"]
    yield Figure(f"{name}: packets lost at a handover", "", (gap + path) * 1e3, lost, absolute=1.5)
    down, up = (emulation.events(event)[0]["at_s"] for event in ("link_down", "link_up"))
    yield Figure(f"{name}: link announced as lost", "s", period - gap, down, absolute=1e-6)
    yield Figure(f"{name}: and as found", "s", period, up, absolute=1e-6)


def _profile() -> Chapter:
    times, delays = [0.0, 60.0, 120.0, 180.0, 240.0], [0.0147, 0.0101, 0.0081, 0.0101, 0.0147]
    gaps = [(55.0, 0.5), (121.5, 2.0), (200.0, 0.05)]
    with tempfile.TemporaryDirectory(prefix="netboxit-") as name:
        folder = Path(name)
        rows = "".join(f"{time},{delay}\n" for time, delay in zip(times, delays, strict=True))
        (folder / "delay.csv").write_text("time_s,delay_s\n" + rows)
        (folder / "gaps.csv").write_text("time_s,duration_s\n" + "".join(f"{start},{length}\n" for start, length in gaps))
        link = FAST | {"delay_profile": "delay.csv", "delay_gaps": "gaps.csv"}
        values = Parameters.model_validate(link, context={"folder": folder}).model_dump(mode="json")
    emulation = run("satellite", list(values["stations"]), values, {"hub": flow(HUB, MEOC, 60, 0.002, 125000)})
    at, took = _took(emulation)
    expected = np.interp(at, times, delays)
    worst = float(np.max(np.abs(took - expected)))
    figures = [Figure("farthest from the profile at any time", "ms", 0.0, worst * 1e3, absolute=BBFRAMES)]
    lost = emulation.records["in_ns"][emulation.records["fate"] != 0] / 1e9 - 1.0
    for start, length in gaps:
        path = float(np.interp(start, times, delays))
        count = int(np.count_nonzero((lost > start - 1.0) & (lost < start + length + 1.0)))
        figures.append(Figure(f"packets lost in a gap of {length:g} s", "", (length + path) / 0.002, count, absolute=1.5))
    expected_lost = sum((length + float(np.interp(start, times, delays))) / 0.002 for start, length in gaps)
    figures.append(Figure("packets lost in all", "", expected_lost, len(lost), absolute=4.5))
    order = np.argsort(at)
    return Chapter(
        "Delay over time from a file, with gaps",
        "A pass as CSV: delay at five times, straight lines in between, and three gaps; 500 packets a second over 250 s, from "
        "the hub. Expected: the delay of when a packet is sent; all packets lost that enter in a gap or a way before it, give "
        "or take one at each end of it. Tolerance of delays: two BBFRAMEs.",
        figures,
        [
            Plot(
                "satellite-profile",
                "Delay by a profile",
                "time (s)",
                "one-way delay (ms)",
                [
                    Curve("", times, [delay * 1e3 for delay in delays], measured=False),
                    Curve("", list(at[order][::4000]), list(took[order][::4000] * 1e3), measured=True),
                ],
            )
        ],
    )
