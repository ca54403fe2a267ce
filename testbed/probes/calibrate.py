# SPDX-License-Identifier: GPL-2.0-or-later
"""Measuring what a frame costs: each technology in virtual time, where nothing waits; each kind of port in a lab of its own."""

from __future__ import annotations

import json
import os
import resource
import tempfile
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from netboxes.engine import virtual
from netboxes.technology import Technology, technologies
from testbed.errors import NetBoxITError
from testbed.labs.lab import Lab
from testbed.plans.calibration import LARGE, SMALL, Calibration, Costs, Machine, PortCost, TechnologyCost, program_hash
from testbed.plans.planning import plan_file
from testbed.system.realtime_support import realtime_support

#: Simulated seconds that are tried, until the frames take so much CPU time that it can be told from chance.
_DURATIONS_S = (4.0, 40.0)
_ENOUGH_S = 0.1

#: What is sent across each kind of port in real time, frames a second, and for how long.
_PORT_RATES = (5e3, 20e3)
_PORT_DURATION_S = 1.0
#: Frames that come together: as many as a port takes at a time.
_BURST = 64
_SETTLING_S = 0.2
#: The keys of a topology that make every port one of the kind.
_KINDS: dict[str, tuple[str, dict[str, str]]] = {
    "packet": ("veth", {"io": "packet"}),
    "xdp": ("veth", {"io": "xdp"}),
    "memory": ("memory", {}),
}


def calibrate(progress: Callable[[str], None]) -> Calibration:
    """Measures all technologies and all kinds of ports, in 30 to 45 s. Needs root for the ports."""
    ports: dict[str, PortCost] = {}
    missing: dict[str, str] = {}
    for kind in _KINDS:
        progress(f"ports: {kind}")
        try:
            ports[kind] = _ports(kind)
        except NetBoxITError as error:
            if kind != "xdp":
                raise
            missing[kind] = " ".join(str(error).split())
    found: dict[str, TechnologyCost] = {}
    for name, technology in technologies().items():
        if technology.TYPICAL is not None:
            progress(name)
            found[name] = _technology(name, technology)
    measured = datetime.now(UTC).isoformat(timespec="seconds")
    technology_costs = dict(sorted(found.items()))
    return Calibration(measured=measured, machine=Machine.this(), technologies=technology_costs, ports=ports, missing=missing)


def _technology(name: str, technology: type[Technology]) -> TechnologyCost:
    start_s = min(_cpu_s(name, technology, SMALL, 1.0, 0.1) for _ in range(2))
    small_us, idle_share = _slope(name, technology, SMALL, start_s)
    large_us, _ = _slope(name, technology, technology.MTU + LARGE - 1500, start_s)
    return TechnologyCost(
        program=program_hash(name) or "", idle_share=round(idle_share, 5), frame=Costs(small_us=small_us, large_us=large_us)
    )


def _slope(name: str, technology: type[Technology], frame_bytes: int, start_s: float) -> tuple[float, float]:
    """Microseconds a frame, and CPU seconds a simulated second without frames."""
    few, many = technology.CALIBRATION_RATES[0 if frame_bytes == SMALL else 1]
    for duration_s in _DURATIONS_S:
        low, high = (_cpu_s(name, technology, frame_bytes, rate, duration_s) for rate in (few, many))
        if high - low > _ENOUGH_S:
            break
    if high <= low:
        raise NetBoxITError(f"{name}: more frames took no more CPU time than fewer: the machine is too busy to be measured")
    frame_s = (high - low) / ((many - few) * duration_s)
    idle_s = max(low - start_s - frame_s * few * duration_s, 0.0)
    return round(frame_s * 1e6, 3), idle_s / duration_s


def _cpu_s(name: str, technology: type[Technology], frame_bytes: int, rate: float, duration_s: float) -> float:
    """CPU time of the netbox's process for frames from the first station to the second, at equal distances."""
    parameters = technology.model_validate(technology.TYPICAL).model_dump(mode="json")
    stations = list(parameters["stations"])
    payload = frame_bytes - 42
    frames = [(1.0 + n / rate, virtual.udp(0, 1, payload, identification=n)) for n in range(int(rate * duration_s))]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    emulation = virtual.run(name, stations, parameters, {stations[0]: frames}, duration_s=1.0 + duration_s)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if lost := sum(emulation.statistics["frames"]["lost"].values()):
        raise NetBoxITError(
            f"{name}: {lost} of {len(frames)} frames were lost at {rate:g} a second, so what one costs cannot be said"
        )
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _ports(kind: str) -> PortCost:
    """What a frame costs an Ethernet netbox between a generator and a sink."""
    alone, among_many = (_port_costs(kind, spacing) for spacing in ({}, {"pattern": "burst", "burst": _BURST}))
    return PortCost(alone=alone, among_many=among_many)


def _port_costs(kind: str, spacing: Mapping[str, Any]) -> Costs:
    with tempfile.TemporaryDirectory(prefix="netboxit-") as folder:
        Path(folder).chmod(0o711)  # a topology is read with the rights of who calls, who may be an operator
        file = Path(folder, "calibration.yaml")
        file.write_text(json.dumps(_port_network(kind, spacing)))  # JSON is YAML
        plan = plan_file(file, lab=f"frames-{os.getpid()}", realtime=realtime_support())
        with Lab.up_and_ready(plan) as lab:
            small, large = (_port_slope(lab, size) for size in (SMALL, LARGE))
    return Costs(small_us=round(small, 3), large_us=round(large, 3))


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
    with lab.control("generator") as generator:
        generator.set("size", frame_bytes + 4)
        few, many = (_port_load(lab, generator.set, rate) for rate in _PORT_RATES)
        generator.set("active", False)
    if many[0] <= few[0]:
        raise NetBoxITError("the Ethernet link took no more frames when more were sent: the machine is too busy to be measured")
    return (many[1] - few[1]) / (many[0] - few[0]) * 1e6


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
    """CPU time without what went by in watching the clock."""
    scheduler = statistics["scheduler"]
    return float(scheduler["cpu_s"]) - float(scheduler["spin_s"])
