# SPDX-License-Identifier: GPL-2.0-or-later
"""Open vSwitch: whether flows are sound, what a switch's container runs, and how it is told what to be.

Nothing else in NetBoxIT speaks to it but `switch_node.py`, which runs it inside the container, and `switch_statistics.py`, which
reads what it counts.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from platform import release
from typing import Final, Literal

from contracts.errors import NetBoxITError
from contracts.installation import CHECKOUT, PYTHON, SETUP
from contracts.names import BRIDGE
from system import sandbox
from system.rootfs import NODE_FOLDER
from testbed.description.switch import Queue, Switch, SwitchPort, Vlans

Datapath = Literal["kernel", "userspace", "xdp"]

CONFIGURATION: Final = "switch.json"
#: What the node runs.
COMMAND: Final = (str(PYTHON), str(CHECKOUT / "testbed/nodes/switch_node.py"), NODE_FOLDER)

#: Raw sockets, the tap interfaces of the switch itself, and queues. For AF_XDP its library asks for programs of the kernel by
#: their numbers, which only CAP_SYS_ADMIN may.
CAPABILITIES: Final = ("net_admin", "net_raw")
CAPABILITIES_XDP: Final = ("net_admin", "net_raw", "ipc_lock", "bpf", "sys_admin")

#: Of the device by which user space makes the tap interface of the switch itself.
TUN: Final = Path("/dev/net/tun")

#: Without `--` a flow could be an option, and have a file written.
OFCTL: Final = ("ovs-ofctl", "-O", "OpenFlow10,OpenFlow13,OpenFlow15", "--")
_TIMEOUT_S: Final = 30.0
#: Of each flow; it takes some 10 ms.
_FLOW_TIMEOUT_S: Final = 0.2
#: Has a command parse each line that comes in, and tells of those that it refuses: number, status, complaint.
_PARSE_EACH: Final = r"""
number=0
while IFS= read -r flow; do
    answer=$("$@" "$flow" 2>&1 >/dev/null) || printf '%s\t%s\t%s\0' "$number" "$?" "$answer"
    number=$((number + 1))
done
"""
_PORT_IN_FLOW: Final = re.compile(r'(?P<key>in_port=|output:|output=|enqueue:|enqueue\()"?(?P<name>[a-z][a-z0-9-]*)"?')


class SwitchProgramMissing(NetBoxITError):
    """Open vSwitch is not installed."""


def kernel_datapath() -> bool:
    """Whether the kernel has Open vSwitch's module, loaded or to be loaded when it is first asked for."""
    if Path("/sys/module/openvswitch").exists():
        return True
    lists = (Path("/lib/modules", release(), name) for name in ("modules.dep", "modules.builtin"))
    return any("/openvswitch.ko" in file.read_text() for file in lists if file.exists())


def wrong_flows(switch: Switch) -> Iterator[tuple[int, str]]:
    """Number in the list and complaint of each flow that Open vSwitch does not understand.

    Its parser works in a sandbox; that it exceeds the limits there is told as of the first flow. Raises SwitchProgramMissing,
    SandboxFailed.
    """
    flows = list(_flows(switch))
    if not flows:
        return
    if shutil.which(OFCTL[0]) is None:
        raise SwitchProgramMissing(f"checking flows: ovs-ofctl is not installed; `{SETUP}` installs openvswitch-switch")
    limits = sandbox.Limits(_TIMEOUT_S + len(flows) * _FLOW_TIMEOUT_S)
    with sandbox.in_memory("".join(f"{flow}\n" for flow in flows).encode()) as text:
        try:
            parsed = sandbox.run(("/bin/sh", "-c", _PARSE_EACH, "sh", *OFCTL, "parse-flow"), limits, stdin=text)
        except sandbox.LimitExceeded as exceeded:
            yield 0, f"Open vSwitch could not read the flows: {exceeded}"
            return
    for complaint in parsed.output.decode(errors="replace").split("\0")[:-1]:
        index, status, words = complaint.split("\t", 2)
        yield int(index), words.removeprefix("ovs-ofctl: ") or f"ovs-ofctl ended with {status}"


def configuration(switch: Switch, datapath: Datapath, mac: str, edges: Sequence[str], polling: int | None) -> str:
    """The calls that make it, in their order, for switch_node.py.

    `mac` is the switch's own address, `edges` are its ports behind which there is no other switch, `polling` is the core that
    looks after AF_XDP.
    """
    policing = [f"priority=1,in_port={number},actions=meter:{number},NORMAL" for number in _policed(switch)]
    calls = [
        ["ovs-vsctl", *_joined(_settings(switch, datapath, mac, edges, polling))],
        ["ip", "link", "set", "dev", BRIDGE, "up"],
        *_own(switch),
        *([*OFCTL, "add-meter", BRIDGE, meter] for meter in _meters(switch)),
        *([*OFCTL, "add-flow", BRIDGE, flow] for flow in (*policing, *_flows(switch))),
        *(call for name, port in switch.settings().items() if port.limit for call in _queueing(name, port)),
    ]
    counted = list(switch.port_list) if datapath == "userspace" else []
    return json.dumps({"calls": calls, "rstp": switch.rstp, "ports": counted}, indent=1) + "\n"


def without_interface(port: str) -> list[list[str]]:
    """The calls by which a running switch releases a port's interface; the port itself stays, with all its settings."""
    away = f"{port}-away"
    created = ("ovs-vsctl", f"--id=@{away}", "create", "Interface", f"name={away}", "type=patch", f"options:peer={away}-too")
    return [[*created, "--", "set", "Port", port, f"interfaces=@{away}"]]


def with_interface(text: str, port: str) -> list[list[str]]:
    """The calls by which it takes the interface that has the port's name now; `text` is its configuration."""
    calls: list[list[str]] = json.loads(text)["calls"]
    settings = next(part[3:] for part in _parts(calls[0]) if part[:3] == ["set", "Interface", port])
    took = ["ovs-vsctl", f"--id=@{port}", "create", "Interface", f"name={port}", *settings]
    queueing = [call for call in calls if call[0] == "tc" and call[call.index("dev") + 1] == port]
    return [[*took, "--", "set", "Port", port, f"interfaces=@{port}"], *queueing]


def _joined(parts: Iterator[list[str]]) -> Iterator[str]:
    """One transaction: all of it is done, or nothing."""
    for part in parts:
        yield "--"
        yield from part


def _parts(call: Sequence[str]) -> Iterator[list[str]]:
    """What `_joined` joined."""
    part: list[str] = []
    for word in (*call[1:], "--"):
        if word == "--":
            yield part
            part = []
        else:
            part.append(word)


def _settings(switch: Switch, datapath: Datapath, mac: str, edges: Sequence[str], polling: int | None) -> Iterator[list[str]]:
    if polling is not None:
        yield ["set", "Open_vSwitch", ".", f"other_config:pmd-cpu-mask={1 << polling:#x}"]
    yield ["add-br", BRIDGE]
    yield [
        *("set", "Bridge", BRIDGE, f"datapath_type={'system' if datapath == 'kernel' else 'netdev'}"),
        f"fail_mode={switch.controller.fail if switch.controller else 'standalone'}",
        f'other_config:hwaddr="{mac}"',
        f"other_config:mac-aging-time={switch.ageing:.0f}",
        f"mcast_snooping_enable={str(switch.multicast_snooping).lower()}",
        f"rstp_enable={str(switch.rstp).lower()}",
        *([f"other_config:rstp-priority={switch.priority}"] if switch.rstp else []),
    ]
    for name, port in switch.settings().items():
        yield ["add-port", BRIDGE, name, *_vlans(port)]
        yield ["set", "Interface", name, f"ofport_request={switch.numbers[name]}", *(["type=afxdp"] if datapath == "xdp" else [])]
        if switch.rstp:
            yield ["set", "Port", name, f"other_config:rstp-port-admin-edge={str(name in edges).lower()}"]
        if port.limit is not None:
            yield from _shaping(name, port)
    for name, tunnel in switch.tunnels.items():
        yield ["add-port", BRIDGE, name, *_vlans(tunnel)]
        yield [
            *("set", "Interface", name, f"type={tunnel.kind}", f"ofport_request={switch.numbers[name]}"),
            *(f"options:remote_ip={tunnel.remote}", f"options:key={tunnel.key}"),
        ]
    if switch.own and switch.own.vlan:
        yield ["set", "Port", BRIDGE, f"tag={switch.own.vlan}"]
    if switch.controller:
        yield ["set-controller", BRIDGE, f"tcp:{switch.controller.address}:{switch.controller.port}"]
    if switch.mirror:
        yield from _mirror(switch, switch.mirror.source, switch.mirror.to)


def _vlans(port: Vlans) -> list[str]:
    return [
        *(["vlan_mode=native-untagged"] if port.vlan and port.trunk else []),
        *([f"tag={port.vlan}"] if port.vlan else ["vlan_mode=trunk"]),
        *([f"trunks={','.join(map(str, port.trunk))}"] if port.trunk else []),
    ]


def _mirror(switch: Switch, source: Sequence[str], to: str) -> Iterator[list[str]]:
    every = source or [name for name in switch.numbers if name != to]
    for name in (*every, to):
        yield [f"--id=@{name}", "get", "Port", name]
    ports = ",".join(f"@{name}" for name in every)
    yield [
        *("--id=@mirror", "create", "Mirror", "name=mirror"),
        *(f"select-src-port={ports}", f"select-dst-port={ports}", f"output-port=@{to}"),
    ]
    yield ["set", "Bridge", BRIDGE, "mirrors=@mirror"]


def _shaping(name: str, port: SwitchPort) -> Iterator[list[str]]:
    """Classes of the kernel's hierarchical token bucket before the port; class 0 is for what no queue is for."""
    assert port.limit is not None
    queues = list(enumerate(port.queues.values(), 1))
    yield [
        *(f"--id=@{name}-limit", "create", "QoS", "type=linux-htb", f"other-config:max-rate={port.limit:.0f}"),
        *(f"queues:{number}=@{name}-{number}" for number in range(len(queues) + 1)),
    ]
    # What is left over: it never waits for a rate of its own, and always for the others.
    yield [f"--id=@{name}-0", "create", "Queue", "other-config:priority=7", f"other-config:max-rate={port.limit:.0f}"]
    for number, queue in queues:
        yield [f"--id=@{name}-{number}", "create", "Queue", *_rates(queue, port.limit)]
    yield ["set", "Port", name, f"qos=@{name}-limit"]


def _rates(queue: Queue, limit: float) -> list[str]:
    return [
        f"other-config:priority={queue.priority}",
        f"other-config:min-rate={queue.least or limit / 10:.0f}",
        f"other-config:max-rate={queue.most or limit:.0f}",
    ]


def _queueing(name: str, port: SwitchPort) -> Iterator[list[str]]:
    """How long each queue is, and which packets wait in it, by the DSCP of IPv4 and IPv6, also behind a tag.

    Open vSwitch in user space does not hand a packet's queue to the kernel, so filters of the kernel sort them.
    """
    for number, length in enumerate([port.queue, *(queue.length for queue in port.queues.values())], 1):
        yield [
            *("tc", "qdisc", "add", "dev", name, "parent", f"1:{number:x}", "handle", f"{number + 1:x}:"),
            *("pfifo", "limit", str(length)),
        ]
    filters = [
        (header, number)
        for number, queue in enumerate(port.queues.values(), 2)
        for dscp in queue.dscp
        for header in _headers(dscp)
    ]
    for rank, ((ether_type, match), number) in enumerate(filters, 1):
        yield [
            *("tc", "filter", "add", "dev", name, "parent", "1:", "protocol", ether_type, "prio", str(rank), "u32"),
            *match,
            *("flowid", f"1:{number:x}"),
        ]


def _headers(dscp: int) -> Iterator[tuple[str, list[str]]]:
    """EtherType, and behind it what shows the code point (RFC 791, 3.1; RFC 8200, 3; RFC 2474, 3), without and with a tag.

    The kernel counts from IP's header also behind a tag (packet_parse_headers, since Linux 6.0), but has the tag's EtherType.
    """
    ipv4 = ["match", "u8", "0x40", "0xf0", "at", "0", "match", "u8", f"{dscp << 2:#x}", "0xfc", "at", "1"]
    ipv6 = ["match", "u16", f"{0x6000 | dscp << 6:#x}", "0xffc0", "at", "0"]
    yield from (("ip", ipv4), ("ipv6", ipv6), ("802.1q", ipv4), ("802.1q", ipv6))


def _own(switch: Switch) -> list[list[str]]:
    if switch.own is None:
        return []
    return [
        *(["ip", "address", "replace", str(address), "dev", BRIDGE] for address in switch.own.address),
        *(["ip", "route", "replace", "default", "via", str(gateway)] for gateway in switch.own.gateway),
    ]


def _policed(switch: Switch) -> Mapping[int, SwitchPort]:
    """The ports that are policed, by their numbers."""
    return {switch.numbers[name]: port for name, port in switch.settings().items() if port.police is not None}


def _meters(switch: Switch) -> Iterator[str]:
    """Policing on any datapath; the kernel's own (ingress_policing_rate) comes after the packet sockets of user space."""
    for number, port in _policed(switch).items():
        band = f"type=drop,rate={(port.police or 0) / 1e3:.0f},burst_size={port.burst * 8 / 1e3:.0f}"
        yield f"meter={number},kbps,burst,stats,bands={band}"


def _flows(switch: Switch) -> list[str]:
    """With numbers for the names of ports, which `ovs-ofctl` knows from a running switch only."""

    def number(match: re.Match[str]) -> str:
        return f"{match['key']}{switch.numbers.get(match['name'], match['name'])}"

    return [_PORT_IN_FLOW.sub(number, flow) for flow in switch.flows]
