# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs do not grow out of hand: fifty hosts and wires are one lab like any other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from system.realtime_support import realtime_support
from testbed.labs.lab import Lab
from testbed.plans.planning import plan_file
from tests.large_network import star

pytestmark = pytest.mark.lab


@pytest.mark.usefixtures("nothing_left")
def test_fifty_hosts_come_up_reach_each_other_and_leave_nothing(tmp_path: Path) -> None:
    (file := tmp_path / "star.yaml").write_text(json.dumps(star(50)))
    with Lab.up_and_ready(plan_file(file, realtime=realtime_support())) as lab:
        assert all(lab.alive().values())
        for host in ("host1", "host25", "host49"):
            assert lab.run("host0", ["ping", "-c", "1", "-W", "5", host]).returncode == 0
