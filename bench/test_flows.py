# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows between hosts of a real lab: what arrives is counted, and so is what is lost."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bench.flows import Flows, Pair
from system.realtime_support import realtime_support
from system.wires import Switch
from testbed.labs.lab import Lab
from testbed.plans.planning import plan_file
from tests.waiting import until

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]


def test_datagrams_that_a_cut_wire_swallows_are_lost_and_those_of_others_are_not(tmp_path: Path) -> None:
    hosts = {name: {"address": f"10.0.{number // 2}.{number % 2 + 1}/24"} for number, name in enumerate("abcd")}
    (file := tmp_path / "flows.yaml").write_text(
        json.dumps({"name": f"flows{os.getpid()}", "hosts": hosts, "wires": [["a", "b"], ["c", "d"]]})  # JSON is YAML
    )
    with Lab.up_and_ready(plan_file(file, realtime=realtime_support())) as lab:
        with Flows(lab, [Pair("a", "b", "10.0.0.2"), Pair("c", "d", "10.0.1.2")]) as flows:
            until(lambda: flows.sent > 10)
            cut = Switch(lab.node("a"), "eth0")
            cut.set("down")
            cut.close()
            already = flows.sent
            until(lambda: flows.sent > already + 10)
        lost = flows.lost()
    assert lost[0] >= 10
    assert lost[1] == 0
