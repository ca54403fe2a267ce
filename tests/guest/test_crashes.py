# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that are killed: `down` then removes all of the lab."""

from __future__ import annotations

import pytest

from tests.guest import small_lab
from tests.guest.left import nothing_left
from tests.guest.machine import Guest
from tests.guest.reaching import reaches

pytestmark = [pytest.mark.lab, pytest.mark.long]

#: Kills a command as soon as a condition holds; its status is 0 when the command was still there to be killed.
_KILLED = """\
./netboxit.py {command} & netboxit=$!
until {condition}; do kill -0 $netboxit || exit 3; sleep 0.02; done
kill -9 $netboxit
"""
#: What is there when `up` has come so far: the first namespaces, the first wire, the first container.
_UP = ("test -e /run/netns/nbx-small-a", "test -d /dev/shm/netboxit/small", "test -d /sys/fs/cgroup/nbx-small-a")


@pytest.fixture(scope="module")
def guest(fresh_guest: Guest) -> Guest:
    small_lab.write(fresh_guest)
    small_lab.write(fresh_guest, small_lab.LARGER, "/root/larger.yaml")
    return fresh_guest


@pytest.mark.parametrize("condition", _UP)
def test_up_is_killed(guest: Guest, condition: str) -> None:
    guest.run(_KILLED.format(command=f"up {small_lab.FILE}", condition=condition)).checked()
    guest.run("./netboxit.py down small").checked()
    nothing_left(guest)


def test_apply_is_killed(guest: Guest) -> None:
    guest.run(f"./netboxit.py up {small_lab.FILE}").checked()
    guest.run(_KILLED.format(command="apply /root/larger.yaml", condition="test -e /run/netns/nbx-small-c")).checked()
    guest.run("./netboxit.py apply /root/larger.yaml").checked()
    reaches(guest, "a", "10.0.0.3")


def test_down_is_killed(guest: Guest) -> None:
    guest.run(_KILLED.format(command="down small", condition="! test -d /sys/fs/cgroup/nbx-small-a")).checked()
    guest.run("./netboxit.py down small").checked()
    nothing_left(guest)
