# SPDX-License-Identifier: GPL-2.0-or-later
"""Named network namespaces beside those of other programs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from contracts.installation import CHECKOUT

pytestmark = pytest.mark.lab


def in_own_run(script: str) -> str:
    """What a script prints that runs with a /run of its own, as after a reboot, seen by nobody else."""
    inside = f"mount -t tmpfs -o mode=755 tmpfs /run && exec {sys.executable} -c '{script}'"
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", inside], cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=30
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_namespaces_go_away_though_ip_netns_made_its_first_one_meanwhile() -> None:
    script = """
import subprocess
from system import namespaces
namespaces.create(["ours"])
subprocess.run(["ip", "netns", "add", "theirs"], check=True)
namespaces.create(["second"])
namespaces.delete("ours")
namespaces.delete("second")
print(*sorted(entry.name for entry in namespaces.FOLDER.iterdir()))
subprocess.run(["ip", "netns", "exec", "theirs", "true"], check=True)
"""
    assert in_own_run(script) == "theirs\n"


def test_a_strangers_lock_keeps_nobody_from_making_namespaces() -> None:
    """Everybody can lock the folder, and `ip netns` takes its lock, too."""
    script = """
import subprocess
from system import namespaces
from tests import strangers
namespaces.FOLDER.mkdir()
with strangers.locking(namespaces.FOLDER) as (_, locks):
    namespaces.create(["ours"])
    print(locks)
namespaces.delete("ours")
subprocess.run(["ip", "netns", "add", "theirs"], check=True)
print(*sorted(entry.name for entry in namespaces.FOLDER.iterdir()))
"""
    assert in_own_run(script) == "1\ntheirs\n"
