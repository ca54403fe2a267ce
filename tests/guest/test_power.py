# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine whose power is cut: `down` then removes all of the lab, and it comes up again."""

from __future__ import annotations

import pytest

from tests.guest import small_lab
from tests.guest.left import nothing_left
from tests.guest.machine import Guest
from tests.guest.reaching import reaches

pytestmark = [pytest.mark.lab, pytest.mark.long]


@pytest.fixture(scope="module")
def guest(fresh_guest: Guest) -> Guest:
    small_lab.write(fresh_guest)
    return fresh_guest


def test_the_power_is_cut_while_a_lab_is_up(guest: Guest) -> None:
    guest.run(f"./netboxit.py up {small_lab.FILE}").checked()
    guest.cut_power()
    guest.boot()
    guest.run("./netboxit.py down small").checked()
    nothing_left(guest)


def test_the_power_is_cut_while_a_lab_comes_up(guest: Guest) -> None:
    """What the kernel had not written to the disk is lost: maybe all of the lab, or the end of its records."""
    guest.start(f"./netboxit.py up {small_lab.FILE}")
    guest.run("until test -d /sys/fs/cgroup/nbx-small-a; do sleep 0.02; done").checked()
    guest.cut_power()
    guest.boot()
    guest.run("./netboxit.py down --all").checked()
    nothing_left(guest)
    guest.run(f"./netboxit.py up {small_lab.FILE}").checked()
    reaches(guest, "a", "b")
    guest.run("./netboxit.py down small").checked()
    nothing_left(guest)
