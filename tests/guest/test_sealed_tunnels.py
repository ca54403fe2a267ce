# SPDX-License-Identifier: GPL-2.0-or-later
"""Wires between machines in WireGuard, on a kernel that has it: whose frames they take, and what the role `sealed` makes."""

from __future__ import annotations

import pytest

from contracts.names import sealed_address
from tests.guest.machine import Guest

pytestmark = [pytest.mark.lab, pytest.mark.long]

_INVENTORY = """\
all:
  hosts:
    alpha: {ansible_connection: local, netboxit_tunnels: wireguard, netboxit_address: 192.0.2.1}
"""
_PLAY = ".venv/bin/ansible-playbook -i /tmp/hosts.yml --tags sealed ansible"


@pytest.fixture(scope="module")
def guest(fresh_guest: Guest) -> Guest:
    return fresh_guest


def test_a_third_sender_s_frames_are_taken_without_it_and_not_with_it(guest: Guest) -> None:
    told = guest.run(".venv/bin/pytest -q -rs system/test_sealed_tunnel.py", within_s=600).checked()
    assert "3 passed" in told and "skipped" not in told, told


def test_a_machine_makes_its_key_itself_and_keeps_it(guest: Guest) -> None:
    guest.run("ip link add uplink mtu 1700 type veth peer name far; ip link set far up; ip link set uplink up").checked()
    guest.run("ip address add 192.0.2.1/24 dev uplink; cat > /tmp/hosts.yml", stdin=_INVENTORY).checked()
    guest.run(f"{_PLAY}/hosts.yml", within_s=600).checked()
    assert guest.run("stat --format '%a %U' /etc/wireguard/netboxit.key").checked() == "600 root\n"
    assert guest.run("systemctl is-enabled wg-quick@netboxit").checked() == "enabled\n"
    shown = guest.run("ip -d link show netboxit; ip -6 address show netboxit; ethtool -k netboxit").checked()
    # 60 bytes are WireGuard's over IPv4.
    assert "wireguard" in shown and "mtu 1640" in shown and "generic-receive-offload: off" in shown
    assert f"{sealed_address('alpha')}/64" in shown
    # The program shows the public half of the key that is in the file, which so is the interface's.
    assert guest.run("wg show netboxit public-key").checked() == guest.run("wg pubkey < /etc/wireguard/netboxit.key").checked()


def test_a_second_time_nothing_is_changed(guest: Guest) -> None:
    assert "changed=0" in guest.run(f"{_PLAY}/hosts.yml", within_s=600).checked()


def test_leaving_takes_all_of_it_away(guest: Guest) -> None:
    guest.run(f"{_PLAY}/leave.yml", within_s=600).checked()
    assert guest.run("ls -A /etc/wireguard; ip -o link show netboxit; systemctl is-enabled wg-quick@netboxit").output in (
        'Device "netboxit" does not exist.\ndisabled\n'
    )
