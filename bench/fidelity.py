# SPDX-License-Identifier: GPL-2.0-or-later
"""Emulation against simulation: what real time adds to the delays of a segment.

One recording crosses a segment in a lab, in real time. Then the same segment, in virtual time, gets the same frames at the
very simulated times at which they arrived, with the same random streams. What remains between the two delays of a frame is the
emulation's error: lateness of the netbox, and times that were read late.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from ruamel.yaml import YAML

from bench.conversation import Conversation, conversation
from contracts.errors import NetBoxITError
from contracts.installation import CHECKOUT
from contracts.plan import Plan
from contracts.run_folder import RECORDS_FILE, STATISTICS_FILE, TOPOLOGY_FILE
from netboxes.engine import virtual
from results import pcapng, records
from results.captured_frames import Frames
from results.identity import identities
from system import node_files
from system.cores import available_cores
from system.realtime_support import realtime_support
from testbed.description.yaml_source import read
from testbed.labs.lab import Lab
from testbed.plans.planning import plan_file

if TYPE_CHECKING:
    from testbed.documents.bench import Fidelity, FidelityOfDirection, FidelityOfSegment

#: Whose netboxes are compared, and its own figure of what a frame may be late.
EMERGENCY = CHECKOUT / "topologies" / "emergency.yaml"
#: Recordings must lie in the checkout, where containers see them.
FOLDER = CHECKOUT / "results" / "bench" / "fidelity"
#: The mean delays may differ by this, or by this share, whichever is larger.
MOST_US, MOST_SHARE = 50.0, 0.01
SEGMENT = "segment"
#: What a medium may need until the last frame has crossed.
DEADLINE_S = 30.0


class NotCarried(NetBoxITError):
    """The recording did not cross the segment as it should have."""


@dataclass(frozen=True)
class Comparison:
    """One direction of a segment. Delays in microseconds, from port to port; differences are real minus virtual time."""

    sender: str
    frames: int
    mean_real_us: float
    mean_virtual_us: float
    difference_us: float
    #: Of the difference's size, frame by frame.
    frame_p50_us: float
    frame_p90_us: float
    frame_p99_us: float
    frame_max_us: float
    #: Frames that only one of the two delivered.
    fates_differ: int

    @property
    def share(self) -> float:
        """How much of the tolerance the difference of the means takes: good up to 1."""
        return abs(self.difference_us) / max(MOST_US, MOST_SHARE * self.mean_virtual_us)

    def to_json(self) -> FidelityOfDirection:
        return {
            "sender": self.sender,
            "frames": self.frames,
            "mean_real_us": self.mean_real_us,
            "mean_virtual_us": self.mean_virtual_us,
            "difference_us": self.difference_us,
            "frame_p50_us": self.frame_p50_us,
            "frame_p90_us": self.frame_p90_us,
            "frame_p99_us": self.frame_p99_us,
            "frame_max_us": self.frame_max_us,
            "fates_differ": self.fates_differ,
            "share": self.share,
        }


@dataclass(frozen=True)
class RealRun:
    """What a lab left: the segment's configuration, records and statistics."""

    configuration: dict[str, Any]
    records: NDArray[np.void]
    statistics: dict[str, Any]


def segments() -> dict[str, dict[str, Any]]:
    """What is compared: technology, and the netbox as written in YAML."""
    netboxes: dict[str, dict[str, Any]] = read(EMERGENCY).data["netboxes"]
    netboxes_by_technology = {netbox["technology"]: dict(netbox) for netbox in netboxes.values()}
    return netboxes_by_technology | {"ethernet": {"technology": "ethernet", "stations": {"left": {}, "right": {}}}}


def measure(names: Sequence[str] = (), *, duration_s: float = 10.0, folder: Path = FOLDER, lab: str = "fidelity") -> Fidelity:
    """Compares each segment (default: all of `segments`) in a lab of that name; inputs and records stay in `folder`.

    `worst` is the largest share of the tolerance that a difference of means takes: good up to 1.
    """
    netboxes = segments()
    comparisons = {name: compare_segment(netboxes[name], duration_s, folder / name, lab) for name in names or netboxes}
    return {"worst": max(comparison["worst"] for comparison in comparisons.values()), "segments": comparisons}


def compare_segment(netbox: Mapping[str, Any], duration_s: float, folder: Path, lab: str) -> FidelityOfSegment:
    traffic = conversation(duration_s)
    real = run_real(netbox, traffic, folder, lab)
    compared = list(compare(real, run_virtual(real, traffic)))
    return {
        "worst": max(comparison.share for comparison in compared),
        "directions": [comparison.to_json() for comparison in compared],
        "lateness_us": real.statistics["lateness_us"],
    }


def run_real(netbox: Mapping[str, Any], traffic: Conversation, folder: Path, lab_name: str) -> RealRun:
    """Lets the recording cross the segment in a lab, from both ends at once."""
    with Lab.up_and_ready(_plan(netbox, traffic, folder, lab_name)) as lab:
        for end in Conversation._fields:
            with lab.control(end) as control:
                control.set("active", True)
        _wait_until_crossed(lab)
        with lab.finished():
            node_files.copy_all(lab.node_folder(SEGMENT), folder)
        return RealRun(
            configuration=json.loads((folder / "netbox.json").read_text()),
            records=records.read(folder / RECORDS_FILE),
            statistics=json.loads((folder / STATISTICS_FILE).read_text()),
        )


def _plan(netbox: Mapping[str, Any], traffic: Conversation, folder: Path, lab: str) -> Plan:
    """A generator at each end of the segment; each replays its part, and takes what the other sends."""
    folder.mkdir(parents=True, exist_ok=True)
    netboxes: dict[str, Any] = {SEGMENT: netbox}
    for end, frames in traffic._asdict().items():
        pcapng.write(folder / f"{end}.pcapng", frames)
        trace = str((folder / f"{end}.pcapng").relative_to(CHECKOUT))
        netboxes[end] = {"technology": "generator", "stations": {"port": {}}, "pattern": "trace", "trace": trace, "active": False}
    first, second = netbox["stations"]
    topology = {
        "name": lab,
        "netboxes": netboxes,
        "wires": [["left.port", f"{SEGMENT}.{first}"], [f"{SEGMENT}.{second}", "right.port"]],
        "realtime": read(EMERGENCY).data["realtime"],
    }
    with (folder / TOPOLOGY_FILE).open("w") as file:
        YAML().dump(topology, file)
    return _with_generators_apart(plan_file(folder / TOPOLOGY_FILE, realtime=realtime_support()))


def _with_generators_apart(plan: Plan) -> Plan:
    """The generators stand for hosts: they go where those would be, on the first core, and the segment has another."""
    first = available_cores()[:1]
    return replace(plan, nodes=tuple(node if node.name == SEGMENT else replace(node, cores=first) for node in plan.nodes))


def _wait_until_crossed(lab: Lab) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not _has_crossed(lab):
        if time.monotonic() > deadline:
            raise NotCarried(f"lab {lab.name}: frames are still under way; see the log of its netbox {SEGMENT}")
        time.sleep(0.1)


def _has_crossed(lab: Lab) -> bool:
    for end in Conversation._fields:
        with lab.control(end) as control:
            if control.statistics()["segment"]["stations"]["port"]["active"]:
                return False
    with lab.control(SEGMENT) as control:
        return bool(control.statistics()["frames"]["inside"] == 0)


def run_virtual(real: RealRun, traffic: Conversation) -> virtual.Emulation:
    """The same segment with the frames as they arrived in the lab."""
    configuration = real.configuration
    stations = [station["name"] for station in configuration["stations"]]
    return virtual.run(
        configuration["technology"],
        stations,
        configuration["parameters"],
        _arrivals(real, traffic, stations),
        seed=configuration["seed"],
        classes=configuration["classes"],
    )


def _arrivals(real: RealRun, traffic: Conversation, stations: Sequence[str]) -> dict[str, list[virtual.TimedFrame]]:
    """What came in at each station and at which simulated time."""
    sent = [frame for frames in traffic for _, frame in frames]
    sent_frames = dict(zip(identities(Frames.of(sent)).tolist(), sent, strict=True))
    arrivals: dict[str, list[virtual.TimedFrame]] = {station: [] for station in stations}
    for record in real.records:
        frame = sent_frames.get(int(record["identity"]))
        if frame is None:
            raise NotCarried("a frame that is not of the recording has crossed the segment, so the two runs cannot be compared")
        arrivals[stations[record["station_in"]]].append(((int(record["in_ns"]) - real.statistics["epoch_ns"]) / 1e9, frame))
    return arrivals


def compare(real: RealRun, simulated: virtual.Emulation) -> Iterator[Comparison]:
    """For each direction. Raises NotCarried when nothing was delivered in both."""
    delays = _delays(real.records), _delays(simulated.records)
    for number, station in enumerate(real.configuration["stations"]):
        ours, theirs = ({name: delay for (sender, name), delay in side.items() if sender == number} for side in delays)
        both = sorted(ours.keys() & theirs.keys())
        if not both:
            raise NotCarried(f"no frame from {station['name']} crossed the segment both in real and in virtual time")
        in_real, in_virtual = (np.array([side[name] for name in both]) / 1e3 for side in (ours, theirs))
        p50, p90, p99, largest = np.percentile(np.abs(in_real - in_virtual), [50, 90, 99, 100])
        yield Comparison(
            sender=station["name"],
            frames=len(both),
            mean_real_us=float(in_real.mean()),
            mean_virtual_us=float(in_virtual.mean()),
            difference_us=float(in_real.mean() - in_virtual.mean()),
            frame_p50_us=float(p50),
            frame_p90_us=float(p90),
            frame_p99_us=float(p99),
            frame_max_us=float(largest),
            fates_differ=len(ours.keys() ^ theirs.keys()),
        )


def _delays(copies: NDArray[np.void]) -> dict[tuple[int, int], int]:
    """Of each delivered frame, by the station where it came in and its identity, ns."""
    delivered = copies[copies["fate"] == records.Fate.DELIVERED]
    return {(int(row["station_in"]), int(row["identity"])): int(row["out_ns"]) - int(row["in_ns"]) for row in delivered}
