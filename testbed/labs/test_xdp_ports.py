# SPDX-License-Identifier: GPL-2.0-or-later
"""AF_XDP ports in a container, with the few capabilities that the plan gives to their netbox."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from system.realtime_support import realtime_support
from testbed.labs.lab import Lab
from testbed.plans.planning import plan_file

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]

CABLE = """\
name: xdp
hosts:
  left: {address: 10.0.0.1/24}
  right: {address: 10.0.0.2/24}
netboxes:
  cable: {technology: ethernet, io: xdp, stations: {a: {}, b: {}}}
wires:
  - [left, cable.a]
  - [cable.b, right]
"""


def test_two_hosts_talk_through_a_netbox_with_xdp_ports_in_one_lab_after_the_other(tmp_path: Path) -> None:
    file = tmp_path / "xdp.yaml"
    file.write_text(CABLE)
    plan = plan_file(file, lab=f"xdp-{os.getpid()}", realtime=realtime_support())
    for _ in range(2):
        with Lab.up(plan) as lab:
            lab.wait_ready()
            with lab.control("cable") as control:
                assert [port["kind"] for port in control.status()["ports"]] == ["xdp", "xdp"]
            ping = lab.run("left", ["ping", "-c", "3", "-i", "0.05", "-s", "1472", "-M", "do", "-W", "2", "right"])
            assert ping.returncode == 0, ping.stdout
