# SPDX-License-Identifier: GPL-2.0-or-later
"""Networks: what wires and ports need of the kernel."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

from pyroute2 import IPRoute  # type: ignore[import-untyped]
from pyroute2.netlink.exceptions import NetlinkError  # type: ignore[import-untyped]

from contracts.errors import NetBoxITError
from contracts.installation import SETUP
from system import foreign_text, forked, kernel, wires
from testbed.nodes import switches
from testbed.probes.finding import Finding, there

_AF_XDP = 44  # linux/socket.h; Python 3.11 does not name it
_ETH_P_ALL = 3


def probe() -> Iterator[Finding]:
    yield wires_and_ports()
    yield xdp()
    yield bpf_jit()
    yield open_vswitch()


def wires_and_ports() -> Finding:
    """Has a child make a veth pair in a namespace of its own, turn its offloads off and open a packet socket on it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, json.dumps(_try_wire()).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answers:
        try:
            status = forked.status(child, "make a wire")
            told = answers.read()
            problem = json.loads(told) if told else f"the trial ended with {status}"
        except forked.ChildHangs as hangs:
            problem = str(hangs)
    name, lost = "namespaces, veth, packet sockets", "wires between nodes, ports of netboxes and routers"
    remedy = "run as root, on a kernel with NET_NS, VETH and PACKET"
    return Finding(name, there(problem is None), problem or "made, offloads off, opened", lost, remedy, needed=True)


def _try_wire() -> str | None:
    try:
        kernel.unshare_network()
        with IPRoute() as netlink:
            netlink.link("add", kind="veth", ifname="left", peer={"ifname": "right"})
        wires.turn_offloads_off("left")
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL)) as port:
            port.bind(("left", 0))
    except (OSError, NetlinkError, NetBoxITError) as error:
        return str(error)
    return None


def xdp() -> Finding:
    lost, remedy = "the fastest kind of port, once a netbox can use it", "a kernel with XDP_SOCKETS and BPF_SYSCALL"
    try:
        socket.socket(_AF_XDP, socket.SOCK_RAW, 0).close()
    except OSError as error:
        if isinstance(error, PermissionError) and os.geteuid() != 0:
            return Finding("AF_XDP", "partly", f"only root can try it ({error.strerror})", lost, "call doctor as root")
        return Finding("AF_XDP", "no", error.strerror or str(error), lost, remedy)
    mounted = any(line.split()[2] == "bpf" for line in foreign_text.lines(Path("/proc/self/mounts")))
    if not mounted:
        remedy = "mount -t bpf bpf /sys/fs/bpf"
    return Finding(
        "AF_XDP", "yes" if mounted else "partly", f"sockets open, bpffs {'' if mounted else 'not '}mounted", lost, remedy
    )


def bpf_jit() -> Finding:
    file = Path("/proc/sys/net/core/bpf_jit_enable")
    on = file.exists() and file.read_text().strip() != "0"
    return Finding(
        "BPF JIT", there(on), "on" if on else "off", "speed of AF_XDP and of capture filters", "sysctl net.core.bpf_jit_enable=1"
    )


def open_vswitch() -> Finding:
    in_kernel = switches.kernel_datapath()
    program = shutil.which("ovs-vswitchd") or (Path("/usr/sbin/ovs-vswitchd").exists() and "/usr/sbin/ovs-vswitchd")
    lost, remedy = "switches in topologies", SETUP
    if not program:
        return Finding("Open vSwitch", "no", "not installed", lost, remedy)
    found = (
        "kernel datapath" if in_kernel else "datapath in user space (AF_PACKET or AF_XDP): this kernel has no module openvswitch"
    )
    return Finding(
        "Open vSwitch",
        "yes" if in_kernel else "partly",
        found,
        "speed of switches",
        "a kernel with OPENVSWITCH",
    )
