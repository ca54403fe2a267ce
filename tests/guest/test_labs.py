# SPDX-License-Identifier: GPL-2.0-or-later
"""What people do with labs, on Debian 12 as it is installed, and on machines that grant less, or the same in another way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from tests.guest import disks, small_lab
from tests.guest.left import nothing_left
from tests.guest.machine import Guest
from tests.guest.reaching import reaches

pytestmark = [pytest.mark.lab, pytest.mark.long]


@dataclass(frozen=True)
class Machine:
    """What a machine grants. Whatever it may refuse, one of MACHINES has and another one has not."""

    #: Words of the kernel's command line.
    kernel: tuple[str, ...]
    #: Of control groups.
    version: int
    #: Whether they bound memory.
    bounds_memory: bool
    #: What `doctor` says of AppArmor.
    apparmor: tuple[str, str]


MACHINES = {
    "Debian 12": Machine((), 2, True, ("yes", "LXC's profile lxc-container-default-cgns")),
    "cgroup v1 and no AppArmor": Machine(
        ("systemd.unified_cgroup_hierarchy=0", "apparmor=0"), 1, True, ("partly", "off in this kernel")
    ),
    "AppArmor's kernel part alone and no memory controller": Machine(
        # As without the package: nobody has loaded a profile.
        ("systemd.mask=apparmor.service", "cgroup_disable=memory"),
        2,
        False,
        ("partly", "is not loaded"),
    ),
}


#: Of what neither control groups nor AppArmor have a part in: a guest takes minutes for each command.
on_debian_alone = pytest.mark.parametrize("machine", [MACHINES["Debian 12"]], ids=["Debian 12"], indirect=True)


@pytest.fixture(scope="module", params=MACHINES.values(), ids=MACHINES)
def machine(request: pytest.FixtureRequest) -> Machine:
    granted = request.param
    assert isinstance(granted, Machine)
    return granted


@pytest.fixture(scope="module")
def guest(machine: Machine, checkout_disk: Path, request: pytest.FixtureRequest) -> Iterator[Guest]:
    saved, below = None, [checkout_disk]
    if not machine.kernel:
        # Not `fresh_guest`, which would go on beside the other two machines.
        saved, below = request.getfixturevalue("booted")
    with disks.overlays(*below) as own, Guest(own, kernel=machine.kernel, saved=saved) as booted:
        yield booted


def notes(guest: Guest, lab: str) -> list[str]:
    (told,) = json.loads(guest.run(f"./netboxit.py status {lab} --json").checked())["labs"]
    return list(told["notes"])


@on_debian_alone
def test_the_guest_is_as_users_have_it(guest: Guest) -> None:
    assert guest.run("cat /sys/module/apparmor/parameters/enabled").checked() == "Y\n"
    assert set(guest.run("stat --file-system --format %T /sys/fs/cgroup").checked().split()) == {"cgroup2fs"}
    assert guest.run("uname -r").checked().startswith("6.1.")
    assert guest.run("ls /sys/class/net").checked() == "lo\n", "it must have no way out"


def test_doctor_says_that_labs_can_run_and_what_confines_them(guest: Guest, machine: Machine) -> None:
    findings = {one["name"]: one for one in json.loads(guest.run("./netboxit.py doctor --json").checked())["findings"]}
    assert findings["a lab"]["there"] == "yes"
    assert findings["user namespaces"]["found"] == "the root of all nodes is nobody on this host"
    assert findings["SCHED_FIFO in containers"]["found"] == "SCHED_FIFO works in control groups, without budgets"
    assert findings["cgroups"]["found"].startswith(f"version {machine.version}: ")
    assert ("memory" in findings["cgroups"]["found"]) is machine.bounds_memory
    there, found = machine.apparmor
    assert findings["AppArmor"]["there"] == there and found in findings["AppArmor"]["found"]


def test_the_emergency_network_comes_up_confined(guest: Guest, machine: Machine) -> None:
    guest.run("./netboxit.py up topologies/emergency.yaml").checked()
    profile = guest.run("./netboxit.py exec fr1 -- cat /proc/self/attr/current").output.strip()
    assert profile.startswith("lxc-container-default-cgns") is (machine.apparmor[0] == "yes")
    emulator = guest.run(f"pgrep --full '^{CHECKOUT}/build/bin/netbox-wifi'").checked().strip()
    assert guest.run(f"stat --format %u /proc/{emulator}").checked() == "1879048192\n", "it is root on this machine"
    scheduling = guest.run(f"chrt --all-tasks --pid {emulator}").checked()
    assert "policy: SCHED_FIFO" in scheduling and "priority: 50" in scheduling


def test_its_nodes_have_their_cores_and_limits(guest: Guest, machine: Machine) -> None:
    """As the control groups have them, whichever version that is."""
    tree = "/sys/fs/cgroup" if machine.version == 2 else "/sys/fs/cgroup/{}"
    files = {"cpuset": "cpuset.cpus", "pids": "pids.max"}
    if machine.bounds_memory:
        files["memory"] = "memory.max" if machine.version == 2 else "memory.limit_in_bytes"
    for controller, file in files.items():
        bound = guest.run(f"cat {tree.format(controller)}/nbx-emergency-fr1/{file}").checked().strip()
        assert bound not in ("", "max") and (controller == "cpuset" or int(bound) < 1 << 40), (controller, bound)


def test_its_status_tells_what_does_not_confine_it(guest: Guest, machine: Machine) -> None:
    told = notes(guest, "emergency")
    assert any("AppArmor" in note for note in told) is ("is not loaded" in machine.apparmor[1])
    assert any("limits of memory are not enforced" in note for note in told) is not machine.bounds_memory


def test_programs_run_in_its_nodes_and_reach_each_other(guest: Guest) -> None:
    reaches(guest, "fr1", "eoc")


def test_it_is_changed_while_it_runs(guest: Guest) -> None:
    guest.run("./netboxit.py set backhaul delay='20 ms'").checked()
    guest.run("./netboxit.py set meoc 'reboot=1 s'").checked()
    reaches(guest, "fr1", "eoc")


@on_debian_alone
def test_frames_are_captured_at_each_kind_of_point(guest: Guest) -> None:
    """A host's interface, a netbox's port and a memory wire."""
    points = "fr1 field.responder field--longhaul"
    ping = "./netboxit.py exec fr1 -- ping -i 0.5 -w 60 eoc >/dev/null"
    guest.run(f"{ping} & ./netboxit.py capture {points} /root/x.pcapng --duration '10 s' && kill %1").checked()
    read = "tshark -r /root/x.pcapng -Y icmp -T fields -e frame.interface_name 2>/dev/null | sort --unique | wc --lines"
    assert int(guest.run(read).checked()) >= 3


@on_debian_alone
def test_equipment_is_attached_and_given_back(guest: Guest) -> None:
    before = guest.run("ip -oneline link").checked()
    guest.run("./netboxit.py attach vm1 fr1.modem --tap --address 10.9.0.1/24").checked()
    guest.run("./netboxit.py exec fr1 -- ip address show modem").checked()
    guest.run("./netboxit.py detach vm1").checked()
    assert guest.run("ip -oneline link").checked() == before


@on_debian_alone
def test_it_becomes_what_its_changed_file_says(guest: Guest) -> None:
    """A parameter is changed live, another host and wire are new."""
    guest.run("sed 's/return_rate: 2 /return_rate: 1 /' topologies/emergency.yaml >/root/emergency.yaml").checked()
    guest.run("cp -r click /root/ && ./netboxit.py apply /root/emergency.yaml").checked()
    reaches(guest, "fr1", "eoc")


def test_it_goes_down_and_leaves_nothing(guest: Guest) -> None:
    guest.run("./netboxit.py down emergency").checked()
    nothing_left(guest)


@on_debian_alone
def test_switches_carry_frames_by_the_kernels_datapath(guest: Guest) -> None:
    guest.run("./netboxit.py up topologies/switch.yaml").checked()
    assert "system@" in guest.run("./netboxit.py exec vehicle -- ovs-appctl dpctl/show").checked()
    reaches(guest, "phone", "desk")
    assert guest.run("./netboxit.py exec phone -- ping -c 1 -W 5 10.62.0.1").status, "it is in another VLAN"


@on_debian_alone
def test_a_lab_with_switches_is_changed_and_goes_down(guest: Guest) -> None:
    guest.run("./netboxit.py set line delay='10 ms'").checked()
    guest.run("./netboxit.py capture phone vehicle.line /root/y.pcapng --duration '2 s'").checked()
    guest.run("sed 's/limit: 1.8 Mbit/limit: 1.5 Mbit/' topologies/switch.yaml >/root/switch.yaml").checked()
    guest.run("./netboxit.py apply /root/switch.yaml").checked()
    reaches(guest, "phone", "10.61.0.1")
    guest.run("./netboxit.py down switch").checked()
    nothing_left(guest)


@on_debian_alone
def test_a_member_of_a_managed_link_has_its_budget_kept_by_the_kernel(guest: Guest) -> None:
    """In a user namespace, whose root may have the kernel load what a queue needs."""
    small_lab.write(guest, small_lab.MANAGED)
    guest.run(f"./netboxit.py up {small_lab.FILE}").checked()
    kept = """sh -c 'until grep -q "\\"rate\\": 1000000" /run/netboxit/management-state.json; do sleep 0.5; done'"""
    guest.run(f"./netboxit.py exec a -- {kept}").checked()
    (told,) = json.loads(guest.run("./netboxit.py status small --json").checked())["labs"]
    parts = {node["name"]: part for node in told["nodes"] for part in node["management"] or ()}
    assert parts["b"]["members"] == 1
    assert (parts["a"]["budget"], parts["a"]["unenforced"]) == (1_000_000, None)
    assert "htb" in guest.run("./netboxit.py exec a -- tc qdisc show dev eth0").checked()
    guest.run("./netboxit.py down small").checked()
    nothing_left(guest)


@on_debian_alone
def test_a_run_is_measured_and_reported(guest: Guest) -> None:
    """An emulated processor is late: the verdict says so, by the status 3 or 4. One with a call takes twice as long to rate."""
    small_lab.write(guest, small_lab.TEXT + small_lab.TRAFFIC)
    guest.run(f"./netboxit.py run {small_lab.FILE} --duration '2 s' --results /root/results", within_s=900).checked(0, 3, 4)
    metrics = json.loads(guest.run("cat /root/results/latest/metrics.json").checked())
    assert metrics["flows"]
    nothing_left(guest)
