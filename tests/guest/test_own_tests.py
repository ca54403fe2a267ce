# SPDX-License-Identifier: GPL-2.0-or-later
"""NetBoxIT's own tests of what it does with the system, in a guest: other branches than on a machine with cgroup v1."""

from __future__ import annotations

import pytest

from tests.guest.machine import Guest

pytestmark = [pytest.mark.lab, pytest.mark.long]

_LEFT_OUT = (
    # test_sealed_tunnels.py has it; test_host_packages.py uses what it is about.
    *("test_sealed_tunnel", "test_package_layers"),
    # Of files, texts and signals every Linux makes the same.
    *("test_file_trees", "test_node_files", "test_foreign_text", "test_claimed_folder", "test_interruption"),
    # It takes minutes in a guest; test_crashes.py kills commands at a few moments.
    "test_whenever_a_command_is_killed",
)


@pytest.fixture(scope="module")
def guest(fresh_guest: Guest) -> Guest:
    # As Docker leaves it: new namespaces have it from there.
    fresh_guest.run("sysctl -qw net.ipv4.ip_forward=1").checked()
    return fresh_guest


@pytest.mark.parametrize(
    "tests",
    [
        f"system -k 'not ({' or '.join(_LEFT_OUT)})'",
        " ".join(f"testbed/labs/test_{name}.py" for name in ("confinement", "limits", "host_files", "host_packages")),
    ],
)
def test_they_pass_or_say_why_they_are_skipped(guest: Guest, tests: str) -> None:
    guest.run(f".venv/bin/pytest -q -m 'not long' --timeout 900 -p no:cacheprovider {tests}", within_s=1700).checked()
