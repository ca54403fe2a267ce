# SPDX-License-Identifier: GPL-2.0-or-later
"""A host of a test's own: network, processes, mounts, control groups, /run and /dev/shm are nobody else's.

So a test can look at all of the host, beside other tests and on a machine that is in use. It is made of namespaces; the kernel
ends everything in it with its first process.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from tests import machine_parts

Result = TypeVar("Result")

#: Its network: something of each kind that a lab must not touch.
_NETWORK = """\
sysctl -qw net.ipv6.conf.default.addr_gen_mode=1 net.ipv6.conf.default.accept_ra=0
ip link set lo up
ip link add nic0 address 02:00:5e:00:00:01 type veth peer name far0 address 02:00:5e:00:00:02
ip link add office type bridge
ip link set far0 master office
ip address add 192.0.2.2/24 dev nic0
ip link set nic0 up
ip link set far0 up
ip link set office up
ip address add 2001:db8::2/64 dev nic0 nodad
ip route add default via 192.0.2.1 dev nic0
ip route add 198.51.100.0/24 via 192.0.2.7 dev nic0 table 77
ip rule add from 192.0.2.2 lookup 77 priority 500
ip neighbour add 192.0.2.1 lladdr 02:00:5e:00:00:fe dev nic0 nud permanent
ip link add nic1 address 02:00:5e:00:00:03 type veth peer name far1 address 02:00:5e:00:00:04
ip link set far1 up
ip link set nic1 mtu 1400 txqueuelen 77 alias spare up
ip address add 198.51.100.2/24 dev nic1
ip address add 2001:db8:1::2/64 dev nic1 nodad
ip route add 203.0.113.0/24 via 198.51.100.9 dev nic1 table 78
ip neighbour add 198.51.100.9 lladdr 02:00:5e:00:00:fd dev nic1 nud permanent
sysctl -qw net.ipv4.conf.nic1.proxy_arp=1
nft add table inet firewall
nft add chain inet firewall forward { type filter hook forward priority 0 ; policy drop ; }
nft add rule inet firewall forward iifname office accept
sysctl -qw net.ipv4.ip_forward=1
sysctl -qw net.ipv4.conf.nic0.rp_filter=1"""


def run_in_own_host(function: Callable[..., Result], *arguments: Any) -> Result:
    """Calls a function in a new host and returns what it returned; what it raised is raised, with its traceback."""

    def become(writing: int) -> NoReturn:
        hierarchies = machine_parts.mounted_hierarchies()
        machine_parts.unshare(machine_parts.NEW_MACHINE)
        machine_parts.go_on_as_first_process(writing)
        machine_parts.make_mounts_private()
        machine_parts.mount_views(hierarchies)
        _set_network_up()
        runner = os.fork()
        if runner:
            os.close(writing)
            machine_parts.be_init(runner)
        machine_parts.answer(writing, function, *arguments)

    budgets = {machine_parts.group_name(): machine_parts.REALTIME_BUDGET_US}
    return machine_parts.answered(budgets, become)  # type: ignore[no-any-return]


def _set_network_up() -> None:
    for command in _NETWORK.splitlines():
        subprocess.run(command.split(), check=True)
    machine_parts.wait_for_carrier()
