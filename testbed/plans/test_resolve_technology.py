# SPDX-License-Identifier: GPL-2.0-or-later
"""What a technology that nobody knows of brings into a plan."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from netboxes.technology import GROUP
from testbed.plans.test_resolve import plan_of
from tests.installed_packages import InstalledPackages

PARAMETERS = '''\
from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from contracts.quantities import LENGTH, Quantity
from netboxes.technology import StationParameters, Technology


class PigeonStation(StationParameters):
    loft: Literal["home", "away"]


class Pigeons(Technology):
    """RFC 1149 has no MTU; a small one shows that it is carried through."""

    MTU: ClassVar[int] = 256

    stations: dict[str, PigeonStation]
    distance: Annotated[float, Quantity(LENGTH, 1.0, 1e6)]

    def classes_used(self) -> dict[tuple[str | int, ...], str]:
        return {("distance",): "urgent"}
'''
PIGEONS = """\
name: pigeons
centre: b
hosts:
  a: {address: [10.0.0.1/24, fd00::1/64]}
  b: {address: [10.0.0.2/24, fd00::2/64]}
netboxes:
  sky:
    technology: pigeons
    distance: 12 km
    stations: {west: {loft: home}, east: {loft: away}}
    classes:
      urgent: {protocol: udp, ports: [5060, 5004-5010], source: 10.0.0.0/24}
wires:
  - [a, sky.west]
  - [sky.east, b]
"""


@pytest.fixture
def pigeons(tmp_path: Path, installed_packages: InstalledPackages) -> Path:
    installed_packages.install("carrier-pigeons", GROUP, "pigeons", {"parameters.py": PARAMETERS})
    file = tmp_path / "pigeons.yaml"
    file.write_text(PIGEONS)
    return file


def test_a_technology_needs_no_entry_in_any_list(pigeons: Path) -> None:
    sky = plan_of(pigeons).node("sky")
    assert sky.command == (str(CHECKOUT / "build" / "bin" / "netbox-pigeons"), "/run/netboxit/netbox.json")
    configuration = json.loads(sky.files["netbox.json"])
    assert configuration["parameters"] == {"distance": 12000.0, "stations": {"west": {"loft": "home"}, "east": {"loft": "away"}}}
    match = {"protocol": "udp", "ports": [[5060, 5060], [5004, 5010]], "source": "10.0.0.0/24"}
    assert configuration["classes"] == [{"name": "urgent", "match": match}]


def test_the_smallest_mtu_of_a_segment_holds_on_all_its_wires(pigeons: Path) -> None:
    plan = plan_of(pigeons)
    assert {wire.mtu for wire in plan.wires} == {256}
    assert any("the MTU at a.eth0 is 256 bytes" in note for note in plan.notes)


def test_hosts_keep_both_their_addresses(pigeons: Path) -> None:
    assert plan_of(pigeons).node("a").interfaces[0].addresses == ("10.0.0.1/24", "fd00::1/64")
