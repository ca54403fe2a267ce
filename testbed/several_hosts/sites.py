# SPDX-License-Identifier: GPL-2.0-or-later
"""From an inventory to what planning has to know of its machines: each is asked, and its address looked up.

The connections by which machines are asked are there until the end of the command: parts of a lab are made by them.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import Self

from contracts.shapes import shaped
from testbed.description.topology import Topology
from testbed.plans import facts
from testbed.plans.facts import Facts
from testbed.plans.sites import Site, is_free, named_machines
from testbed.several_hosts.connection import Connection, at_a_time, close
from testbed.several_hosts.inventory import Inventory, Listed
from testbed.several_hosts.machine import Machine


def sites(topology: Topology, inventory: Inventory, lab: str, connections: Connections) -> Sequence[Site]:
    """This machine, and those that the topology names, or all where it leaves the choice; these are asked at the same time.

    Raises NotConnected, OtherVersion.
    """
    wanted = list(inventory.machines) if is_free(topology) else [*named_machines(topology)]
    others = [inventory.machines[name] for name in wanted if name != inventory.here]
    facts_of_others = at_a_time(lambda listed: connections.facts(listed.machine, lab), others)
    there = [
        _site(listed, machine_facts, looked_up(listed)) for listed, machine_facts in zip(others, facts_of_others, strict=True)
    ]
    own = inventory.machines[inventory.here]
    towards = next((site.address for site in there if site.address), None)
    return [_site(own, facts.read(lab), own.address or own_address_towards(towards)), *there]


class Connections:
    """Made when they are first needed, and closed at the end of the with block. Many threads may ask, each for one machine."""

    def __init__(self) -> None:
        self._open: dict[str, Connection] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        close(self._open.values())

    def facts(self, machine: Machine, lab: str) -> Facts:
        """What planning the lab of that name has to know of a machine."""
        return facts_of(self.to(machine), lab)

    def to(self, machine: Machine) -> Connection:
        """Raises NotConnected, OtherVersion."""
        if machine.name not in self._open:
            self._open[machine.name] = Connection(machine)
        return self._open[machine.name]


def facts_of(connection: Connection, lab: str) -> Facts:
    """What planning the lab of that name has to know of the machine at the other end. Raises DamagedAnswer."""
    return shaped(connection.request("facts", Facts, lab=lab), Facts)  # from the data of one


def _site(listed: Listed, machine_facts: Facts, address: str) -> Site:
    machine = listed.machine
    return Site(machine.name, machine_facts, machine.here, address, listed.vxlan_port, machine.folder, listed.sealed)


def looked_up(listed: Listed) -> str:
    """The address that the inventory says, or that its name for ssh has."""
    if listed.address:
        return listed.address
    with suppress(OSError):
        return str(socket.getaddrinfo(listed.machine.address or listed.machine.name, None)[0][4][0])
    return ""


def own_address_towards(towards: str | None) -> str:
    """The address by which this machine reaches that one; nothing is sent."""
    if towards is None:
        return ""
    family = socket.AF_INET6 if ip_address(towards).version == 6 else socket.AF_INET
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as unsent:
        unsent.connect((towards, 9))
        return str(unsent.getsockname()[0])
    return ""
