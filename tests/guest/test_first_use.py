# SPDX-License-Identifier: GPL-2.0-or-later
"""What everybody does first on Debian 12 as it is installed: `doctor`, a lab up, a ping through it, the lab down."""

from __future__ import annotations

import pytest

from tests.guest.machine import Guest

pytestmark = [pytest.mark.lab, pytest.mark.long]


@pytest.fixture(scope="module")
def guest(fresh_guest: Guest) -> Guest:
    return fresh_guest


def test_the_guest_is_as_users_have_it(guest: Guest) -> None:
    assert guest.run("cat /sys/module/apparmor/parameters/enabled").checked() == "Y\n"
    assert set(guest.run("stat --file-system --format %T /sys/fs/cgroup").checked().split()) == {"cgroup2fs"}
    assert guest.run("uname -r").checked().startswith("6.1.")
    assert guest.run("ls /sys/class/net").checked() == "lo\n", "it must have no way out"


def test_doctor_says_that_labs_can_run(guest: Guest) -> None:
    assert "labs can run here" in guest.run("./netboxit.py doctor").checked()


def test_the_emergency_network_comes_up(guest: Guest) -> None:
    guest.run("./netboxit.py up topologies/emergency.yaml").checked()


def test_a_ping_crosses_all_of_it(guest: Guest) -> None:
    guest.run("./netboxit.py exec fr1 -- ping -c 3 -W 10 eoc").checked()


def test_it_goes_down_and_leaves_nothing(guest: Guest) -> None:
    guest.run("./netboxit.py down emergency").checked()
    left = "ls -d /run/netboxit /dev/shm/netboxit /sys/fs/cgroup/nbx-* /run/netns/nbx-* /var/lib/netboxit/labs/* 2>/dev/null"
    assert guest.run(left).output == ""
