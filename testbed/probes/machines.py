# SPDX-License-Identifier: GPL-2.0-or-later
"""What each machine of an inventory can do for labs over several: asked through the same connection as a lab would be."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from contracts.errors import NetBoxITError
from contracts.machines import ClockReading, MachineFacts
from contracts.names import SEALED_INTERFACE
from system import interface_facts, tunnel
from system.interface_facts import InterfaceFacts
from testbed.documents.host import Ability, Doctor
from testbed.plans import facts
from testbed.plans.facts import Facts
from testbed.probes.finding import examined, of_error, there
from testbed.several_hosts import clocks, inventory
from testbed.several_hosts.connection import Connection, OtherVersion
from testbed.several_hosts.inventory import Listed
from testbed.several_hosts.sites import facts_of, looked_up, own_address_towards
from testbed.several_hosts.synchronisation import synchronisation
from testbed.several_hosts.version import version

#: What a wire carries by default.
_WIRE_MTU = 1500
#: A tenth of the limit of lateness that a topology has by default: what a wire adds can then be judged.
_CLOCK_ERROR_NS = 100_000


def examine(file: Path | None) -> dict[str, Doctor]:
    """By the names of the inventory, this machine first. Takes some seconds. Raises BadInventory."""
    listed = inventory.read(inventory.find(file))
    here = listed.machines[listed.here]
    others = {name: machine for name, machine in listed.machines.items() if name != listed.here}
    with ThreadPoolExecutor(max(1, len(others))) as pool:
        examinations = pool.map(lambda machine: examined(_other(machine, here)), others.values())
        return {
            listed.here: examined(_this(here, next(iter(others.values()), None))),
            **dict(zip(others, examinations, strict=True)),
            **{
                name: examined([Ability("inventory", "no", "not meant for labs", "parts of labs on it", why)])
                for name, why in listed.refused.items()
            },
        }


def _this(here: Listed, other: Listed | None) -> Iterator[Ability]:
    """This machine, on which the command runs; `doctor` without an inventory says more of it."""
    own = facts.read("")
    yield from _computing(own)
    if other is not None:
        yield from _wires(own, here, here.address or own_address_towards(looked_up(other) or None))
    yield kept(synchronisation())


def _other(listed: Listed, here: Listed) -> Iterator[Ability]:
    began = time.monotonic()
    try:
        connection = Connection(listed.machine)
    except OtherVersion as error:
        yield Ability("reachable", "yes", "by ssh", needed=True)
        yield of_error("NetBoxIT", error, "any part of a lab on it", needed=True)
        return
    except NetBoxITError as error:
        yield of_error("reachable", error, "any part of a lab on it", needed=True)
        return
    with connection:
        yield Ability("reachable", "yes", f"by ssh, ready after {time.monotonic() - began:.1f} s", needed=True)
        yield Ability("NetBoxIT", "yes", f"the same as here, {version()}", needed=True)
        try:
            yield from _asked(connection, listed, here)
        except NetBoxITError as error:
            yield of_error("connection", error, "labs with parts on it", needed=True)


def _asked(connection: Connection, listed: Listed, here: Listed) -> Iterator[Ability]:
    theirs = facts_of(connection, "")
    yield from _computing(theirs)
    address = looked_up(listed)
    yield from _wires(theirs, listed, address)
    if address:
        yield _clock(connection, address, here.address or "")
    yield kept(connection.request("environment", MachineFacts)["synchronised"])


def _computing(machine: Facts) -> Iterator[Ability]:
    yield Ability(
        "cores",
        there(len(machine.cores) >= 2, "partly"),
        f"{len(machine.cores)} usable" + (f", {len(machine.others)} of them other labs'" if machine.others else ""),
        "a core for each netbox: they share cores and make each other late",
        "a machine with two cores at the least",
    )
    yield Ability(
        "real-time",
        there(machine.realtime.fifo, "partly"),
        machine.realtime.reason,
        "a bound of netboxes' lateness",
        "`netboxit doctor` on that machine says what its kernel lacks",
    )


def underlay(machine: Facts, address: str) -> Ability:
    """Whether the interface that carries wires to other machines can carry a frame with the headers of a tunnel."""
    carrier = interface_facts.with_address(machine.interfaces, address) if address else None
    if carrier is None:
        problem = f"no interface has {address}" if address else "no address is known"
        remedy = "say by netboxit_address in the inventory which of its addresses carries wires"
    elif not carrier.up:
        problem, remedy = f"{carrier.name}, {address}: down", f"ip link set {carrier.name} up"
    elif carrier.merging:
        merging = ", ".join(carrier.merging)
        problem = f"{carrier.name}, {address}: merges frames that arrive ({merging}), also those inside of tunnels"
        remedy = f"ethtool -K {carrier.name} gro off lro off rx-gro-hw off"
    else:
        return _size_of_wires(carrier, address)
    return Ability("underlay", "no", problem, "wires to other machines", remedy, needed=True)


def _size_of_wires(carrier: InterfaceFacts, address: str) -> Ability:
    headers = tunnel.room(address)
    largest = carrier.mtu - headers
    words = f"{carrier.name}, {address}, MTU {carrier.mtu}: wires of up to {largest}"
    if largest >= _WIRE_MTU:
        return Ability("underlay", "yes", words, needed=True)
    return Ability(
        "underlay",
        "partly",
        words,
        f"wires with the default MTU of {_WIRE_MTU}",
        f"ip link set {carrier.name} mtu {_WIRE_MTU + headers}, where all between the machines can; "
        f"or wires with `mtu: {largest}`",
        needed=True,
    )


def _wires(machine: Facts, listed: Listed, address: str) -> Iterator[Ability]:
    """What tunnels need. What WireGuard needs of the interface that carries it is checked with the tunnels."""
    if not listed.sealed:
        yield underlay(machine, address)
    yield tunnels(machine, listed, address)


def tunnels(machine: Facts, listed: Listed, address: str) -> Ability:
    """Whether tunnels take frames from the other machines of the inventory only."""
    if not listed.sealed:
        return Ability(
            "tunnels",
            "partly",
            f"open: VXLAN takes frames from whoever can send to UDP port {listed.vxlan_port}",
            "protection of labs from others in the network between the machines",
            "netboxit_tunnels: wireguard in the inventory, then ansible/hosts.yml",
        )
    if wrong := "; ".join(tunnel.sealed_problems(machine.interfaces, listed.machine.name, _WIRE_MTU, address)):
        return Ability("tunnels", "no", wrong, "wires to other machines", "see what was found", needed=True)
    return Ability("tunnels", "yes", f"sealed by WireGuard ({SEALED_INTERFACE})", needed=True)


def _clock(connection: Connection, address: str, own: str) -> Ability:
    token = clocks.new_token()
    port = connection.request("answer_clock", int, address=address, token=token.hex())
    try:
        return clock(clocks.compare(address, port, token, own_address=own))
    except clocks.ClocksNotCompared as error:
        return of_error("clock", error, "delays between it and others: runs are invalid")
    finally:
        connection.begin("clock_answered").done()


def clock(reading: ClockReading) -> Ability:
    """Its offset, which runs correct, and the error of that offset, which they cannot correct."""
    return Ability(
        "clock",
        there(reading["error_ns"] <= _CLOCK_ERROR_NS, "partly"),
        f"{reading['offset_ns'] / 1e6:+,.3f} ms from this machine's, known to {reading['error_ns'] / 1e3:,.0f} us",
        "exactness of delays between it and others",
        "a network with a shorter round trip between the machines, or machines and a network with less to do",
    )


def kept(by: str | None) -> Ability:
    """Who keeps the clock at the right time."""
    return Ability(
        "clock kept by",
        there(bool(by), "partly"),
        by or "neither chrony nor PTP",
        "clocks that stay near each other; runs correct them without, along a line",
        "chrony (apt install chrony), or linuxptp where the network has a PTP clock",
    )
