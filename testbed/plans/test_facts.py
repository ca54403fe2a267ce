# SPDX-License-Identifier: GPL-2.0-or-later
"""What is read of a machine."""

from __future__ import annotations

import json
from dataclasses import asdict
from ipaddress import ip_interface
from pathlib import Path

from contracts.plan import RealtimeSupport
from contracts.shapes import check, shaped
from system import interface_facts
from testbed.plans.facts import Facts
from testbed.plans.switch_plan import Datapaths


def test_facts_survive_being_sent_as_json() -> None:
    realtime = RealtimeSupport(True, 950_000, "SCHED_FIFO works", keep_awake=True)
    facts = Facts((0, 1), realtime, Datapaths(False, True), "6.1", interface_facts.read(), {1: "other"})
    sent = json.loads(json.dumps(asdict(facts)))
    check(sent, Facts)
    assert shaped(sent, Facts) == facts


def test_the_interfaces_are_those_that_the_kernel_shows() -> None:
    found = {one.name: one for one in interface_facts.read()}
    assert set(found) == {folder.name for folder in Path("/sys/class/net").iterdir()}
    for name, facts in found.items():
        assert facts.mtu == int(Path(f"/sys/class/net/{name}/mtu").read_text())
        for address in facts.addresses:
            own = interface_facts.with_address(found.values(), str(ip_interface(address).ip))
            assert own is not None and address in own.addresses
    assert interface_facts.with_address(found.values(), "198.51.100.77") is None
