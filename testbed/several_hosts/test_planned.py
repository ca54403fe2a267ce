# SPDX-License-Identifier: GPL-2.0-or-later
"""Topologies planned over the machines of an inventory, which are not asked here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from contracts.errors import BadTopology
from contracts.names import lab_name
from contracts.plan import RealtimeSupport
from ownership import recorded, state
from system import interface_facts
from system.cores import available_cores
from system.interface_facts import InterfaceFacts
from testbed import plan_part, where
from testbed.back_ends.back_end import LocalPlan
from testbed.plans import facts, fitness
from testbed.plans.facts import Facts
from testbed.plans.fitness import MachinesUnfit
from testbed.plans.switch_plan import Datapaths
from testbed.several_hosts import planned
from testbed.several_hosts.conftest import StandIn
from testbed.several_hosts.machine import Machine
from testbed.several_hosts.parts_file import PartsRecord
from testbed.several_hosts.planned import PlannedOverMachines
from testbed.several_hosts.sites import Connections

REALTIME = RealtimeSupport(True, 900_000, "SCHED_FIFO works")
FACTS = Facts(
    (0, 1, 2),
    REALTIME,
    Datapaths(kernel=False, xdp=False),
    "6.1",
    (InterfaceFacts("eth1", 1550, True, ("192.0.2.2/24",)),),
)
INVENTORY = """\
all:
  hosts:
    alpha: {ansible_connection: local, netboxit_address: 192.0.2.1}
    beta: {ansible_host: 192.0.2.2, netboxit_folder: /srv/netboxit}
    gamma: {ansible_host: 192.0.2.3, netboxit_folder: /srv/netboxit}
"""
TOPOLOGY = """\
name: two
hosts:
  a: {address: 10.0.0.1/24}
  b: {address: 10.0.0.2/24, host: beta}
netboxes:
  one: {technology: link, stations: {left: {}, right: {}}, rate: 1 Mbit/s}
wires:
  - [a, one.left]
  - [one.right, b]
"""


class Asked(Connections):
    """Answers for the machines, and remembers which."""

    def __init__(self) -> None:
        super().__init__()
        self.machines: list[str] = []

    def facts(self, machine: Machine, lab: str) -> Facts:
        assert lab_name(lab) == "two"
        self.machines.append(machine.name)
        return FACTS


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A topology and an inventory; this machine is as the others."""
    monkeypatch.delenv("NETBOXIT_INVENTORY", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    here = replace(FACTS, interfaces=(InterfaceFacts("eth0", 1500, True, ("192.0.2.1/24",)),))
    monkeypatch.setattr(facts, "read", lambda lab: here)
    (topology := tmp_path / "two.yaml").write_text(TOPOLOGY)
    (inventory := tmp_path / "hosts.yml").write_text(INVENTORY)
    return topology, inventory


def test_only_machines_that_the_topology_names_are_asked(files: tuple[Path, Path], state_folder: Path) -> None:
    asked = Asked()
    planned_lab = planned.plan_over(*files, asked)
    assert isinstance(planned_lab, PlannedOverMachines)
    assert asked.machines == ["beta"]
    assert [(node.name, node.host) for node in planned_lab.plan.nodes] == [("a", "alpha"), ("b", "beta"), ("one", "alpha")]
    assert [(host.name, host.address, host.folder) for host in planned_lab.plan.hosts[1:]] == [
        ("beta", "192.0.2.2", "/srv/netboxit")
    ]
    assert [(machine.name, machine.here) for machine in planned_lab.machines()] == [("alpha", True), ("beta", False)]
    with pytest.raises(MachinesUnfit, match=r"^alpha: eth0 carries packets of 1500 bytes, and a packet of 1500 bytes takes 1550"):
        planned_lab.check()


def test_where_the_planner_chooses_all_machines_are_asked(files: tuple[Path, Path], state_folder: Path) -> None:
    files[0].write_text(TOPOLOGY + "host: auto\n")
    asked = Asked()
    planned.plan_over(*files, asked)
    assert sorted(asked.machines) == ["beta", "gamma"]


def test_a_topology_that_names_no_machine_needs_no_inventory(files: tuple[Path, Path], state_folder: Path) -> None:
    files[0].write_text(TOPOLOGY.replace(", host: beta", ""))
    with where.planned(files[0], None) as found:
        assert isinstance(found, LocalPlan)
        assert found.plan.hosts == ()


def test_names_of_machines_are_those_of_the_inventory(files: tuple[Path, Path], state_folder: Path) -> None:
    with pytest.raises(BadTopology, match='there is no inventory, and so no machine "beta"; give one by --inventory'):
        planned.plan_over(files[0], None, Asked())
    files[0].write_text(TOPOLOGY.replace("host: beta", "host: bete"))
    for refuses in (lambda: planned.plan_over(*files, Asked()), lambda: planned.checked(*files, REALTIME)):
        with pytest.raises(BadTopology, match=r'two.yaml:4:35: .* has no machine "bete"; did you mean "beta"'):
            refuses()
    plan, _ = planned.checked(files[0], None, REALTIME)
    assert [node.host for node in plan.nodes] == ["here", "bete", "here"]
    assert "no other machine was asked" in plan.notes[0]


def test_a_machine_tells_through_its_connection_what_it_has(beta: StandIn) -> None:
    """It is this one, so the answer is known."""
    with Connections() as connections:
        found = connections.facts(beta.machine, "two")
    assert (found.cores, found.interfaces) == (available_cores(), interface_facts.read())


def test_a_plan_is_compared_with_the_whole_of_the_lab_that_is_up(files: tuple[Path, Path], state_folder: Path) -> None:
    up = planned.plan_over(*files, Asked())
    assert isinstance(up, PlannedOverMachines)
    folder = state.make_lab_folder("two")
    recorded.write(folder, plan_part.part(up.plan, "alpha"))
    PartsRecord("alpha", "owner", tuple(up.machines()), up.plan.to_json()).write(folder)
    compared, missing = planned.compare_over(*files, None, Asked())
    assert compared.difference is not None and compared.difference.nothing()
    assert missing == fitness.problems(up.topology, up.plan, up.sites) != []
    files[0].write_text(TOPOLOGY.replace("host: beta", "host: gamma"))
    compared, _ = planned.compare_over(*files, None, Asked())
    assert compared.difference is not None
    assert {node.name: node.action for node in compared.difference.nodes} == {
        "a": "unchanged",
        "one": "restarted",
        "b": "replaced",
    }
    assert any("machine" in reason for one in compared.difference.nodes for reason in one.reasons)
