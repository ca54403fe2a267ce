# SPDX-License-Identifier: GPL-2.0-or-later
"""What a host's user may do with the host's network, and that the lab tells what it relied on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from system import users
from system.realtime_support import realtime_support
from testbed.labs import lab_status
from testbed.labs.lab import Lab
from testbed.plans.planning import plan_file
from tests.waiting import until

pytestmark = [pytest.mark.lab, pytest.mark.patient, pytest.mark.usefixtures("nothing_left")]

_NETWORK = """\
name: own
centre: b
hosts:
  a: {address: 10.0.0.1/24}
  b: {address: 10.0.0.2/24}
netboxes:
  net: {technology: link, stations: {a: {rate: 10 Mbit/s}, b: {rate: 10 Mbit/s}}}
wires:
  - [a, net.a]
  - [b, net.b]
traffic:
  flow: {application: udp-flow, from: a, to: b, rate: 100 kbit/s, duration: 4 s}
"""


@pytest.fixture
def file(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        monkeypatch.setenv("NETBOXIT_STATE", f"{folder}/state")
        (file := Path(folder, "own.yaml")).write_text(_NETWORK)
        if refused := users.support([Path(folder), CHECKOUT]).refused:
            pytest.skip(refused)
        yield file


@pytest.fixture
def lab(file: Path) -> Iterator[Lab]:
    with Lab.up_and_ready(plan_file(file, lab=f"own{os.getpid()}", realtime=realtime_support())) as lab:
        yield lab


def changes(lab: Lab) -> list[str]:
    (found,) = (node["network_changes"] for node in lab_status.of(lab)["nodes"] if node["name"] == "a")
    return [str(change) for change in found]


@pytest.mark.parametrize(
    ("command", "shown", "expected"),
    [
        ("ip address add 10.9.9.1/24 dev eth0", "ip address", "10.9.9.1/24"),
        ("ip route add 10.8.0.0/16 via 10.0.0.2", "ip route", "10.8.0.0/16 via 10.0.0.2"),
        ("tc qdisc add dev eth0 root tbf rate 1mbit burst 10k latency 50ms", "tc qdisc show dev eth0", "rate 1Mbit"),
        ("nft add table inet own", "nft list tables", "table inet own"),
        ("sysctl -qw net.ipv4.ip_forward=1", "sysctl net.ipv4.ip_forward", "= 1"),
        ("ip link add tunnel type vxlan id 7 remote 10.0.0.2 dstport 4789", "ip link", "tunnel"),
    ],
)
def test_it_is_configured_as_on_any_machine_and_what_is_added_is_no_change(
    lab: Lab, command: str, shown: str, expected: str
) -> None:
    done = lab.run("a", ["sh", "-c", command])
    assert done.returncode == 0, done.stderr
    assert expected in lab.run("a", ["sh", "-c", shown]).stdout
    assert changes(lab) == []
    assert lab.run("a", ["ping", "-c", "1", "-w", "30", "b"]).returncode == 0


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ip link set eth0 mtu 1400", ["eth0 has the MTU 1400, not 1500"]),
        ("ip address del 10.0.0.1/24 dev eth0", ["eth0 has no address 10.0.0.1/24"]),
        ("ip link set eth0 down", ["eth0 is down"]),
        ("ip link set eth0 down; ip link set eth0 name other", ["eth0 is gone"]),
        ("ethtool -K eth0 tx-checksumming on", ["eth0 has offloads on: tx-checksum-ip-generic"]),
    ],
)
def test_what_the_lab_relies_on_is_told_when_it_is_changed(lab: Lab, command: str, expected: list[str]) -> None:
    done = lab.run("a", ["sh", "-c", command])
    assert done.returncode == 0, done.stderr
    assert [change.partition(", tx-")[0] for change in changes(lab)] == expected
    assert f"a: its network is not as planned: {'; '.join(changes(lab))}" in lab_status.of(lab)["notes"]


def test_a_host_that_removes_its_interface_disturbs_nobody_else(lab: Lab) -> None:
    assert lab.run("a", ["ip", "link", "del", "eth0"]).returncode == 0
    assert changes(lab) == ["eth0 is gone"]
    netbox = lab.netbox_status("net")
    assert netbox is not None and netbox["ready"] and all(lab.alive().values())


def test_no_other_interface_that_a_node_makes_keeps_status_from_its_answer(lab: Lab) -> None:
    many = "for n in $(seq 100); do ip link add x$n type veth peer name y$n; done"
    strange = "ip link add \"$(printf 'z\\377')\" type veth peer name other"
    made = lab.run("a", ["sh", "-c", f"{many}; {strange}"])
    assert made.returncode == 0, made.stderr
    assert changes(lab) == []
    flapping = "ip link del eth0; while :; do ip link add eth0 type veth peer name gone; ip link del eth0; done"
    program = lab.start("a", ["sh", "-c", flapping], log=Path("/dev/null"))
    try:
        until(lambda: changes(lab))
        assert all(changes(lab) for _ in range(20))
    finally:
        program.kill()


def test_services_go_on_as_other_users_and_own_their_files(lab: Lab) -> None:
    other = "setpriv --reuid 33 --regid 33 --clear-groups id -u; touch /tmp/f; chown 33:33 /tmp/f; stat -c %u /tmp/f"
    said = lab.run("a", ["sh", "-c", other])
    assert said.stdout.split() == ["33", "33"], said.stderr
    assert lab.run("a", ["setpriv", "--reuid", str(users.IDS), "--clear-groups", "true"]).returncode != 0, (
        "the lab has no such user"
    )


def test_rights_over_the_network_do_not_reach_beyond_the_host(lab: Lab) -> None:
    tries = "echo 1 > /proc/sys/kernel/panic; echo 1 > /proc/sys/net/core/rmem_max; ip link set net.a down"
    outside = lab.run("a", ["sh", "-c", tries])
    assert outside.returncode != 0
    assert outside.stderr.count("cannot create") == 2 and "Cannot find device" in outside.stderr


@pytest.mark.parametrize(
    ("command", "change", "statuses", "reason"),
    [
        ("ip link set eth0 mtu 1400", "eth0 has the MTU 1400, not 1500", {0, 3, 4}, ""),
        ("ip link del eth0", "eth0 is gone", {4}, "the capture at eth0 of a ended before the run was over"),
    ],
)
def test_a_run_in_which_it_was_changed_says_so(file: Path, command: str, change: str, statuses: set[int], reason: str) -> None:
    results, name = file.parent / "results", f"own{os.getpid()}"
    program = [sys.executable, str(CHECKOUT / "netboxit.py")]
    run = subprocess.Popen([*program, "run", str(file), "--name", name, "--results", str(results)], stdout=subprocess.DEVNULL)
    events = results / "latest/events.jsonl"
    until(lambda: run.poll() is not None or (events.exists() and "flow starts" in events.read_text()), deadline_s=60.0)
    subprocess.run([*program, "exec", "--lab", name, "a", "sh", "-c", command], check=True)
    assert run.wait(60) in statuses
    verdict = json.loads((results / "latest/metrics.json").read_text())["verdict"]
    assert f"node a: its network was not as planned at the end: {change}" in verdict["notes"]
    assert not reason or any(one.startswith(reason) for one in verdict["reasons"]), verdict
