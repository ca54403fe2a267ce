# SPDX-License-Identifier: GPL-2.0-or-later
"""Networks: what wires and ports need of the kernel."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

from pyroute2 import IPRoute  # type: ignore[import-untyped]
from pyroute2.netlink.exceptions import NetlinkError  # type: ignore[import-untyped]

from contracts.errors import NetBoxITError
from contracts.installation import SETUP
from system import foreign_text, forked, kernel, wires
from testbed.documents.host import Ability
from testbed.nodes import switches
from testbed.probes.finding import there

_AF_XDP = 44  # linux/socket.h; Python 3.11 does not name it
_ETH_P_ALL = 3


def probe() -> tuple[Ability, ...]:
    return wires_and_ports(), xdp(), bpf_jit(), open_vswitch()


def wires_and_ports() -> Ability:
    """Has a child make a veth pair in a namespace of its own, turn its offloads off and open a packet socket on it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, _try_wire().encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answers:
        try:
            status = forked.status(child, "make a wire")
            problem = f"the trial ended with {status}" if status else answers.read()
        except forked.ChildHangs as hangs:
            problem = str(hangs)
    return Ability(
        "namespaces, veth, packet sockets",
        there(not problem),
        problem or "made, offloads off, opened",
        "wires between nodes, ports of netboxes and routers",
        "run as root, on a kernel with NET_NS, VETH and PACKET",
        needed=True,
    )


def _try_wire() -> str:
    """What is wrong; nothing when all of it works."""
    try:
        kernel.unshare(kernel.CLONE_NEWNET)
        with IPRoute() as netlink:
            netlink.link("add", kind="veth", ifname="left", peer={"ifname": "right"})
        wires.turn_offloads_off("left")
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL)) as port:
            port.bind(("left", 0))
    except (OSError, NetlinkError, NetBoxITError) as error:
        return str(error)
    return ""


def xdp() -> Ability:
    lost, kernel_with = "the fastest kind of port, once a netbox can use it", "a kernel with XDP_SOCKETS and BPF_SYSCALL"
    try:
        socket.socket(_AF_XDP, socket.SOCK_RAW, 0).close()
    except OSError as error:
        if isinstance(error, PermissionError) and os.geteuid() != 0:
            return Ability("AF_XDP", "partly", f"only root can try it ({error.strerror})", lost, "call doctor as root")
        return Ability("AF_XDP", "no", error.strerror or str(error), lost, kernel_with)
    if any(line.split()[2] == "bpf" for line in foreign_text.lines(Path("/proc/self/mounts"))):
        return Ability("AF_XDP", "yes", "sockets open, bpffs mounted", lost, kernel_with)
    return Ability("AF_XDP", "partly", "sockets open, bpffs not mounted", lost, "mount -t bpf bpf /sys/fs/bpf")


def bpf_jit() -> Ability:
    file = Path("/proc/sys/net/core/bpf_jit_enable")
    on = file.exists() and file.read_text().strip() != "0"
    return Ability(
        "BPF JIT", there(on), "on" if on else "off", "speed of AF_XDP and of capture filters", "sysctl net.core.bpf_jit_enable=1"
    )


def open_vswitch() -> Ability:
    if not shutil.which("ovs-vswitchd") and not Path("/usr/sbin/ovs-vswitchd").exists():
        return Ability("Open vSwitch", "no", "not installed", "switches in topologies", SETUP)
    in_kernel = switches.kernel_datapath()
    return Ability(
        "Open vSwitch",
        there(in_kernel, "partly"),
        "kernel datapath" if in_kernel else "datapath in user space (AF_PACKET or AF_XDP): this kernel has no module openvswitch",
        "speed of switches",
        "a kernel with OPENVSWITCH",
    )
