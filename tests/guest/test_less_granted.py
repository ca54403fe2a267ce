# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs where a machine grants less than Debian 12 as it is installed: they come up and say so, or say why they cannot."""

from __future__ import annotations

import json

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


@pytest.mark.parametrize(
    ("refused", "granted", "limited", "reasons"),
    [
        (
            "sysctl -w user.max_user_namespaces=0; mv /dev/loop-control /dev/no-loops",
            "sysctl -w user.max_user_namespaces=10000; mv /dev/no-loops /dev/loop-control",
            "",
            ("refuses user namespaces", "limit of disk is not enforced: /dev/loop-control"),
        ),
        ("chmod 0700 /var/lib/netboxit", "chmod 0755 /var/lib/netboxit", "", ("only its owner may enter",)),
        ("mount --bind /dev/null /proc/kcore", "umount /proc/kcore", "", ("part of /proc or /sys is hidden",)),
        ("true", "true", "setpriv --bounding-set -sys_resource", ("lets nobody raise",)),
    ],
    ids=["no user namespaces and no loop devices", "a closed folder", "a hidden file in /proc", "no raising of limits"],
)
def test_labs_come_up_where_less_is_granted_and_status_says_so(
    guest: Guest, refused: str, granted: str, limited: str, reasons: tuple[str, ...]
) -> None:
    guest.run(f"mkdir -p /var/lib/netboxit; {refused}").checked()
    guest.run(f"{limited} ./netboxit.py up {small_lab.FILE}").checked()
    reaches(guest, "a", "b")
    (told,) = json.loads(guest.run(f"{limited} ./netboxit.py status small --json").checked())["labs"]
    for reason in (*reasons, "root is the host's own"):
        assert any(reason in note for note in told["notes"]), (reason, told["notes"])
    guest.run("./netboxit.py down small").checked()
    nothing_left(guest)
    guest.run(granted).checked()


def test_doctor_says_where_nodes_cannot_reach_their_memory_wires(guest: Guest) -> None:
    guest.run("chmod 0700 /dev/shm").checked()
    found = json.loads(guest.run("./netboxit.py doctor --json").checked(1))
    guest.run("chmod 1777 /dev/shm").checked()
    (told,) = (one for one in found["findings"] if one["name"] == "a lab")
    assert not found["able"] and told["there"] == "no" and "/run/wires" in told["found"]
    nothing_left(guest)
