# SPDX-License-Identifier: GPL-2.0-or-later
"""A node that is ended and started again while its lab is up."""

from __future__ import annotations

import pytest

from testbed.labs import restart
from testbed.labs.lab import Lab
from tests.small_labs import PlanPair

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]


def test_a_node_that_is_stopped_and_started_is_where_it_was_and_its_neighbour_has_not_noticed(plan_pair: PlanPair) -> None:
    with Lab.up(plan_pair()) as lab:
        left, before = lab.node("left"), lab.run("left", ["ip", "-o", "address"]).stdout
        (lab.node_folder("left") / "kept").write_text("of before")
        restart.stop(lab.folder, left)
        assert lab.alive() == {"left": False, "right": True}
        restart.stop(lab.folder, left)
        restart.start(lab.folder, left)
        assert lab.alive() == {"left": True, "right": True}
        assert lab.run("left", ["cat", "/run/netboxit/kept"]).stdout == "of before"
        assert lab.run("left", ["ip", "-o", "address"]).stdout == before
        assert lab.run("left", ["ping", "-c", "1", "-W", "2", "right"]).returncode == 0
