# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands that are killed, and the labs that they are killed in: together they have every kind of object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from contracts.installation import CHECKOUT
from tests.own_commands import FILE

#: A host with a file and a program of its own, a netbox, a Click router, a veth wire, a memory wire, a real-time group, cores
#: kept awake, a NIC of the host with all that can be set of it, and a tap.
_LAB: Final = f"""\
name: x
realtime: {{keep_awake: true}}
hosts:
  a: {{address: 10.10.0.11/24, gateway: 10.10.0.1, files: {{/srv/{FILE.name}: {FILE.name}}}, start: sleep 600}}
netboxes:
  first: {{technology: ethernet, medium: switched, stations: {{left: {{}}, right: {{}}, spare: {{}}}}}}
routers:
  meoc: {{configuration: {CHECKOUT}/click/meoc.click, interfaces: {{ian: 10.10.0.1/24, jan: 10.20.0.1/24}}}}
equipment:
  modem: {{nic: nic1}}
  machine: {{tap: vm1}}
wires:
  - [first.spare, modem]
  - [a, first.left]
  - [first.right, meoc.ian]
  - [meoc.jan, machine]
"""
#: The same changed: another host, at the port where the NIC was, and another setting of the netbox.
_CHANGED: Final = (
    _LAB.replace("hosts:\n", "hosts:\n  c: {address: 10.10.0.12/24}\n")
    .replace("  modem: {nic: nic1}\n", "")
    .replace("[first.spare, modem]", "[c, first.spare]")
    .replace("medium: switched,", "medium: switched, rate: 10 Mbit/s,")
)
_SWITCH: Final = """\
name: x
hosts:
  a: {address: 10.10.0.11/24}
switches:
  office: {ports: {desk: {vlan: 10}}}
wires:
  - [a, office.desk]
"""
_PORT: Final = """\
name: x
hosts:
  a: {address: 10.10.0.11/24}
netboxes:
  first: {technology: ethernet, medium: switched, stations: {left: {}, machine: {}}}
equipment:
  machine: {tap: vm1}
wires:
  - [a, first.left]
  - [first.machine, machine]
"""
_ROUTER: Final = f"""\
name: x
hosts:
  a: {{address: 10.10.0.11/24, gateway: 10.10.0.1}}
routers:
  meoc: {{configuration: {CHECKOUT}/click/meoc.click, interfaces: {{ian: 10.10.0.1/24, jan: 10.20.0.1/24}}}}
equipment:
  machine: {{tap: vm1}}
wires:
  - [a, meoc.ian]
  - [meoc.jan, machine]
"""
_UP: Final = ("up", str(FILE))
_TAKE: Final = ("--take", "nic1")
_ATTACH: Final = ("attach", "nic1", "first.left", *_TAKE)


@dataclass(frozen=True)
class Killed:
    """A command, and what was done before it."""

    lab: str
    argv: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()
    #: What the file says when the command begins, where that is another lab.
    changed: str | None = None
    #: It is interrupted when this container is being started, and killed while it undoes what it did.
    interrupted_at: str | None = None
    #: Whether it is killed before its own calls, too, and whether before those of all that it starts, or of this container only.
    own_calls: bool = True
    children: bool | str = False


COMMANDS: Final[Mapping[str, Killed]] = {
    "up": Killed(_LAB, (*_UP, *_TAKE), children=True),
    "interrupted up": Killed(_LAB, (*_UP, *_TAKE), interrupted_at="nbx-x-meoc"),
    "apply": Killed(_LAB, ("apply", str(FILE)), ((*_UP, *_TAKE),), _CHANGED),
    "down": Killed(_LAB, ("down",), ((*_UP, *_TAKE),)),
    "up of a switch": Killed(_SWITCH, _UP, own_calls=False, children="nbx-x-office"),
    "down of a switch": Killed(_SWITCH, ("down",), (_UP,)),
    "attach": Killed(_PORT, _ATTACH, (_UP,), children=True),
    "detach": Killed(_PORT, ("detach", "nic1"), (_UP, _ATTACH), children=True),
    "reboot": Killed(_PORT, ("set", "first", "reboot=50 ms"), (_UP,)),
    "swap": Killed(_ROUTER, ("set", "meoc", f"configuration={CHECKOUT}/click/meoc.click"), (_UP,)),
}
