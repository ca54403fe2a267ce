# SPDX-License-Identifier: GPL-2.0-or-later
"""Named network namespaces beside those of other programs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from testbed.files import CHECKOUT

pytestmark = pytest.mark.lab


def test_namespaces_go_away_though_ip_netns_made_its_first_one_meanwhile() -> None:
    script = """
import subprocess
from testbed.system import namespaces
namespaces.create(["ours"])
subprocess.run(["ip", "netns", "add", "theirs"], check=True)
namespaces.create(["second"])
namespaces.delete("ours")
namespaces.delete("second")
print(*sorted(entry.name for entry in namespaces.FOLDER.iterdir()))
subprocess.run(["ip", "netns", "exec", "theirs", "true"], check=True)
"""
    # A /run of its own, as after a reboot, seen by nobody else.
    inside = f"mount -t tmpfs tmpfs /run && exec {sys.executable} -c '{script}'"
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", inside], cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=30
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "theirs\n", "")
