# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of NetBoxIT in a host of a test's own, forked from what has everything imported: three labs a second."""

from __future__ import annotations

import gc
import os
import sys
import time
from functools import partial
from pathlib import Path

import netboxit

# What is not used here is what the commands import when they are called.
from testbed.changing import alteration  # noqa: F401
from testbed.files import CHECKOUT
from testbed.labs import deployment, lab, removal  # noqa: F401
from testbed.plans import planning  # noqa: F401
from testbed.views import console
from tests.host_state import HostState
from tests.system_calls import Watched

#: Every kind of object: hosts, a netbox, a Click router, veth wires, a memory wire, a real-time group, cores kept awake, a NIC
#: of the host with all that can be set of it, and a tap.
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
  modem: {{nic: nic1, take_addresses: true}}
  machine: {{tap: vm1}}
wires:
  - [first.spare, modem]
  - [first.machine, machine]
  - [a, first.left]
  - [first.right, meoc.ian]
  - [meoc.jan, b]
"""
#: The same changed: a host more, at the port where the NIC was, and another setting of the netbox.
CHANGED = (
    TOPOLOGY.replace("hosts:\n", "hosts:\n  c: {address: 10.10.0.12/24}\n")
    .replace("  modem: {nic: nic1, take_addresses: true}\n", "")
    .replace("[first.spare, modem]", "[c, first.spare]")
    .replace("medium: switched,", "medium: switched, rate: 10 Mbit/s,")
)
FILE = Path("/run/x.yaml")

_SETTLE_S = 20.0


def prepare() -> None:
    """A lab was up on this host before: what no lab owns is there (folders of LXC and of `ip netns`)."""
    gc.collect()
    gc.freeze()  # forked children do not copy what they never change
    FILE.write_text(TOPOLOGY)
    expect_success("up", str(FILE))
    expect_success("down")


def watched_command(*argv: str) -> Watched:
    """A command that is asked before each of its calls; what it prints is lost."""
    silence = os.open(os.devnull, os.O_WRONLY)
    try:
        return Watched(partial(_command, silence, *argv))
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
        status = console.guarded(netboxit.app)
    except SystemExit as end:
        status = int(end.code or 0)
    sys.stdout.flush()
    return status
