# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs FRRouting's daemons inside a router's container, and writes down which routes they change.

frr_node.py FOLDER NEIGHBOURS [NETWORK…]

FOLDER is the node's own: it has frr.conf, link-costs.json where costs follow what netboxes tell, and start.json where the router
has other programs (host_node.py). It gets journal.jsonl (docs/architecture.md, "Journal"; event `route`, and what c2ml writes
into a journal of its own), and, as soon as NEIGHBOURS OSPF neighbours are known and there are routes to all NETWORKS, the file
`ready`. Ends when a daemon ends, or on SIGTERM with all of them.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyroute2 import IPRoute  # type: ignore[import-untyped]

DAEMONS = Path("/usr/lib/frr")
#: In the node's own folder: what c2ml writes of the managed links that this router has a part in.
PARTS_JOURNAL = "parts.jsonl"
#: So much of it is taken at once, bytes: a line is far shorter.
_PIECE = 1 << 16
#: Where its daemons and vtysh look for each other; a tmpfs of the container.
SOCKETS = Path("/run/frr")
#: In the order in which they are started: the others register with zebra.
NAMES = ("zebra", "staticd", "bfdd", "ospfd")
#: Routes by OSPF (linux/rtnetlink.h, RTPROT_OSPF) in the main table.
RTPROT_OSPF, RT_TABLE_MAIN = 188, 254
START_DEADLINE_S = 60.0
POLL_S = 0.1
#: How often it says what it is waiting for.
WORD_S = 5.0
#: What netboxes tell (netboxes/engine/README.md, "Telemetry"): EtherType, magic, version, where items begin, and the type of
#: DLEP's Current Data Rate (Transmit) (RFC 8175, 13.15).
_ETHER_TYPE, _MAGIC, _VERSION, _ITEMS, _CURRENT_DATA_RATE_TRANSMIT = 0x88B5, 0x4E42, 1, 18, 15
#: Of linux/if_packet.h: what this host sends itself is told by nobody.
_SOL_PACKET, _PACKET_IGNORE_OUTGOING = 263, 23
_LARGEST_COST = 65535
#: For an advertisement to cross the network, and for the calculation after it (frr.py has it wait 100 ms at least, up to 1 s).
_MARGIN_MS = 1000


class DaemonEnded(RuntimeError):
    """A daemon ended by itself, did not start, or does not answer."""


def start(name: str) -> subprocess.Popen[bytes]:
    """Starts a daemon and waits until it can be spoken to."""
    daemon = subprocess.Popen([DAEMONS / name, "-u", "root", "-g", "root", "-A", "127.0.0.1", "-P", "0"])
    deadline = time.monotonic() + START_DEADLINE_S
    while not (SOCKETS / f"{name}.vty").exists():
        if daemon.poll() is not None or time.monotonic() > deadline:
            raise DaemonEnded(f"{name} did not start (status {daemon.poll()}); see above what it wrote")
        time.sleep(0.01)
    return daemon


def vtysh(*arguments: str) -> str:
    """Raises DaemonEnded when a daemon does not answer it, CalledProcessError for what it refuses."""
    command = ["/usr/bin/vtysh", *arguments]
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=START_DEADLINE_S).stdout
    except subprocess.TimeoutExpired:
        raise DaemonEnded(f"{' '.join(command)} is not over after {START_DEADLINE_S:g} s: a daemon does not answer") from None


@dataclass(frozen=True)
class Neighbour:
    """A neighbour of OSPF, as ospfd tells of it."""

    #: "Full/DR", say.
    state: str
    #: Advertisements that were sent to it and that it has not confirmed.
    unconfirmed: int


def neighbours() -> list[Neighbour]:
    """Those in state Full, and those on a broadcast network that neither end needs to be full with (RFC 2328, 10.4)."""
    by_address = json.loads(vtysh("-c", "show ip ospf neighbor json")).get("neighbors", {})
    all_neighbours = [
        Neighbour(str(entry.get("nbrState", entry.get("state", ""))), entry.get("linkStateRetransmissionListCounter", 0))
        for entries in by_address.values()
        for entry in entries
    ]
    return [neighbour for neighbour in all_neighbours if neighbour.state.startswith(("Full", "2-Way"))]


class Journal:
    """One JSON object a line. A node that was rebooted goes on in the same file, and counts from the same time."""

    def __init__(self, file: Path) -> None:
        before = began_ns(file)
        self._file = file.open("ab", buffering=0)
        self._is_complete = True
        self._began_ns = time.time_ns() if before is None else before
        self._lock = threading.Lock()
        if before is None:
            self._write({"began_ns": self._began_ns})

    def add(self, event: str, **details: object) -> None:
        self.add_of(time.time_ns(), {"event": event, **details})

    def add_of(self, at_ns: int, line: Mapping[str, object]) -> None:
        """What happened at that time, CLOCK_REALTIME."""
        self._write({**line, "at_s": (at_ns - self._began_ns) / 1e9})

    def _write(self, line: Mapping[str, object]) -> None:
        """Says once where a line finds no room: a router routes on."""
        text = (json.dumps(line) + "\n").encode()
        with self._lock:
            try:
                written = self._file.write(text)
            except OSError as error:
                written, why = 0, error.strerror
            else:
                why = "the disk is full"
            if written != len(text) and self._is_complete:
                self._is_complete = False
                print(f"from now on events are missing in the journal: {why}", file=sys.stderr, flush=True)


def began_ns(journal: Path) -> int | None:
    """What the first line of a journal says; None where there is none yet."""
    try:
        with journal.open(encoding="utf-8") as file:
            began = json.loads(file.readline())["began_ns"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return began if isinstance(began, int) else None


class PartsJournal:
    """What c2ml adds to its journal from now on. It says anew when its times begin, whenever it is started."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._place = file.stat().st_size if file.exists() else 0
        self._began_ns: int | None = None

    def take_into(self, journal: Journal) -> None:
        """Writes its new lines into the node's journal: the last one only when it is whole, and of many only some."""
        try:
            # What the router's programs may have put in its place is not waited for.
            with open(self._file, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW)) as file:
                file.seek(self._place)
                piece = file.read(_PIECE)
        except OSError:
            return  # it has not begun, or it is no file
        lines, whole, rest = piece.rpartition(b"\n")
        self._place += len(lines) + len(whole) if len(rest) < _PIECE else _PIECE
        for line in lines.splitlines():
            self._take(line, journal)

    def _take(self, text: bytes, journal: Journal) -> None:
        try:
            line = json.loads(text)
            if "event" not in line:
                self._began_ns = int(line["began_ns"])
            elif self._began_ns is not None:
                journal.add_of(self._began_ns + int(line["at_s"] * 1e9), line)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            pass  # cut short, when it was killed


def follow_routes(journal: Journal) -> None:
    """Writes down each route that OSPF sets or takes away; never returns."""
    with IPRoute() as netlink:
        netlink.bind()
        names = {link["index"]: link.get("ifname") for link in netlink.get_links()}
        while True:
            for message in netlink.get():
                kind = message.get("event")
                origin = (message.get("proto"), message.get("table"))
                if kind not in ("RTM_NEWROUTE", "RTM_DELROUTE") or origin != (RTPROT_OSPF, RT_TABLE_MAIN):
                    continue
                # A destination with several paths of equal cost has them as a list, another its only one itself.
                journal.add(
                    "route" if kind == "RTM_NEWROUTE" else "route_gone",
                    destination=f"{message.get('dst') or '0.0.0.0'}/{message['dst_len']}",
                    paths=[
                        {"gateway": hop.get("gateway"), "interface": names.get(hop.get("oif"))}
                        for hop in message.get("multipath") or [message]
                    ],
                )


def told_rate(frame: bytes) -> int | None:
    """At which this node's frames leave by its link, bit/s, as a netbox tells it; None of a frame that does not."""
    if len(frame) < _ITEMS or struct.unpack_from(">HHB", frame, 12) != (_ETHER_TYPE, _MAGIC, _VERSION):
        return None
    at = _ITEMS
    while at + 4 <= len(frame):
        kind, length = struct.unpack_from(">HH", frame, at)
        if (kind, length) == (_CURRENT_DATA_RATE_TRANSMIT, 8) and at + 12 <= len(frame):
            return int.from_bytes(frame[at + 4 : at + 12])
        at += 4 + length
    return None


def cost_of(rate_bps: int, reference_bps: float) -> int:
    """As ospfd's `auto-cost`: the reference by the rate, rounded; the largest of a link that is down."""
    return min(max(1, int(reference_bps / rate_bps + 0.5)), _LARGEST_COST) if rate_bps else _LARGEST_COST


def follow_links(interfaces: Sequence[str], reference_bps: float) -> None:
    """Gives these interfaces the costs of what their netboxes tell; never returns."""
    costs: dict[str, int] = {}
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETHER_TYPE)) as told:
        told.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
        while True:
            frame, (interface, *_) = told.recvfrom(256)
            if interface not in interfaces or (rate_bps := told_rate(frame)) is None:
                continue
            if (cost := cost_of(rate_bps, reference_bps)) == costs.get(interface):
                continue
            try:
                vtysh("-c", "configure terminal", "-c", f"interface {interface}", "-c", f"ip ospf cost {cost}")
                costs[interface] = cost
            except (DaemonEnded, subprocess.CalledProcessError) as error:
                print(
                    f"ospfd did not take the cost {cost} of {interface}: {error}", file=sys.stderr, flush=True
                )  # told again in 1 s


def missing(expected: int, networks: Sequence[str]) -> str:
    """What it is waiting for, in words; nothing when it is ready."""
    known_neighbours = neighbours()
    if len(known_neighbours) < expected:
        return f"{expected - len(known_neighbours)} of {expected} OSPF neighbours"
    routes = json.loads(vtysh("-c", "show ip route json"))
    if lacking := [f"a route to {network}" for network in networks if network not in routes]:
        return ", ".join(lacking)
    return "" if settled(known_neighbours) else "OSPF to settle: routers still advertise what has changed"


def settled(neighbours: Sequence[Neighbour]) -> bool:
    """Whether the paths are those that all routers' costs give: nothing has changed for longer than an advertisement may wait.

    A router says again what has changed after its least interval (RFC 2328, 12.4: MinLSInterval), repeats what no neighbour has
    confirmed, and each change has all of them calculate their routes anew.
    """
    if any(neighbour.unconfirmed for neighbour in neighbours):
        return False
    if not (answer := vtysh("-c", "show ip ospf json")).lstrip().startswith("{"):
        return True  # a configuration of the user's own, without OSPF
    ospf = json.loads(answer)
    return int(ospf.get("spfLastExecutedMsecs", 0)) > int(ospf["lsaMinIntervalMsecs"]) + _MARGIN_MS


def main(folder: Path, expected: int, networks: Sequence[str]) -> int:
    SOCKETS.mkdir(parents=True, exist_ok=True)
    stop_requested = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop_requested.set())
    journal = Journal(folder / "journal.jsonl")
    threading.Thread(target=follow_routes, args=(journal,), daemon=True).start()
    parts = PartsJournal(folder / PARTS_JOURNAL)
    daemons: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name in NAMES:
            daemons[name] = start(name)
        vtysh("-f", str(folder / "frr.conf"))
        if (links := folder / "link-costs.json").exists():
            said = json.loads(links.read_text())
            followed = (said["interfaces"], said["reference_bps"])
            threading.Thread(target=follow_links, args=followed, daemon=True).start()
        if (folder / "start.json").exists():
            daemons["host_node"] = subprocess.Popen([sys.executable, "-I", Path(__file__).with_name("host_node.py")])
        ready, next_word = folder / "ready", time.monotonic() + WORD_S
        while not stop_requested.wait(POLL_S):
            parts.take_into(journal)
            if not ready.exists():
                if not (what := missing(expected, networks)):
                    ready.touch()
                elif time.monotonic() > next_word:
                    print(f"waiting for {what}", file=sys.stderr, flush=True)
                    next_word += WORD_S
            for name, daemon in daemons.items():
                if daemon.poll() is not None and not stop_requested.is_set():
                    raise DaemonEnded(f"{name} ended with status {daemon.returncode}")
    except subprocess.CalledProcessError as error:
        print(f"frr.conf was refused:\n{error.stdout}{error.stderr}", file=sys.stderr)
        return 1
    except DaemonEnded as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        for daemon in daemons.values():
            daemon.terminate()
        for daemon in daemons.values():
            daemon.wait()  # whoever asked this node to end kills it, with all that is in it, when that takes too long
        parts.take_into(journal)  # what c2ml wrote at its end
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
