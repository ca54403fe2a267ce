# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of NetBoxIT in a host of a test's own, forked from what has everything imported: three labs a second."""

from __future__ import annotations

import gc
import importlib
import os
import sys
import time
from functools import partial
from pathlib import Path

import typer

import netboxit
from contracts.installation import CHECKOUT
from testbed.views import console
from tests.host_state import HostState
from tests.system_calls import Watched

#: What the commands import when they are called: there before they are forked.
_IMPORTED_LATE = (
    *("testbed.changing.alteration", "testbed.changing.attaching", "testbed.changing.executor", "testbed.changing.rewiring"),
    *("testbed.changing.set_command", "testbed.labs.deployment", "testbed.labs.equipment_here", "testbed.labs.lab_status"),
    *("testbed.labs.removal", "testbed.plans.planning", "system.wires", "testbed.views.lab_view"),
    *("netboxes.ethernet.parameters", "rich.console", "rich.table"),
)
for _module in _IMPORTED_LATE:
    importlib.import_module(_module)

#: Every kind of object: hosts, a netbox, a Click router, veth wires, a memory wire, a real-time group, cores kept awake, a NIC
#: of the host with all that can be set of it, a tap, and daemons in hosts, of which one changes the queue of an interface.
TOPOLOGY = f"""\
name: x
realtime: {{keep_awake: true}}
hosts:
  a: {{address: 10.10.0.11/24, gateway: 10.10.0.1}}
  b: {{address: 10.20.0.20/24, gateway: 10.20.0.1}}
netboxes:
  first: {{technology: ethernet, medium: switched, stations: {{left: {{}}, right: {{}}, spare: {{}}, machine: {{}}}}}}
routers:
  meoc: {{configuration: {CHECKOUT}/click/meoc.click, interfaces: {{ian: 10.10.0.1/24, jan: 10.20.0.1/24}}}}
equipment:
  modem: {{nic: nic1}}
  machine: {{tap: vm1}}
wires:
  - [first.spare, modem]
  - [first.machine, machine]
  - [a, first.left]
  - [first.right, meoc.ian]
  - [meoc.jan, b]
management:
  shared: {{gateway: b, members: [a], rate: 10 Mbit/s}}
"""
FILE = Path("/run/x.yaml")
#: The NIC has an address and routes.
UP = ("up", str(FILE), "--take", "nic1")

_SETTLE_S = 20.0

#: Made of the verbs once, which takes a tenth of a command's time.
_COMMAND_LINE = typer.main.get_command(netboxit.app)


def prepare() -> None:
    """A lab was up on this host before: what no lab owns is there (folders of LXC and of `ip netns`)."""
    gc.collect()
    gc.freeze()  # forked children do not copy what they never change
    FILE.write_text(TOPOLOGY)
    expect_success(*UP)
    expect_success("down")


def watched_command(*argv: str, output: int | None = None) -> Watched:
    """A command that is asked before each of its calls; what it prints is lost, but where it goes into a descriptor."""
    silence = os.open(os.devnull, os.O_WRONLY)
    try:
        return Watched(partial(_command, silence if output is None else output, *argv))
    finally:
        os.close(silence)


def lasting_changes(before: HostState) -> str:
    """What has changed, and stays so: the kernel may still be at it."""
    deadline = time.monotonic() + _SETTLE_S
    while (changes := before.changes()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return changes


class Running:
    """The command line of NetBoxIT in a child process."""

    def __init__(self, *argv: str) -> None:
        self._argv = argv
        self._output = os.memfd_create("output")
        self._pid = os.fork()
        if self._pid == 0:
            os._exit(_command(self._output, *argv))
        self.pidfd = os.pidfd_open(self._pid)

    def complaint(self) -> str:
        """Waits for its end; what it said, if that was a failure."""
        status = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        said = os.pread(self._output, 1 << 16, 0).decode(errors="replace")
        os.close(self._output)
        os.close(self.pidfd)
        return f"{' '.join(self._argv)} ended with {status}:\n{said}\n" if status else ""


def expect_success(*argv: str) -> None:
    assert (complaint := Running(*argv).complaint()) == "", complaint


def _command(output: int, *argv: str) -> int:
    """What ./netboxit.py does, with its output to a descriptor; returns its exit status."""
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
    sys.argv = ["netboxit", *argv]
    try:
        status = console.guarded(_COMMAND_LINE)
    except SystemExit as end:
        status = int(end.code or 0)
    sys.stdout.flush()
    return status
