# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from contracts.errors import BadTopology
from contracts.installation import CHECKOUT
from contracts.plan import RealtimeSupport
from testbed.plans.planning import plan_file

GRANTED = RealtimeSupport(True, 950_000, "SCHED_FIFO works")
EMERGENCY = CHECKOUT / "topologies" / "emergency.yaml"


def test_the_emergency_networks_router_is_one_that_click_takes() -> None:
    assert plan_file(EMERGENCY, realtime=GRANTED, cores=(0, 1)).node("meoc").kind == "router"


def test_a_mistake_in_a_routers_configuration_is_told_with_its_own_file_and_line(tmp_path: Path) -> None:
    broken = tmp_path / "meoc.click"
    broken.write_text("// a router\nIdle -> Discrad;\n")
    file = tmp_path / "lab.yaml"
    file.write_text(EMERGENCY.read_text().replace("click/meoc.click", "meoc.click"))
    with pytest.raises(BadTopology) as told:
        plan_file(file, realtime=GRANTED, cores=(0, 1))
    (error,) = told.value.errors
    assert (error.path, error.line) == (str(broken), 2)
    assert "Discrad" in error.cause
