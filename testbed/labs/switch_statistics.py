# SPDX-License-Identifier: GPL-2.0-or-later
"""What a running switch counts, read from the texts of Open vSwitch's programs and of the kernel's tc."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Self

from contracts.errors import NetBoxITError
from contracts.names import BRIDGE
from contracts.statistics import SwitchPort, SwitchStatus
from system import node_files
from system.processes import ProgramFailed
from testbed.labs.lab import READY, Lab

#: Each text ends with a NUL, but the last one, which is empty where the kernel forwards. What Open vSwitch has read is asked
#: after what came: frames in between count as read.
_ASK: Final = f"""\
set -e
datapath=$(ovs-vsctl get Bridge {BRIDGE} datapath_type)
printf '%s\\0' "$datapath"
ovs-vsctl --format=json --columns=name,ofport,type list Interface; printf '\\0'
ovs-ofctl -O OpenFlow15 meter-stats {BRIDGE}; printf '\\0'
tc -s -j qdisc show; printf '\\0'
ovs-ofctl -O OpenFlow15 dump-ports {BRIDGE}; printf '\\0'
if [ "$datapath" = netdev ]; then ovs-appctl dpif-netdev/pmd-stats-show; fi
"""
#: OpenFlow's number of the switch's own port (ofport in Open vSwitch's database).
_LOCAL: Final = 65534
_PORT: Final = re.compile(
    r" port +(?P<port>\d+|LOCAL): rx pkts=(?P<received>\d+), .*?drop=(?P<receive_drops>\d+|\?).*\n"
    r".* tx pkts=(?P<sent>\d+), .*?drop=(?P<send_drops>\d+|\?)"
)
_XDP_DROPPED: Final = re.compile(r"xsk_queue_\d+_rx_dropped=(\d+)")
_METER: Final = re.compile(r"meter:(\d+) .*\n0: packet_count:(\d+)")
_READ: Final = re.compile(r"packets received: (\d+)")


def of(lab: Lab, switch: str) -> SwitchStatus | None:
    """What it has counted since it came up; None when it does not answer.

    `datapath` is Open vSwitch's word. `ports` by name: number, frames `received` and `sent`, `receive_drops`, `send_drops`, what
    `police` dropped (`policed`), and what found no room in a queue before it (`queue_drops`). `unserved` are frames that came to
    the sockets of user space and were never read from them; None where others look after that.
    """
    try:
        return _read(_Answers.of(lab, switch), _came(lab, switch))
    except (NetBoxITError, FileNotFoundError, ValueError, TypeError, LookupError):
        # It is down, or on its way up, or something in it writes what it likes.
        return None


def since(before: SwitchStatus, now: SwitchStatus) -> SwitchStatus:
    """What was counted between two readings of one switch; one that started again has begun anew."""
    ports: dict[str, SwitchPort] = {
        name: {
            "number": port["number"],
            "received": max(0, port["received"] - earlier["received"]),
            "sent": max(0, port["sent"] - earlier["sent"]),
            "receive_drops": max(0, port["receive_drops"] - earlier["receive_drops"]),
            "send_drops": max(0, port["send_drops"] - earlier["send_drops"]),
            "policed": max(0, port["policed"] - earlier["policed"]),
            "queue_drops": max(0, port["queue_drops"] - earlier["queue_drops"]),
        }
        for name, port in now["ports"].items()
        if (earlier := before["ports"].get(name))
    }
    unserved = None if now["unserved"] is None else max(0, now["unserved"] - (before["unserved"] or 0))
    return {"datapath": now["datapath"], "ports": ports, "unserved": unserved}


@contextmanager
def keeping_unserved(lab: Lab, switch: str) -> Iterator[None]:
    """While it lasts ports may get other interfaces, whose counters began elsewhere: `unserved` is afterwards what it was."""
    before = _waiting(_Answers.of(lab, switch))
    yield
    if before is not None and (now := _waiting(_Answers.of(lab, switch))) is not None:
        node_files.write(lab.node_folder(switch) / READY, json.dumps({"came": _came(lab, switch) + now - before}))


def _came(lab: Lab, switch: str) -> int:
    """Frames that came before the switch began to count what it reads."""
    return int(json.loads(node_files.read(lab.node_folder(switch) / READY))["came"])


@dataclass(frozen=True)
class _Answers:
    """What Open vSwitch and the kernel say of a switch, asked at once: entering its container takes longer than each answer."""

    datapath: str
    interfaces: str
    meters: str
    queues: str
    ports: str
    polling: str

    @classmethod
    def of(cls, lab: Lab, switch: str) -> Self:
        """Raises ProgramFailed, NodeFailed."""
        done = lab.run(switch, ("sh", "-c", _ASK))
        if done.returncode:
            raise ProgramFailed(f"asking switch {switch} what it counted: {done.stderr.strip() or f'status {done.returncode}'}")
        return cls(*done.stdout.split("\0"))


def _read(answers: _Answers, before: int) -> SwitchStatus:
    """`before` is how many frames came before it began to count what it reads."""
    counts = _counted(answers.ports)
    policed = {int(meter): int(drops) for meter, drops in _METER.findall(answers.meters)}
    queued = {queue["dev"]: queue["drops"] for queue in json.loads(answers.queues) if queue["kind"] == "htb"}
    ports: dict[str, SwitchPort] = {
        name: {
            "number": number,
            "received": counts[number]["received"],
            "sent": counts[number]["sent"],
            "receive_drops": counts[number]["receive_drops"],
            "send_drops": counts[number]["send_drops"],
            "policed": policed.get(number, 0),
            "queue_drops": queued.get(name, 0),
        }
        for name, number, _ in sorted(_interfaces(answers), key=lambda interface: interface[1])
        if number in counts and name != BRIDGE
    }
    waiting = _waiting(answers)
    return {"datapath": answers.datapath, "ports": ports, "unserved": None if waiting is None else max(0, waiting - before)}


def _interfaces(answers: _Answers) -> list[tuple[str, int, str]]:
    """Name, number and kind of each; one that has no number is no port."""
    return [(name, number, kind) for name, number, kind in json.loads(answers.interfaces)["data"] if isinstance(number, int)]


def _waiting(answers: _Answers) -> int | None:
    """How many more frames came to the interfaces of a switch in user space than it has read; None in the kernel.

    The kernel counts what came, Open vSwitch what it read; the two are not read at one moment.
    """
    if answers.datapath != "netdev":
        return None
    counts = _counted(answers.ports)
    came = (counts[number]["received"] for _, number, kind in _interfaces(answers) if kind in ("", "system") and number in counts)
    return sum(came) - sum(map(int, _READ.findall(answers.polling)))


def _counted(text: str) -> dict[int, dict[str, int]]:
    """By the port's number."""
    counts = {}
    for port in _PORT.finditer(text):
        values = {key: 0 if value == "?" else int(value) for key, value in port.groupdict().items() if key != "port"}
        values["receive_drops"] += sum(map(int, _XDP_DROPPED.findall(text[port.end() :].partition("  port ")[0])))
        counts[_LOCAL if port["port"] == "LOCAL" else int(port["port"])] = values
    return counts
