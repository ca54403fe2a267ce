# SPDX-License-Identifier: GPL-2.0-or-later
"""What `doctor --inventory` finds on machines that are made of this one."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
import yaml

from contracts.installation import CHECKOUT
from tests.member_hosts import INVENTORY, MemberHosts, run_in_member_hosts


def doctor(hosts: MemberHosts) -> dict[str, Any]:
    """On alpha; gamma is not there, and the way to beta is narrow."""
    said = yaml.safe_load(INVENTORY.read_text())
    said["all"]["hosts"]["gamma"] = {"ansible_host": "192.0.2.3", "ansible_ssh_extra_args": "-o ConnectTimeout=1"}
    INVENTORY.write_text(yaml.safe_dump(said))
    hosts.run("beta", "ip link set uplink mtu 1540")
    done = subprocess.run(
        [sys.executable, str(CHECKOUT / "netboxit.py"), "doctor", "--inventory", str(INVENTORY), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.mark.lab
def test_machines_are_asked_for_what_a_lab_needs_of_them() -> None:
    told = run_in_member_hosts(doctor)
    assert (told["able"], [(name, one["able"]) for name, one in told["machines"].items()]) == (
        False,
        [("alpha", True), ("beta", True), ("gamma", False)],
    )
    found = {name: {one["name"]: one for one in machine["findings"]} for name, machine in told["machines"].items()}
    assert found["alpha"]["underlay"]["found"] == "uplink, 192.0.2.1, MTU 1600: wires of up to 1550"
    beta = found["beta"]
    assert [beta[name]["there"] for name in ("reachable", "NetBoxIT", "underlay")] == ["yes", "yes", "partly"]
    assert beta["underlay"]["found"] == "uplink, 192.0.2.2, MTU 1540: wires of up to 1490"
    assert beta["clock"]["found"].startswith(("+0.", "-0.")) and " known to " in beta["clock"]["found"]
    assert beta["clock kept by"]["remedy"] and beta["cores"]["found"].endswith("usable")
    (gone,) = told["machines"]["gamma"]["findings"]
    assert (gone["name"], gone["there"]) == ("reachable", "no") and gone["remedy"]
