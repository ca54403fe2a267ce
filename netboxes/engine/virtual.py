# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a segment in virtual time: frames with their times in, frames with their times out, independent of the machine's load."""

from __future__ import annotations

import ipaddress
import json
import struct
import subprocess
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contracts.netbox_configuration import LiveLimits
from contracts.run_folder import JOURNAL_FILE, RECORDS_FILE, STATISTICS_FILE
from netboxes.link_layer.link_layer import LinkLayer
from netboxes.live_limits import live_limits_of_program
from netboxes.stages.stage import Stage
from netboxes.technology import builds, program, technologies
from results import pcapng, records

#: A frame and the simulated time, in seconds, at which it enters or leaves its port.
TimedFrame = tuple[float, bytes]
#: A live change: simulated time in seconds, parameter, value in base units.
Change = tuple[float, str, Any]


class EmulationFailed(RuntimeError):
    """The netbox did not end with success; the message has its command, exit status and what it wrote on stderr."""


@dataclass(frozen=True)
class Emulation:
    """What came out of a run. Times count from the start of the simulation."""

    #: For each station, what left its port, in order.
    received: dict[str, list[TimedFrame]]
    #: One record a copy of a frame (results.records.RECORD); times in ns since the start of the simulation.
    records: NDArray[np.void]
    #: What the control method `statistics` would have answered at the end.
    statistics: dict[str, Any]
    #: The lines of its journal (docs/architecture.md, "Journal"); its time 0 is when the first frame enters.
    journal: list[dict[str, Any]]

    def events(self, event: str) -> list[dict[str, Any]]:
        """What was announced by this name, in order."""
        return [line for line in self.journal if line.get("event") == event]


def emulate(
    technology: str,
    parameters: Mapping[str, Any],
    frames: Mapping[str, Sequence[TimedFrame]],
    *,
    seed: int = 1,
    classes: Sequence[Mapping[str, Any]] | None = None,
    stages: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    link_layer: Mapping[str, Any] | None = None,
    telemetry: bool = False,
    events: Sequence[Change] = (),
    duration_s: float | None = None,
    interval_s: float | None = None,
) -> Emulation:
    """Run `technology` with all as in YAML (in the parameters its `stations`) on frames that enter at stated times.

    Without `duration_s` the run ends 1 s after the last frame is accounted for. With `interval_s` the journal has the segment's
    statistics at each such interval. Runs whose `seed` is a small number have losses in common: several repetitions take
    contracts.names.repetition_seed.
    Raises pydantic.ValidationError for bad parameters, EmulationFailed when the netbox fails.
    """
    model = technologies()[technology].model_validate(parameters)
    values = model.values(rule["name"] for rule in classes or ())
    stations = list(values["stations"])
    return run(
        technology,
        stations,
        values,
        frames,
        seed=seed,
        classes=classes,
        stages=in_base_units(stages or {}),
        link_layer=None if link_layer is None else LinkLayer.model_validate(link_layer).model_dump(mode="json"),
        telemetry=telemetry,
        events=events,
        duration_s=duration_s,
        interval_s=interval_s,
    )


def in_base_units(stages: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """What YAML says of stages, by station, as netbox.json has it. Raises pydantic.ValidationError."""
    return {station: [Stage.model_validate(stage).model_dump() for stage in own] for station, own in stages.items()}


def run(
    segment: str,
    stations: Sequence[str],
    parameters: Mapping[str, Any],
    frames: Mapping[str, Sequence[TimedFrame]],
    *,
    live: LiveLimits | None = None,
    seed: int = 1,
    classes: Sequence[Mapping[str, Any]] | None = None,
    stages: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    link_layer: Mapping[str, Any] | None = None,
    telemetry: bool = False,
    events: Sequence[Change] = (),
    duration_s: float | None = None,
    interval_s: float | None = None,
) -> Emulation:
    """As `emulate`, for any netbox-<segment> program and parameters that are in base units already.

    `live`: what `events` can change; default: what the technology of that name says.
    """
    netbox = Netbox(
        segment,
        tuple(stations),
        parameters,
        frames,
        live,
        seed,
        classes or (),
        events,
        stages=stages or {},
        link_layer=link_layer,
        telemetry=telemetry,
    )
    with tempfile.TemporaryDirectory(prefix="netboxit-") as name:
        folder = Path(name)
        file = folder / "netbox.json"
        times = {"duration_s": duration_s, "start_s": netbox.first_ns() / 1e9}
        file.write_text(json.dumps(netbox.configuration("virtual", folder, interval_s) | times))
        run_program(program(segment), file, builds(segment))
        return netbox.emulation(folder)


@dataclass(frozen=True)
class Netbox:
    """A netbox in virtual time: its technology, stations and parameters in base units, and what comes to it from outside."""

    segment: str
    stations: tuple[str, ...]
    parameters: Mapping[str, Any]
    #: By station, in any order; of those that no wire joins to another netbox.
    frames: Mapping[str, Sequence[TimedFrame]] = field(default_factory=dict)
    #: What `events` can change; None: what the technology says.
    live: LiveLimits | None = None
    seed: int = 1
    classes: Sequence[Mapping[str, Any]] = ()
    events: Sequence[Change] = ()
    #: By station of those with a wire: where its frames are kept, both ways.
    captures: Mapping[str, Path] = field(default_factory=dict)
    #: By station, in base units.
    stages: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    #: In base units; None: there is none.
    link_layer: Mapping[str, Any] | None = None
    telemetry: bool = False

    def __post_init__(self) -> None:
        if unknown := set(self.frames) - set(self.stations):
            raise ValueError(f"frames for {', '.join(sorted(unknown))}: no such station among {', '.join(self.stations)}")

    def first_ns(self) -> int:
        """When the first frame enters; 0 without any."""
        return min((_ns(time) for frames in self.frames.values() for time, _ in frames), default=0)

    def configuration(
        self, name: str, folder: Path, interval_s: float | None = None, joined: Collection[str] = ()
    ) -> dict[str, Any]:
        """Its netbox.json, but for the run's times; the frames become files of `folder`. `joined`: the stations with a wire."""
        for station, timed in self.frames.items():
            by_time = sorted(timed, key=lambda item: item[0])
            pcapng.write(folder / f"{station}-in.pcapng", [(_ns(time), data) for time, data in by_time])
        return {
            "name": name,
            "technology": self.segment,
            "seed": self.seed,
            "clock": "virtual",
            "stations": [
                {"name": station, "port": self._joined(station) if station in joined else self._port(folder, station)}
                for station in self.stations
            ],
            "classes": list(self.classes),
            "parameters": self.parameters,
            "stages": self.stages,
            "link_layer": self.link_layer,
            "telemetry": self.telemetry,
            "live": self.live or live_limits_of_program(self.segment, has_link_layer=self.link_layer is not None),
            "records": str(folder / RECORDS_FILE),
            "statistics": str(folder / STATISTICS_FILE),
            "journal": str(folder / JOURNAL_FILE),
            "interval_s": interval_s,
            "events": [{"at_s": at, "parameter": parameter, "value": value} for at, parameter, value in self.events],
        }

    def _port(self, folder: Path, station: str) -> dict[str, Any]:
        input_file = str(folder / f"{station}-in.pcapng") if station in self.frames else None
        return {"kind": "pcapng", "input": input_file, "output": str(folder / f"{station}-out.pcapng")}

    def _joined(self, station: str) -> dict[str, Any]:
        capture = self.captures.get(station)
        return {"kind": "joined", "capture": None if capture is None else str(capture)}

    def emulation(self, folder: Path) -> Emulation:
        """What came out of the run that had `configuration`."""
        captures = {station: folder / f"{station}-out.pcapng" for station in self.stations}
        return Emulation(
            {s: [(p.time_ns / 1e9, p.data) for p in pcapng.read(file)] for s, file in captures.items() if file.exists()},
            records.read(folder / RECORDS_FILE),
            json.loads((folder / STATISTICS_FILE).read_text()),
            [json.loads(line) for line in (folder / JOURNAL_FILE).read_text().splitlines()],
        )


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)


def run_program(path: Path, configuration: Path, remedy: str) -> None:
    """Run a program on its configuration to its end. Raises EmulationFailed; `remedy`: what builds the program."""
    command = [str(path), str(configuration)]
    try:
        # Without a deadline: it computes, and waits for nothing; how long, only who gave it its frames can say.
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise EmulationFailed(f"{path} is not built; remedy: {remedy}, or set NETBOXIT_BUILD") from None
    except subprocess.CalledProcessError as error:
        raise EmulationFailed(f"{' '.join(command)} ended with {error.returncode}: {error.stderr.strip()}") from error


def mac(station: int) -> bytes:
    """A MAC address for tests: locally administered, the same for the same number."""
    return b"\x02\x00\x00\x00" + struct.pack(">H", station)


BROADCAST = b"\xff" * 6


def ethernet(source: bytes, destination: bytes, ether_type: int, payload: bytes) -> bytes:
    """An Ethernet frame without FCS, padded to the minimum of 60 bytes."""
    return (destination + source + struct.pack(">H", ether_type) + payload).ljust(60, b"\0")


def udp(
    source: int,
    destination: int,
    payload: int = 100,
    *,
    dscp: int = 0,
    ports: tuple[int, int] = (40000, 5004),
    identification: int = 0,
    version: int = 4,
) -> bytes:
    """An Ethernet frame with a UDP datagram of `payload` bytes between two station numbers (their MAC and IP addresses).

    Its layer-3 length is payload + 28 bytes (IPv4) or payload + 48 bytes (IPv6). `identification` tells frames apart: it
    stands in the IPv4 field and in the first payload bytes. Checksums are right, so any tool can look at the frames.
    """
    body = struct.pack(">I", identification)[-min(4, payload) :] if payload else b""
    body = body.ljust(payload, b"\0")
    addresses = [address(number, version).packed for number in (source, destination)]
    length = 8 + payload
    pseudo = b"".join(addresses) + struct.pack(">IHBB", length, 0, 0, 17)
    header = struct.pack(">HHHH", *ports, length, 0)
    datagram = header[:6] + struct.pack(">H", checksum(pseudo + header + body) or 0xFFFF) + body
    if version == 6:
        packet = struct.pack(">IHBB", 6 << 28 | dscp << 22, length, 17, 64) + b"".join(addresses) + datagram
        return ethernet(mac(source), mac(destination), 0x86DD, packet)
    fields = struct.pack(">BBHHHBBH", 0x45, dscp << 2, 20 + length, identification & 0xFFFF, 0, 64, 17, 0) + b"".join(addresses)
    fields = fields[:10] + struct.pack(">H", checksum(fields)) + fields[12:]
    return ethernet(mac(source), mac(destination), 0x0800, fields + datagram)


def fragments(frame: bytes, payload: int, identification: int = 0) -> list[bytes]:
    """The frame's IP packet in fragments with `payload` bytes each, a multiple of 8 (RFC 791, 3.2; RFC 8200, 4.5).

    `identification` is for IPv6; IPv4's stands in the frame.
    """
    version = frame[14] >> 4
    header, rest = (frame[14:34], frame[34:]) if version == 4 else (frame[14:54], frame[54:])
    frames = []
    for at in range(0, len(rest), payload):
        piece, more = rest[at : at + payload], at + payload < len(rest)
        if version == 4:
            fields = header[:2] + struct.pack(">H2sHBBH", 20 + len(piece), header[4:6], more << 13 | at // 8, *header[8:10], 0)
            fields += header[12:]
            fields = fields[:10] + struct.pack(">H", checksum(fields)) + fields[12:]
        else:
            fields = header[:4] + struct.pack(">HB", 8 + len(piece), 44) + header[7:]
            fields += struct.pack(">BBHI", header[6], 0, at | more, identification)
        frames.append(ethernet(frame[6:12], frame[:6], int.from_bytes(frame[12:14], "big"), fields + piece))
    return frames


def vlan(frame: bytes, identifier: int, priority: int = 0) -> bytes:
    """The frame with an IEEE 802.1Q tag."""
    return frame[:12] + struct.pack(">HH", 0x8100, priority << 13 | identifier) + frame[12:]


def address(station: int, version: int) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """The IP address of that number, in 10.0.0.0/8 or fd00::/8."""
    return ipaddress.IPv4Address(0x0A00_0000 + station) if version == 4 else ipaddress.IPv6Address((0xFD << 120) + station)


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    total: int = sum(struct.unpack(f">{len(data) // 2 + len(data) % 2}H", data + bytes(len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
