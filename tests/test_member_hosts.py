# SPDX-License-Identifier: GPL-2.0-or-later
"""The machines of tests of several hosts are machines: each brings up a lab of its own, is reached, cut off and killed."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from contracts.installation import CHECKOUT
from system import cores
from tests.member_hosts import INVENTORY, STATE, MemberHosts, address, run_in_member_hosts
from tests.waiting import until

pytestmark = pytest.mark.lab

TOPOLOGY = """\
name: x
hosts:
  a: {address: 10.10.0.11/24}
  b: {address: 10.10.0.12/24}
netboxes:
  first: {technology: ethernet, medium: switched, stations: {left: {}, right: {}}}
wires:
  - [a, first.left]
  - [first.right, b]
"""
FILE = Path("/run/x.yaml")
NETBOXIT = (str(CHECKOUT / ".venv/bin/python"), str(CHECKOUT / "netboxit.py"))
PING = ("exec", "a", "--", "ping", "-c", "1", "-W", "5", "b")

Command = Callable[..., str]


def here(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def netbox(netboxit: Command) -> dict[str, Any]:
    (lab,) = json.loads(netboxit("status", "--json"))["labs"]
    return next(node for node in lab["nodes"] if node["name"] == "first")


def labs(hosts: MemberHosts) -> dict[str, Any]:
    """The same lab on both machines at a time: one goes down, the other stays."""
    FILE.write_text(TOPOLOGY)
    hosts.run("beta", f"printf %s '{TOPOLOGY}' > {FILE}")
    local: Command = partial(here, *NETBOXIT)
    remote: Command = partial(hosts.run, "beta", f"NETBOXIT_STATE={STATE}", *NETBOXIT)
    for netboxit in (local, remote):
        netboxit("up", str(FILE))
    for netboxit in (local, remote):
        netboxit(*PING)
    found = {"alive": [netbox(netboxit)["alive"] for netboxit in (local, remote)]}
    remote("down")
    local(*PING)
    local("down")
    return found | {
        "left": [run("ls", "-A", "/run/netns", str(STATE / "labs")).split() for run in (here, partial(hosts.run, "beta"))]
    }


def test_each_brings_up_a_lab_of_its_own() -> None:
    assert run_in_member_hosts(labs) == {"alive": [True, True], "left": [["/run/netns:", f"{STATE}/labs:"]] * 2}


def reaches(number: int, version: int = 4) -> bool:
    return (
        subprocess.run(["ping", "-c", "1", "-W", "1", address(number, version)], capture_output=True, check=False).returncode == 0
    )


def network(hosts: MemberHosts) -> None:
    inventory = json.loads(here(str(CHECKOUT / ".venv/bin/ansible-inventory"), "-i", str(INVENTORY), "--list"))
    assert list(inventory["_meta"]["hostvars"]) == ["alpha", "beta", "gamma"]
    assert os.uname().nodename == "alpha"
    assert [hosts.run(name, "hostname") for name in ("beta", "gamma")] == ["beta\n", "gamma\n"]
    assert "mtu 1700" in here("ip", "link", "show", "uplink")
    # A frame of that size crosses; 28 bytes of it are headers.
    here("ping", "-c", "1", "-M", "do", "-s", str(1700 - 28), address(2))
    assert reaches(1, version=6)
    hosts.run("beta", "echo changed > /etc/new && rm /etc/fstab && cp -p /etc/hosts /etc/hosts.1 && mv /etc/hosts.1 /etc/hosts")
    changed = {path: what for path, what in hosts.changes("beta").items() if path.startswith("/etc")}
    assert set(changed) == {"/etc/new", "/etc/fstab"} and changed["/etc/fstab"] == "gone"
    assert not Path("/etc/new").exists()
    hosts.cut_off("beta")
    assert not reaches(1) and reaches(2)
    hosts.plug_in("beta")
    until(lambda: reaches(1))
    hosts.kill("gamma")
    assert not reaches(2) and reaches(1)


def test_each_is_reached_cut_off_and_killed_by_itself() -> None:
    run_in_member_hosts(network, names=("alpha", "beta", "gamma"), mtu=1700)


def test_nothing_of_them_is_left() -> None:
    def fails(_: MemberHosts) -> None:
        subprocess.Popen(["sleep", "600"], start_new_session=True)
        raise RuntimeError("as planned")

    with pytest.raises(AssertionError, match="as planned"):
        run_in_member_hosts(fails)
    assert not [group for tree in cores.hierarchies() for group in tree.folder.glob(f"netboxit-test-{os.getpid()}-*")]
