# SPDX-License-Identifier: GPL-2.0-or-later
"""Run folders made by hand, with delays and losses that a test knows."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import pytest

from contracts.campaign import CampaignRun
from contracts.flow import ApplicationRecord, Flow
from contracts.netbox_configuration import CONFIGURATION_FILE, NetboxConfiguration
from contracts.node_status import NodeStatus
from contracts.plan import InterfacePlan, NodeKind, NodePlan, Plan, TrafficPlan, WireEnd, WirePlan
from contracts.run_records import CaptureCount
from contracts.statistics import LatenessCounters, NetboxPort, NetboxStatistics
from results import pcapng, records
from results.identity import identity
from results.runs import Runs

#: When the first frame is sent.
START_NS = 1_700_000_000_000_000_000
MS, US = 1_000_000, 1_000

FIELD, CENTRE = "10.1.0.1", "10.2.0.1"
CODEC = {"name": "pcma", "frame_ms": 20.0, "lookahead_ms": 0.0, "playout_ms": 60.0}


def frame(source: str, destination: str, ip_id: int, payload: bytes, port: int = 20_000) -> bytes:
    """An Ethernet frame with UDP; checksums are zero, nobody looks at them."""
    udp = struct.pack(">HHHH", port, port, 8 + len(payload), 0) + payload
    addresses = IPv4Address(source).packed + IPv4Address(destination).packed
    header = struct.pack(">BBHHHBBH", 0x45, 0xB8, 20 + len(udp), ip_id, 0x4000, 64, 17, 0) + addresses
    return bytes(12) + b"\x08\x00" + header + udp


def rtp(sequence: int, timestamp: int, size: int = 160) -> bytes:
    return struct.pack(">BBHII", 0x80, 8, sequence & 0xFFFF, timestamp & 0xFFFFFFFF, 7) + bytes(size)


@dataclass
class Journey:
    """One frame: when it is sent, and how long it takes in each gap and in each netbox, in ns.

    `lost` is a netbox and the fate it gave the frame, `path` the netboxes that it crosses where they are not those of the chain.
    """

    data: bytes
    sent_ns: int
    gaps: Sequence[int]
    inside: Sequence[int]
    lost: tuple[str, records.Fate] | None = None
    path: tuple[str, ...] = ()


@dataclass
class SyntheticRun:
    """fr1, netbox cell, router meoc, netbox sky, eoc in a chain."""

    folder: Path
    journeys: dict[str, list[Journey]] = field(default_factory=lambda: {"return": [], "forward": []})
    netboxes: tuple[str, ...] = ("cell", "sky")
    missed: int = 0
    flow: dict[str, Any] = field(default_factory=dict)

    def calls(
        self, count: int, gaps: Sequence[int] = (2 * US, 30 * US, 3 * US), inside: Sequence[int] = (5 * MS, 250 * MS)
    ) -> None:
        """A call of `count` packets each way with constant delays."""
        for number in range(count):
            sent = START_NS + number * 20 * MS
            payload = rtp(number, number * 160)
            self.journeys["return"].append(Journey(frame(FIELD, CENTRE, number, payload), sent, gaps, inside))
            self.journeys["forward"].append(Journey(frame(CENTRE, FIELD, number, payload), sent, gaps, inside))

    def write(self) -> Path:
        kept: dict[str, list[tuple[int, ...]]] = {netbox: [] for netbox in self.netboxes}
        seen: dict[str, list[tuple[int, bytes]]] = {point: [] for point in self.captured()}
        for direction, journeys in self.journeys.items():
            source, destination = ("fr1", "eoc") if direction == "return" else ("eoc", "fr1")
            chain = self.netboxes if direction == "return" else self.netboxes[::-1]
            for journey in journeys:
                seen[source].append((journey.sent_ns, journey.data))
                if (arrival := self._travel(journey, journey.path or chain, direction, kept, seen)) is not None:
                    seen[destination].append((arrival, journey.data))
        self._captures(seen)
        for netbox, rows in kept.items():
            self._netbox(netbox, rows)
        self._documents()
        return self.folder

    def captured(self) -> tuple[str, ...]:
        """Where captures are, as their files are called: node, or node-interface."""
        return ("fr1", "eoc")

    def shown(self, node: str, time_ns: int) -> int:
        """What the clock shows by which a node's files are written."""
        return time_ns

    def _travel(
        self,
        journey: Journey,
        path: Sequence[str],
        direction: str,
        kept: dict[str, list[tuple[int, ...]]],
        seen: dict[str, list[tuple[int, bytes]]],
    ) -> int | None:
        stations = (0, 1) if direction == "return" else (1, 0)
        now: int | None = journey.sent_ns + journey.gaps[0]
        for number, (netbox, inside) in enumerate(zip(path, journey.inside, strict=True)):
            if now is None:
                return None
            fate = journey.lost[1] if journey.lost and journey.lost[0] == netbox else records.Fate.DELIVERED
            out = 0 if fate else now + inside
            times = (self.shown(netbox, now), out and self.shown(netbox, out))
            kept[netbox].append((identity(journey.data), *times, 0, len(journey.data), *stations, 0, int(fate), b""))  # type: ignore[arg-type]
            if fate:
                return None
            now = self._cross(number + 1, out, journey, direction, seen)
        return now

    def _cross(
        self, number: int, at_ns: int, journey: Journey, direction: str, seen: dict[str, list[tuple[int, bytes]]]
    ) -> int | None:
        """When a frame that entered a gap leaves it; None when it does not."""
        return at_ns + journey.gaps[number]

    def _captures(self, seen: dict[str, list[tuple[int, bytes]]]) -> None:
        folder = self.folder / "captures"
        folder.mkdir(parents=True)
        # The captures go on for a while after the traffic; something is always heard.
        end = max((time for packets in seen.values() for time, _ in packets), default=START_NS) + 5_000 * MS
        counts: list[CaptureCount] = []
        for point, packets in seen.items():
            node, _, interface = point.partition("-")
            written = [(self.shown(node, time), data) for time, data in [*sorted(packets), (end, bytes(60))]]
            pcapng.write(folder / f"{point}.pcapng", written)
            counts.append(
                {
                    "file": f"{point}.pcapng",
                    "node": node,
                    "interface": interface or "eth",
                    "received": len(written),
                    "dropped": 0,
                    "ended": None,
                }
            )
        (folder / "captures.json").write_text(json.dumps(counts))

    def _netbox(self, netbox: str, rows: list[tuple[int, ...]]) -> None:
        folder = self.folder / "nodes" / netbox
        folder.mkdir(parents=True)
        table = np.array(rows, records.RECORD)
        (folder / "frames.bin").write_bytes(struct.pack("<8sII", records.MAGIC, 1, records.RECORD.itemsize) + table.tobytes())
        late: LatenessCounters = {
            "count": 9,
            "missed": 0,
            "sum": 90.0,
            "up_to": [],
            "p50": 1.0,
            "p90": 2.0,
            "p99": 10.0,
            "p99_9": 50.0,
            "max": 90.0,
        }
        statistics = netbox_statistics(
            port_counts("a", received=len(rows)),
            lateness_us={"event": late, "frame": late},
            missed=self.missed,
            records={"written": len(rows), "dropped": 0},
        )
        (folder / "statistics.json").write_text(json.dumps(statistics))

    def _documents(self) -> None:
        (self.folder / "plan.json").write_text(json.dumps(self.plan().to_json()))
        (self.folder / "run.json").write_text(
            json.dumps({"started": "2026-01-01T00:00:00", "ended": "2026-01-01T00:01:00", "failure": None})
        )
        folder = self.folder / "traffic" / "call"
        folder.mkdir(parents=True)
        parties = [
            {"host": host, "speaker": speaker, "spoken": f"{host}-spoken.wav", "heard": f"{host}-heard.wav"}
            for host, speaker in (("fr1", "field"), ("eoc", "centre"))
        ]
        ApplicationRecord(
            name="call",
            application="call",
            flows=self.flows(),
            facts={"parties": parties, "sample_rate_hz": 8000, "codec": CODEC},
        ).write(folder)

    def flows(self) -> tuple[Flow, ...]:
        common: dict[str, Any] = {
            **{"name": "call.voice", "kind": "voice", "protocol": "udp", "source_ports": (20_000, 20_000)},
            **{"destination_ports": (20_000, 20_000), "rtp_clock_hz": 8_000},
            **self.flow,
        }
        fr1, eoc = {"host": "fr1", "address": FIELD}, {"host": "eoc", "address": CENTRE}
        return tuple(
            Flow(
                direction=direction,
                source=source["host"],
                source_address=source["address"],
                destination=destination["host"],
                destination_address=destination["address"],
                **common,
            )
            for direction, source, destination in (("return", fr1, eoc), ("forward", eoc, fr1))
        )

    def plan(self) -> Plan:
        kinds: dict[str, NodeKind] = {"fr1": "host", "cell": "netbox", "meoc": "router", "sky": "netbox", "eoc": "host"}
        return self.planned(kinds, pairwise(kinds))

    def planned(self, kinds: Mapping[str, NodeKind], wires: Iterable[tuple[str, str]]) -> Plan:
        """A plan with these nodes. The first end of a wire is on the side of fr1."""
        joined = [wire_plan(f"{a}-{b}", (a, _end(kinds, a, b, "x")), (b, _end(kinds, b, a, "y"))) for a, b in wires]
        traffic = TrafficPlan("call", "call", "fr1", "eoc", FIELD, CENTRE, "return")
        return plan_of([node_plan(name, kind, joined) for name, kind in kinds.items()], joined, traffic=(traffic,))


def plan_of(nodes: Iterable[NodePlan], wires: Iterable[WirePlan] = (), **others: Any) -> Plan:
    """A whole plan; `others` are its fields that have defaults, and its traffic."""
    given: dict[str, Any] = {"traffic": (), "lateness_limit_s": 1e-3, "lateness_policy": "mark"} | others
    return Plan("synthetic", "synthetic.yaml", 1, tuple(nodes), tuple(wires), **given)


def node_plan(name: str, kind: NodeKind, wires: Iterable[WirePlan] = (), **others: Any) -> NodePlan:
    """A node with an interface at each end of these wires that is its. A netbox has two stations: y, towards fr1, and x."""
    address = {"fr1": FIELD, "eoc": CENTRE}.get(name)
    interfaces = tuple(
        InterfacePlan(end.interface, wire.name, "02:00:00:00:00:01", (f"{address}/24",) if address else ())
        for wire in wires
        for end in (wire.left, wire.right)
        if end.node == name
    )
    files = netbox_files("y", "x") if kind == "netbox" else {}
    given: dict[str, Any] = {"cores": (0,), "files": files} | others
    return NodePlan(name, kind, f"container-{name}", f"namespace-{name}", command=(), interfaces=interfaces, **given)


def netbox_files(*stations: str, limit_us: float = 1000.0, policy: Literal["mark", "abort"] = "mark") -> dict[str, str]:
    """The files of a netbox that joins these stations."""
    configuration: NetboxConfiguration = {
        "name": "",
        "technology": "link",
        "seed": 1,
        "clock": "real",
        "stations": [{"name": station, "port": {"kind": "packet", "interface": station}} for station in stations],
        "classes": [],
        "parameters": {},
        "live": {"segment": {}, "stations": {}},
        "realtime": {
            "limit_us": limit_us,
            "policy": policy,
            "priority": 50,
            "spin_us": 50,
            "timer_slack_ns": 1,
            "runtime_us": None,
            "period_us": 1_000_000,
        },
        "control": "",
        "records": "",
        "statistics": "",
        "journal": "",
    }
    return {CONFIGURATION_FILE: json.dumps(configuration)}


def wire_plan(name: str, left: tuple[str, str], right: tuple[str, str], **others: Any) -> WirePlan:
    """Between two interfaces, each with its node."""
    return WirePlan(name, WireEnd(*left), WireEnd(*right), 1500, **others)


def _end(kinds: Mapping[str, NodeKind], node: str, other: str, side: str) -> str:
    """A netbox has a station on each side, any other node an interface for each wire."""
    return side if kinds[node] == "netbox" else other


def port_counts(name: str, **counted: int) -> NetboxPort:
    """Those that are not named are 0."""
    none = dict.fromkeys(("received", "sent", "overload_drops", "oversize_drops", "malformed", "send_drops"), 0)
    return cast(NetboxPort, {"name": name, **none, **counted})


def netbox_statistics(*ports: NetboxPort, **others: Any) -> NetboxStatistics:
    """Of a netbox that was in time, and carried nothing."""
    late: LatenessCounters = {
        "count": 0,
        "missed": 0,
        "sum": 0.0,
        "up_to": [],
        "p50": 0.0,
        "p90": 0.0,
        "p99": 0.0,
        "p99_9": 0.0,
        "max": 0.0,
    }
    counted: NetboxStatistics = {
        "epoch_ns": START_NS,
        "ports": list(ports),
        "frames": {"delivered": 0, "lost": {}, "inside": 0, "absorbed": 0},
        "lateness_us": {"event": late, "frame": late},
        "missed": 0,
        "misses": [],
        "records": {"written": 0, "dropped": 0},
        "journal": {"dropped": 0},
        "segment": {},
    }
    return cast(NetboxStatistics, {**counted, **others})


def node_status(name: str, kind: NodeKind, **others: Any) -> NodeStatus:
    """Of a node with which nothing is wrong."""
    status: NodeStatus = {
        "name": name,
        "kind": kind,
        "alive": True,
        "confined": True,
        "cores": [0],
        "limits_reached": [],
        "network_changes": [],
        "awake": True,
        "addresses": [],
        "netbox": None,
        "program": None,
        "management": None,
        "switch": None,
    }
    return cast(NodeStatus, {**status, **others})


@pytest.fixture
def synthetic(tmp_path: Path) -> SyntheticRun:
    return SyntheticRun(tmp_path / "run")


_TABLES = ("flows.parquet", "measures.parquet", "frames.parquet")


class Campaign:
    """Copies of a run that was analysed, as those of a campaign."""

    def __init__(self, folder: Path, analysed: Path) -> None:
        self.folder, self._analysed = folder, analysed
        (folder / "runs").mkdir(parents=True)

    def line(self, name: str, /, **parameters: Any) -> CampaignRun:
        point, repetition = map(int, name.split("-"))
        return {
            "name": name,
            "point": point,
            "repetition": repetition,
            "seed": 7,
            "topology": "synthetic",
            "parameters": parameters,
            "clock": "virtual",
            "status": "valid",
            "attempt": 1,
            "digest": "0",
            "took_s": 1.5,
            "failure": None,
        }

    def add(self, name: str, /, *, to_index: bool = True, **parameters: Any) -> Path:
        folder = self.folder / "runs" / name
        folder.mkdir()
        for file in (*_TABLES, "metrics.json"):
            shutil.copy(self._analysed / file, folder)
        if to_index:
            self.tell(json.dumps(self.line(name, **parameters)) + "\n")
        return folder

    def tell(self, text: str) -> None:
        with (self.folder / "runs.jsonl").open("a") as index:
            index.write(text)

    def problems(self) -> list[str]:
        return [str(problem).removeprefix(f"{self.folder}/") for problem in Runs.open(self.folder).problems]
