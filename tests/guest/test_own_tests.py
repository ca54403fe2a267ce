# SPDX-License-Identifier: GPL-2.0-or-later
"""NetBoxIT's own tests of what it does with the system, in a guest: other branches than on a machine with cgroup v1."""

from __future__ import annotations

import pytest

from tests.guest.machine import Guest

pytestmark = [pytest.mark.lab, pytest.mark.long]

#: A guest takes minutes for what takes a machine seconds. So these are what depends on what a machine grants: control groups,
#: AppArmor, user namespaces, limits, devices. Labs with equipment, sealed wires and files are in the other files of this folder.
_OF_SYSTEM = (
    *("apparmor", "containers", "cores", "holding", "limits", "namespaces", "node_disks"),
    *("realtime_group", "realtime_support", "rings", "sandbox", "user_privileges"),
)


@pytest.fixture(scope="module")
def guest(fresh_guest: Guest) -> Guest:
    # As Docker leaves it: new namespaces have it from there.
    fresh_guest.run("sysctl -qw net.ipv4.ip_forward=1").checked()
    return fresh_guest


@pytest.mark.parametrize(
    "tests",
    [
        " ".join(f"system/test_{name}.py" for name in _OF_SYSTEM),
        "testbed/labs/test_confinement.py testbed/labs/test_limits.py",
    ],
    ids=["own_system", "own_labs"],
)
def test_they_pass_or_say_why_they_are_skipped(guest: Guest, tests: str) -> None:
    guest.run(f".venv/bin/pytest -q -m 'not long' --timeout 900 -p no:cacheprovider {tests}", within_s=1700).checked()
