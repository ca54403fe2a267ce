# SPDX-License-Identifier: GPL-2.0-or-later
"""What a running switch counts, read from the texts of Open vSwitch's programs and of the kernel's tc."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from testbed.description.switch import BRIDGE
from testbed.errors import NetBoxITError
from testbed.system import node_files
from testbed.system.processes import ProgramFailed

if TYPE_CHECKING:
    from testbed.documents.status import SwitchPort, SwitchStatus
    from testbed.labs.lab import Lab

_READY: Final = "ready"
_OFCTL: Final = ("ovs-ofctl", "-O", "OpenFlow15")
#: OpenFlow's number of the switch's own port (ofport in Open vSwitch's database).
_LOCAL: Final = 65534
_PORT: Final = re.compile(
    r" port +(?P<port>\d+|LOCAL): rx pkts=(?P<received>\d+), .*?drop=(?P<receive_drops>\d+|\?).*\n"
    r".* tx pkts=(?P<sent>\d+), .*?drop=(?P<send_drops>\d+|\?)"
)
_XDP_DROPPED: Final = re.compile(r"xsk_queue_\d+_rx_dropped=(\d+)")
_METER: Final = re.compile(r"meter:(\d+) .*\n0: packet_count:(\d+)")
_READ: Final = re.compile(r"packets received: (\d+)")


def is_ready(folder: Path) -> bool:
    """Whether frames pass a switch, by its node's folder."""
    return (folder / _READY).exists()


def of(lab: Lab, switch: str) -> SwitchStatus | None:
    """What it has counted since it came up; None when it does not answer.

    `datapath` is Open vSwitch's word. `ports` by name: number, frames `received` and `sent`, `receive_drops`, `send_drops`, what
    `police` dropped (`policed`), and what found no room in a queue before it (`queue_drops`). `unserved` are frames that came to
    the sockets of user space and were never read from them; None where others look after that.
    """
    try:
        return _read(_asked(lab, switch), _came(lab, switch))
    except (NetBoxITError, FileNotFoundError, ValueError, TypeError, LookupError):
        # It is down, or on its way up, or something in it writes what it likes.
        return None


def since(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """What was counted between two readings of one switch; one that started again has begun anew."""
    ports = {
        name: {key: value if key == "number" else max(0, value - before["ports"][name][key]) for key, value in port.items()}
        for name, port in now["ports"].items()
        if name in before["ports"]
    }
    unserved = None if now["unserved"] is None else max(0, now["unserved"] - (before["unserved"] or 0))
    return {"datapath": now["datapath"], "ports": ports, "unserved": unserved}


@contextmanager
def keeping_unserved(lab: Lab, switch: str) -> Iterator[None]:
    """While it lasts ports may get other interfaces, whose counters began elsewhere: `unserved` is afterwards what it was."""
    before = _waiting(_asked(lab, switch))
    yield
    if before is not None and (now := _waiting(_asked(lab, switch))) is not None:
        node_files.write(lab.node_folder(switch) / _READY, json.dumps({"came": _came(lab, switch) + now - before}))


def _asked(lab: Lab, switch: str) -> Callable[[Sequence[str]], str]:
    return lambda argv: _output(lab.run(switch, argv))


def _came(lab: Lab, switch: str) -> int:
    """Frames that came before the switch began to count what it reads."""
    return int(json.loads(node_files.read(lab.node_folder(switch) / _READY))["came"])


def _output(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode:
        raise ProgramFailed(f"{done.args}: {done.stderr.strip() or f'status {done.returncode}'}")
    return done.stdout


def _read(run: Callable[[Sequence[str]], str], before: int) -> SwitchStatus:
    """`before` is how many frames came before it began to count what it reads."""
    datapath = run(("ovs-vsctl", "get", "Bridge", BRIDGE, "datapath_type")).strip()
    interfaces = _interfaces(run)
    counted = _counted(run((*_OFCTL, "dump-ports", BRIDGE)))
    policed = {int(meter): int(drops) for meter, drops in _METER.findall(run((*_OFCTL, "meter-stats", BRIDGE)))}
    queued = {one["dev"]: one["drops"] for one in json.loads(run(("tc", "-s", "-j", "qdisc", "show"))) if one["kind"] == "htb"}
    ports: dict[str, SwitchPort] = {
        name: {
            "number": number,
            "received": counted[number]["received"],
            "sent": counted[number]["sent"],
            "receive_drops": counted[number]["receive_drops"],
            "send_drops": counted[number]["send_drops"],
            "policed": policed.get(number, 0),
            "queue_drops": queued.get(name, 0),
        }
        for name, number, _ in sorted(interfaces, key=lambda one: int(one[1]))
        if number in counted and name != BRIDGE
    }
    waiting = _waiting(run)
    return {"datapath": datapath, "ports": ports, "unserved": None if waiting is None else max(0, waiting - before)}


def _interfaces(run: Callable[[Sequence[str]], str]) -> list[tuple[str, int, str]]:
    """Name, number and kind of each; one that has no number is no port."""
    told = json.loads(run(("ovs-vsctl", "--format=json", "--columns=name,ofport,type", "list", "Interface")))["data"]
    return [(name, number, kind) for name, number, kind in told if isinstance(number, int)]


def _waiting(run: Callable[[Sequence[str]], str]) -> int | None:
    """How many more frames came to the interfaces of a switch in user space than it has read; None in the kernel.

    The kernel counts what came, Open vSwitch what it read; the two are not read at one moment.
    """
    if run(("ovs-vsctl", "get", "Bridge", BRIDGE, "datapath_type")).strip() != "netdev":
        return None
    counted = _counted(run((*_OFCTL, "dump-ports", BRIDGE)))
    came = sum(
        counted[number]["received"] for _, number, kind in _interfaces(run) if kind in ("", "system") and number in counted
    )
    return came - sum(map(int, _READ.findall(run(("ovs-appctl", "dpif-netdev/pmd-stats-show")))))


def _counted(text: str) -> dict[int, dict[str, int]]:
    """By the port's number."""
    found = {}
    for port in _PORT.finditer(text):
        values = {key: 0 if value == "?" else int(value) for key, value in port.groupdict().items() if key != "port"}
        values["receive_drops"] += sum(map(int, _XDP_DROPPED.findall(text[port.end() :].partition("  port ")[0])))
        found[_LOCAL if port["port"] == "LOCAL" else int(port["port"])] = values
    return found
