# SPDX-License-Identifier: GPL-2.0-or-later
"""What looks at files only needs no rights on the host: it works for a user who has none of root's capabilities there."""

from __future__ import annotations

import subprocess
import sys

import pytest

from testbed.files import CHECKOUT

_AS_A_USER = ("unshare", "--user", "--map-user=1000", "--map-group=1000")


@pytest.mark.parametrize("verb", ["check", "plan"])
def test_a_topology_can_be_looked_at_without_root(verb: str) -> None:
    argv = (*_AS_A_USER, sys.executable, str(CHECKOUT / "netboxit.py"), verb, str(CHECKOUT / "topologies/emergency.yaml"))
    result = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "router" in result.stdout
