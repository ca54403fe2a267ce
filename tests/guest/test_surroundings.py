# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs beside other labs and other software of the machine, and for people who are not root."""

from __future__ import annotations

import json

import pytest

from contracts.installation import CHECKOUT
from tests.guest import small_lab
from tests.guest.left import nothing_left
from tests.guest.machine import Guest
from tests.guest.reaching import reaches, until_answered

pytestmark = [pytest.mark.lab, pytest.mark.long]


@pytest.fixture(scope="module")
def guest(fresh_guest: Guest) -> Guest:
    small_lab.write(fresh_guest)
    return fresh_guest


def test_two_labs_are_up_side_by_side(guest: Guest) -> None:
    for name in ("one", "two"):
        guest.run(f"./netboxit.py up {small_lab.FILE} --name {name}").checked()
    for name in ("one", "two"):
        reaches(guest, "a", "b", name)
    guest.run("./netboxit.py down one").checked()
    reaches(guest, "a", "b", "two")
    guest.run("./netboxit.py down two").checked()
    nothing_left(guest)


def test_networkmanager_leaves_labs_alone_and_they_leave_it_alone(guest: Guest) -> None:
    guest.run("systemctl start NetworkManager").checked()
    # Loopback's state changes by itself while NetworkManager starts.
    managed = "nmcli --get-values DEVICE,STATE device | grep -v -e ^lo: -e :unmanaged$; true"
    assert guest.run(managed).checked() == ""
    guest.run(f"./netboxit.py up {small_lab.FILE}").checked()
    guest.run("./netboxit.py attach vm1 a.machine --tap --address 10.9.0.1/24").checked()
    reaches(guest, "a", "b")
    assert guest.run(managed).checked() == "", "it manages an interface of a lab"
    guest.run("./netboxit.py exec a -- ip address show dev machine to 10.9.0.1").checked()
    guest.run("./netboxit.py down small").checked()
    guest.run("systemctl stop NetworkManager").checked()


def test_dockers_packet_filters_stop_no_lab_and_stay_as_they_are(guest: Guest) -> None:
    guest.run("systemctl start docker", within_s=300).checked()
    rules = "nft --stateless list ruleset; ip -oneline link; sysctl net.ipv4.ip_forward net.bridge.bridge-nf-call-iptables"
    before = guest.run(rules).checked()
    assert "DOCKER" in before and "policy drop" in before
    found = json.loads(guest.run("./netboxit.py doctor --json").checked())
    told = {one["name"]: one for one in found["findings"]}
    assert found["able"] and told["packet filters"]["there"] == "partly" and "Docker" in json.dumps(found)
    guest.run(f"./netboxit.py up {small_lab.FILE}").checked()
    reaches(guest, "a", "b")
    guest.run("./netboxit.py down small").checked()
    assert guest.run(rules).checked() == before
    guest.run("systemctl stop docker docker.socket containerd && ip link delete docker0").checked()


def test_an_operator_uses_labs_without_being_root(guest: Guest) -> None:
    guest.run("useradd --create-home --shell /bin/bash alice").checked()
    playbook = ".venv/bin/ansible-playbook -i localhost, ansible/operators.yml -e netboxit_operators=alice"
    guest.run(playbook, within_s=600).checked()
    small_lab.write(guest, small_lab.WITH_SERVER, file="/home/alice/small.yaml")
    small_lab.write(guest, small_lab.TRAFFIC, file="/home/alice/traffic.yaml")
    guest.run("install -d -o alice /home/alice/site && echo served to a >/home/alice/site/page").checked()

    def as_alice(command: str) -> str:
        return guest.run(f"su --login alice --command 'cd {CHECKOUT} && {command}'").checked()

    as_alice("./netboxit.py up ~/small.yaml")
    as_alice(f"./netboxit.py exec a -- {until_answered('b')}")
    as_alice("./netboxit.py status small")
    ask = 'import urllib.request; print(urllib.request.urlopen(\\"http://b/page\\").read())'
    assert "served to a" in as_alice(f'until ./netboxit.py exec a -- python3 -c "{ask}"; do sleep 1; done')
    as_alice("./netboxit.py traffic ~/traffic.yaml --duration 2s --results ~/results || test $? -gt 2")
    assert json.loads(as_alice("cat ~/results/latest/metrics.json"))["flows"]
    as_alice("./netboxit.py down small")
    nothing_left(guest)
