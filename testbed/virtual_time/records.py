# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run in virtual time leaves in its folder, in the form of a lab's run (docs/architecture.md, "Run folder")."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, cast

from typing_extensions import TypedDict

from applications.virtual_traffic import VirtualTraffic
from contracts import durable
from contracts.flow import ApplicationRecord
from contracts.run_files import DamagedRun, read
from contracts.run_folder import COUNTS_FILE, EVENTS_FILE, JOURNAL_FILE, LAB_FILE, STATISTICS_FILE
from contracts.run_records import CaptureCount, EventRecord, LabRecord, recorded
from contracts.shapes import OtherShape, shaped
from contracts.statistics import NetboxStatistics
from results import journal, pcapng
from system import node_files
from testbed.virtual_time.course import made
from testbed.virtual_time.network import CAPTURES, EPOCH_NS, NODES, TIMES_FILE, VirtualNetwork

#: The last that a stamp can be: the year 2262.
_LATEST_NS: Final = 2**63 - 1


class Times(TypedDict):
    """When the network's time began and ended, null where it never did; as stamps, in nanoseconds."""

    began_ns: int | None
    ended_ns: int | None


def collect(network: VirtualNetwork, folder: Path) -> None:
    """Moves what the program, which has ended, left to its place."""
    for own in (CAPTURES, *(f"{NODES}/{node.name}" for node in network.plan.nodes)):
        with durable.told(folder / own):
            (folder / own).mkdir(parents=True)
            with suppress(FileNotFoundError, NotADirectoryError):  # it was not made, or not left
                node_files.move_all(network.folder, own, folder / own)


def write(network: VirtualNetwork, traffic: Mapping[str, VirtualTraffic], folder: Path) -> None:
    """What no node writes: lab.json, captures.json, events.jsonl, and flows.json of each entry of the traffic.

    Of a network whose time never began, and of traffic that never started, there is nothing to tell.
    """
    times = _times(network.folder / TIMES_FILE)
    if times is None or times["began_ns"] is None:
        return
    began_ns = times["began_ns"]
    ended_ns = times["ended_ns"] or _latest_ns(network, folder, began_ns)
    over_s = (ended_ns - began_ns) / 1e9
    netboxes = [node.name for node in network.plan.nodes if node.kind == "netbox"]
    lab: LabRecord = {
        "nodes": [],
        "offloads": {},
        "began_ns": began_ns,
        "ended_ns": ended_ns,
        "began_s": dict.fromkeys(netboxes, (began_ns - EPOCH_NS) / 1e9),
    }
    durable.write(folder / LAB_FILE, json.dumps(lab, indent=1) + "\n")
    durable.write(folder / CAPTURES / COUNTS_FILE, json.dumps(_captured(network, folder), indent=2) + "\n")
    lines = list(_events(network, over_s))
    if lines:
        durable.write(folder / EVENTS_FILE, "".join(json.dumps(line) + "\n" for line in lines))
    for entry in network.plan.traffic:
        if entry.options.get("start", 0.0) < over_s:
            own = folder / "traffic" / entry.name
            own.mkdir(parents=True)
            told = traffic[entry.name]
            ApplicationRecord(name=entry.name, application=entry.application, flows=told.flows, facts=dict(told.facts)).write(own)


def _times(file: Path) -> Times | None:
    """None where the program left none. Raises DamagedRun: a stranger's configuration may have written there."""
    try:
        times = shaped(json.loads(node_files.read(file)), Times)
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError, OtherShape, node_files.NodeFileInTheWay) as error:
        raise DamagedRun(file, str(error)) from None
    if not EPOCH_NS <= (times["began_ns"] or EPOCH_NS) <= (times["ended_ns"] or _LATEST_NS) <= _LATEST_NS:
        raise DamagedRun(file, "its times are none of a run")
    return times


def _latest_ns(network: VirtualNetwork, folder: Path, began_ns: int) -> int:
    """Of a run whose program was killed: when the last frame was that reached a capture, or the last sample a journal."""
    journals = (journal.read(folder / NODES / node.name / JOURNAL_FILE) for node in network.plan.nodes)
    samples = [own.began_ns + round(at_s * 1e9) for own in journals if own is not None for at_s, _ in own.samples[-1:]]
    return max([began_ns, *samples, *(_last_frame_ns(folder / CAPTURES / file) for file, _, _ in network.captures())])


def _last_frame_ns(capture: Path) -> int:
    """0 where there is none, or where it is damaged, which the analysis tells."""
    latest = 0
    with suppress(FileNotFoundError, pcapng.BadCapture):
        for packet in pcapng.read(capture):
            latest = min(packet.time_ns, _LATEST_NS)
    return latest


def _captured(network: VirtualNetwork, folder: Path) -> list[CaptureCount]:
    """Each host's program sees each frame: none is dropped. What was seen its statistics tell."""
    counts: list[CaptureCount] = []
    for file, node, interface in network.captures():
        statistics = read(folder / NODES / node.name / STATISTICS_FILE, NetboxStatistics)
        ports = {} if statistics is None else {port["name"]: port["received"] + port["sent"] for port in statistics["ports"]}
        counts.append(
            {
                "file": file,
                "node": node.name,
                "interface": interface,
                "received": ports.get(interface),
                "dropped": 0 if interface in ports else None,
                "ended": None if interface in ports else "the host left no statistics",
            }
        )
    return counts


def _events(network: VirtualNetwork, over_s: float) -> Iterator[EventRecord]:
    """In virtual time nothing is late, and nothing takes time."""
    for at_s, event in made(network.plan, network.folder):
        why = f" ({event.when.words()})" if event.when else ""
        change = recorded(event.change, event.change.words() + why)
        yield cast("EventRecord", {"at_s": at_s, "late_ms": 0.0, "took_ms": 0.0, **change, "error": None})
    for entry in network.plan.traffic:
        start_s = entry.options.get("start", 0.0)
        if start_s < over_s:
            yield EventRecord(
                at_s=start_s, late_ms=0.0, took_ms=0.0, kind="traffic", traffic=entry.name, words=f"{entry.name} starts"
            )
