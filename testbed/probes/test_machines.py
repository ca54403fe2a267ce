# SPDX-License-Identifier: GPL-2.0-or-later
"""What is said of machines; tests/test_doctor.py asks some."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from contracts.machines import ClockReading
from contracts.names import sealed_address
from contracts.plan import RealtimeSupport
from system.interface_facts import InterfaceFacts
from testbed.plans.facts import Facts
from testbed.probes.machines import clock, examine, kept, tunnels, underlay
from testbed.several_hosts.inventory import Listed
from testbed.several_hosts.machine import Machine

CARRIER = InterfaceFacts("eth2", 1550, True, ("192.0.2.1/24", "2001:db8::1/64"))
FACTS = Facts((0, 1), RealtimeSupport(True, None, "granted"), interfaces=(InterfaceFacts("lo", 65536, True), CARRIER))


def with_carrier(**changes: Any) -> Facts:
    return replace(FACTS, interfaces=(replace(CARRIER, **changes),))


def test_an_underlay_has_room_for_what_a_tunnel_adds() -> None:
    assert underlay(FACTS, "192.0.2.1").there == "yes"
    assert underlay(FACTS, "192.0.2.1").found == "eth2, 192.0.2.1, MTU 1550: wires of up to 1500"
    narrow = underlay(FACTS, "2001:db8::1")
    assert (narrow.there, narrow.remedy[:26]) == ("partly", "ip link set eth2 mtu 1570,")
    assert "`mtu: 1450`" in underlay(with_carrier(mtu=1500), "192.0.2.1").remedy


def test_an_underlay_that_is_none_is_told_with_the_remedy() -> None:
    assert underlay(FACTS, "192.0.2.9").there == "no"
    assert "netboxit_address" in underlay(FACTS, "192.0.2.9").remedy
    assert "netboxit_address" in underlay(FACTS, "").remedy
    assert underlay(with_carrier(up=False), "192.0.2.1").remedy == "ip link set eth2 up"
    assert underlay(with_carrier(merging=("rx-gro",)), "192.0.2.1").remedy.startswith("ethtool -K eth2 gro off")


def test_open_tunnels_are_told_and_sealed_ones_by_what_they_lack() -> None:
    machine = Machine("alpha", "/opt/netboxit")
    open_one = tunnels(FACTS, Listed(machine, "192.0.2.1", 4789), "192.0.2.1")
    assert (open_one.there, "whoever can send to UDP port 4789" in open_one.found) == ("partly", True)
    sealed = Listed(machine, "192.0.2.1", 4789, sealed=True)
    missing = tunnels(FACTS, sealed, "192.0.2.1")
    assert (missing.there, missing.needed, missing.found[:33]) == ("no", True, "there is no WireGuard interface n")
    wireguard = InterfaceFacts("netboxit", 1570, True, (f"{sealed_address('alpha')}/64",))
    carrier = replace(CARRIER, mtu=1630)
    assert tunnels(replace(FACTS, interfaces=(carrier, wireguard)), sealed, "192.0.2.1").there == "yes"


def test_a_clock_is_told_by_its_offset_and_how_well_that_is_known() -> None:
    read: ClockReading = {
        "offset_ns": -12_345_678,
        "error_ns": 40_000,
        "round_trip_ns": 80_000,
        "samples": 100,
        "at_ns": 10**18,
    }
    assert (clock(read).there, clock(read).found) == ("yes", "-12.346 ms from this machine's, known to 40 us")
    assert clock({**read, "error_ns": 100_001}).there == "partly"
    assert (kept("chrony, 12 us").found, kept(None).there) == ("chrony, 12 us", "partly")


def test_an_inventory_without_machines_for_labs_is_told(tmp_path: Path) -> None:
    """Nobody is asked: the machine that it names says nothing of NetBoxIT."""
    file = tmp_path / "hosts.yml"
    file.write_text(json.dumps({"all": {"hosts": {"printer": {"ansible_host": "192.0.2.7"}}}}))
    found = examine(file)
    assert list(found) == ["here", "printer"]
    (finding,) = found["printer"]["findings"]
    assert (finding.there, found["printer"]["able"]) == ("no", True)
    assert "netboxit_folder" in finding.remedy
