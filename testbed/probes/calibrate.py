# SPDX-License-Identifier: GPL-2.0-or-later
"""Measuring what a frame costs: each technology in virtual time, where nothing waits; each kind of port in a lab of its own."""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from statistics import median
from typing import Any

from pydantic import ValidationError

from contracts.errors import NetBoxITError
from netboxes.engine import virtual
from netboxes.technology import Technology, technologies
from testbed.labs.lab import Lab
from testbed.plans.calibration import LARGE, SMALL, Calibration, Costs, Machine, PortCost, TechnologyCost, program_hash
from testbed.probes import trial_lab

#: Simulated seconds that are tried, until the frames take so much CPU time that it can be told from chance, or are so many.
_DURATIONS_S = (4.0, 20.0, 100.0, 500.0, 2500.0)
_ENOUGH_S = 0.05
_MOST_FRAMES = 50_000
#: How often a load is measured: whatever else the machine does adds to the CPU time (caches, interrupts), so the least of all is
#: the nearest. It is enough when the two least agree to so much of what the frames take, and useless beyond the other share.
_LEAST_TRIALS, _MOST_TRIALS = 3, 8
_GOOD, _USELESS = 0.1, 0.5
#: So many frames may be lost: what one costs then differs by less than that.
_MOST_LOST = 0.01

#: What is sent across each kind of port in real time, frames a second, and for how long.
_PORT_RATES = (5e3, 20e3)
_PORT_DURATION_S = 0.35
#: Of so many measurements the one in the middle counts.
_PORT_TRIALS = 3
#: Frames that come together: as many as a port takes at a time.
_BURST = 64
_SETTLING_S = 0.1
#: The keys of a topology that make every port one of the kind.
_KINDS: dict[str, tuple[str, dict[str, str]]] = {
    "packet": ("veth", {"io": "packet"}),
    "xdp": ("veth", {"io": "xdp"}),
    "memory": ("memory", {}),
}


class NotMeasured(NetBoxITError):
    """What a frame costs could not be measured."""


def calibrate(progress: Callable[[str], None]) -> Calibration:
    """Measures all technologies and all kinds of ports, in 1 to 2 minutes. Needs root for the ports.

    What could not be measured is in `failed`; the rest has its figures. Raises NotMeasured when everything failed, and BadPlugin
    when two packages bring one technology.
    """
    names = [*technologies()]
    ports: dict[str, PortCost] = {}
    missing: dict[str, str] = {}
    failed: dict[str, str] = {}
    for kind in _KINDS:
        progress(f"ports: {kind}")
        try:
            ports[kind] = _ports(kind)
        except NetBoxITError as error:
            why = " ".join(str(error).split())
            if kind == "xdp" and not isinstance(error, NotMeasured):
                missing[kind] = why
            else:
                failed[f"{kind} ports"] = why
    costs: dict[str, TechnologyCost] = {}
    for name in names:
        try:
            technology = technologies()[name]
            if technology.TYPICAL is not None:
                progress(name)
                costs[name] = _technology(name, technology)
        except NetBoxITError as error:
            failed[name] = " ".join(str(error).split())
    if failed and not costs and not ports:
        raise NotMeasured("nothing could be measured:\n" + "\n".join(f"{what}: {why}" for what, why in failed.items()))
    return Calibration(
        measured=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=Machine.this(),
        technologies=dict(sorted(costs.items())),
        ports=ports,
        missing=missing,
        failed=failed,
    )


def _technology(name: str, technology: type[Technology]) -> TechnologyCost:
    start_s = min(_cpu_s(name, technology, SMALL, 1.0, 0.1) for _ in range(2))
    small_us, idle_share = _slope(name, technology, SMALL, start_s)
    large_us, _ = _slope(name, technology, technology.MTU + LARGE - 1500, start_s)
    return TechnologyCost(
        program=program_hash(name) or "", idle_share=round(idle_share, 5), frame=Costs(small_us=small_us, large_us=large_us)
    )


def _slope(name: str, technology: type[Technology], frame_bytes: int, start_s: float) -> tuple[float, float]:
    """Microseconds a frame, and CPU seconds a simulated second without frames. Raises NotMeasured."""
    few, many = technology.CALIBRATION_RATES[0 if frame_bytes == SMALL else 1]

    def pair(duration_s: float) -> tuple[float, float]:
        return _cpu_s(name, technology, frame_bytes, few, duration_s), _cpu_s(name, technology, frame_bytes, many, duration_s)

    for duration_s in (_DURATIONS_S[0], *(longer for longer in _DURATIONS_S[1:] if longer * many <= _MOST_FRAMES)):
        pairs = [pair(duration_s) for _ in range(_LEAST_TRIALS)]
        if min(high for _, high in pairs) - min(low for low, _ in pairs) > _ENOUGH_S:
            break
    while len(pairs) < _MOST_TRIALS and _doubt(*zip(*pairs, strict=True)) > _GOOD:
        pairs.append(pair(duration_s))
    low, high = zip(*pairs, strict=True)
    if _doubt(low, high) > _USELESS:
        raise NotMeasured(
            f"what a frame of {frame_bytes} bytes costs could not be told from chance: {_range_ms(low)} of CPU time at {few:g} a "
            f"second, {_range_ms(high)} at {many:g}; repeat it when the machine has less to do"
        )
    frame_s = (min(high) - min(low)) / ((many - few) * duration_s)
    idle_s = max(min(low) - start_s - frame_s * few * duration_s, 0.0)
    return round(frame_s * 1e6, 3), idle_s / duration_s


def _doubt(low: Sequence[float], high: Sequence[float]) -> float:
    """By how much the two least of each load differ, as a share of what more frames took."""
    difference = min(high) - min(low)
    spread = sum(sorted(trials)[1] - min(trials) for trials in (low, high))
    return spread / difference if difference > 0 else math.inf


def _range_ms(trials: Sequence[float]) -> str:
    return f"{min(trials) * 1e3:.1f} … {max(trials) * 1e3:.1f} ms"


def _cpu_s(name: str, technology: type[Technology], frame_bytes: int, rate: float, duration_s: float) -> float:
    """CPU time of the netbox's process for frames from the first station to the second, at equal distances."""
    try:
        parameters = technology.model_validate(technology.TYPICAL).values()
    except ValidationError as error:
        raise NotMeasured(f"what {technology.__module__} has as TYPICAL is no such segment: {error}") from error
    stations = list(parameters["stations"])
    frames = [(1.0 + n / rate, virtual.udp(0, 1, frame_bytes - 42, identification=n)) for n in range(int(rate * duration_s))]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        emulation = virtual.run(name, stations, parameters, {stations[0]: frames}, duration_s=1.0 + duration_s)
    except virtual.EmulationFailed as error:
        raise NotMeasured(str(error)) from error
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if (lost := sum(emulation.statistics["frames"]["lost"].values())) > _MOST_LOST * len(frames):
        raise NotMeasured(f"{lost} of {len(frames)} frames were lost at {rate:g} a second, so what one costs cannot be said")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _ports(kind: str) -> PortCost:
    """What a frame costs an Ethernet netbox between a generator and a sink."""
    return PortCost(alone=_port_costs(kind, {}), among_many=_port_costs(kind, {"pattern": "burst", "burst": _BURST}))


def _port_costs(kind: str, spacing: Mapping[str, Any]) -> Costs:
    with trial_lab.up("frames", _port_network(kind, spacing)) as lab:
        return Costs(small_us=_port_slope(lab, SMALL), large_us=_port_slope(lab, LARGE))


def _port_network(kind: str, spacing: Mapping[str, Any]) -> Mapping[str, Any]:
    wire, keys = _KINDS[kind]
    netboxes: dict[str, Any] = {
        "generator": {"technology": "generator", "stations": {"out": {}}, "rate": "1 pps", "active": False, **spacing},
        "link": {"technology": "ethernet", "stations": {"left": {}, "right": {}}},
        "sink": {"technology": "sink", "stations": {"in": {}}},
    }
    return {
        "name": "calibration",
        "netboxes": {name: {**netbox, **keys} for name, netbox in netboxes.items()},
        "wires": [["generator.out", "link.left"], ["link.right", "sink.in"]],
        "wire": wire,
    }


def _port_slope(lab: Lab, frame_bytes: int) -> float:
    """Microseconds a frame. Raises NotMeasured."""
    with lab.control("generator") as generator:
        generator.set("size", frame_bytes + 4)
        pairs = [[_port_load(lab, generator.set, rate) for rate in _PORT_RATES] for _ in range(_PORT_TRIALS)]
        generator.set("active", False)
    slopes = [(many[1] - few[1]) / (many[0] - few[0]) * 1e6 if many[0] > few[0] else 0.0 for few, many in pairs]
    if (slope := median(slopes)) <= 0.0:
        raise NotMeasured(
            f"frames of {frame_bytes} bytes took no more CPU time, or did not arrive, when more were sent; "
            "repeat it when the machine has less to do"
        )
    return round(slope, 3)


def _port_load(lab: Lab, change: Callable[[str, object], Any], rate: float) -> tuple[int, float]:
    """Frames that the link delivered in the time of a measurement, and the CPU time that it took for them."""
    change("rate", rate)
    change("active", True)
    time.sleep(_SETTLING_S)
    with lab.control("link") as link:
        before = link.statistics()
        time.sleep(_PORT_DURATION_S)
        after = link.statistics()
    return after["frames"]["delivered"] - before["frames"]["delivered"], _working_s(after) - _working_s(before)


def _working_s(statistics: Mapping[str, Any]) -> float:
    """CPU time without the time spent on watching the clock."""
    return float(statistics["scheduler"]["cpu_s"]) - float(statistics["scheduler"]["spin_s"])
