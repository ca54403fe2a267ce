# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests compare a host by sees what labs could change of it, and nothing that changes by itself."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from tests.host_state import NETWORK, HostState
from tests.namespaces import Namespace

pytestmark = pytest.mark.lab

#: A change of each part, and what undoes it.
CHANGES = {
    "links": ("ip link set left mtu 1400", "ip link set left mtu 1500"),
    "offloads": ("ethtool -K left tso off", "ethtool -K left tso on"),
    "alternative name": (
        "ip link property add dev left altname netboxit:a:b",
        "ip link property del dev left altname netboxit:a:b",
    ),
    "addresses": ("ip address add 10.1.2.3/32 dev left", "ip address del 10.1.2.3/32 dev left"),
    "routes": ("ip route add 10.9.0.0/16 dev left table 77", "ip route del 10.9.0.0/16 dev left table 77"),
    "rules": ("ip rule add from 10.9.0.1 lookup 77", "ip rule del from 10.9.0.1 lookup 77"),
    "neighbours": (
        "ip neighbour add 10.0.0.9 lladdr 02:00:00:00:00:09 dev left nud permanent",
        "ip neighbour del 10.0.0.9 dev left",
    ),
    "packet filters": ("nft add table inet somebody", "nft delete table inet somebody"),
    "sysctls": ("sysctl -qw net.ipv4.ip_forward=1", "sysctl -qw net.ipv4.ip_forward=0"),
}


@pytest.fixture(scope="module")
def host() -> Iterator[Namespace]:
    with Namespace("host") as made, made.inside():
        for command in (
            "sysctl -qw net.ipv4.ip_forward=0",  # a new namespace has what the host has: on one with Docker, 1
            "ip link add left type veth peer right",
            "ip address add 10.0.0.1/24 dev left",
            "ip link set left up",
            "ip link set right up",
        ):
            subprocess.run(command.split(), check=True)
        yield made


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen_until_it_is_undone(host: Namespace, change: str) -> None:
    do, undo = CHANGES[change]
    with host.inside():
        before = HostState.now(NETWORK)
        subprocess.run(do.split(), check=True)
        assert before.changes()
        subprocess.run(undo.split(), check=True)
        assert before.changes() == ""
