# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from contracts.plan import InterfacePlan, NodePlan
from system import containers, cores, rootfs
from system.containers import Container, HostFacts
from system.cores import Hierarchy
from system.limits import Support

GOLDEN = Path(__file__).parent / "golden"
V1 = HostFacts(
    cgroup_version=1,
    memory_nodes="0",
    apparmor=False,
    limits=Support(processes=1, memory=1, swap="memory.memsw.limit_in_bytes", open_files=1 << 20, locked_memory=8 << 20),
)
V2 = HostFacts(
    cgroup_version=2,
    memory_nodes="0-1",
    apparmor=True,
    limits=Support(processes=2, memory=2, swap="memory.swap.max", open_files=1024, locked_memory=1 << 40),
)

NETBOX = NodePlan(
    name="field",
    kind="netbox",
    container="netboxit-emergency-field",
    namespace="netboxit-emergency-field",
    cores=(1,),
    command=("/opt/netboxit/build/bin/netbox-wifi", "/run/netboxit/netbox.json"),
    interfaces=(InterfacePlan("responder", "fr1-field", "02:00:00:00:00:01"),),
    capabilities=("net_raw", "CAP_SYS_NICE"),
    realtime_priority=50,
)
HOST = replace(NETBOX, name="fr1", kind="host", cores=(0, 1), command=("sleep", "infinity"), capabilities=(), realtime_priority=0)


@pytest.mark.parametrize(("file", "node", "host"), [("netbox-cgroup-v1", NETBOX, V1), ("host-cgroup-v2", HOST, V2)])
def test_the_configuration_of_a_container_is_as_in_the_golden_file(
    file: str, node: NodePlan, host: HostFacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rootfs, "INSTALLATION", Path("/opt/net boxit"))
    monkeypatch.setattr(rootfs, "ETC_MOUNTS", ())
    folders = {"pids": Path("/sys/fs/cgroup/pids"), "memory": Path("/sys/fs/cgroup/memory")}
    monkeypatch.setattr(cores, "hierarchy_of", lambda name: Hierarchy(folders[name], host.cgroup_version, frozenset([name])))
    lab = Path("/var/lib/netboxit/labs/emergency")
    container = Container(node.container, lab / "containers", lab / "nodes" / node.name)
    memory = {one.name: Path("/dev/shm/netboxit/emergency", one.wire) for one in node.interfaces if node is NETBOX}
    own = {place: lab / f"nodes/{node.name}.files{place}" for place in ("/srv", "/var/www")} if node is HOST else {}
    group = Path("/sys/fs/cgroup/cpu/nbx.realtime")
    text = containers.configuration(
        node, "emergency", container, lab / "root", host, memory=memory, own=own, realtime_group=group
    )
    assert text == (GOLDEN / f"{file}.conf").read_text()


def test_real_time_service_is_not_asked_for_where_the_kernel_does_not_ration_it() -> None:
    container = Container(NETBOX.container, Path("/l/containers"), Path("/l/nodes/field"))
    text = containers.configuration(NETBOX, "emergency", container, Path("/l/root"), V1)
    assert "start-host" not in text


def test_a_program_attached_to_a_node_gets_only_the_environment_of_nodes_and_its_own() -> None:
    container = Container("netboxit-emergency-fr1", Path("/l/containers"), Path("/l/nodes/fr1"))
    argv = containers.attach_argv(container, ["ping", "eoc"], {"TERM": "vt100"})
    assert argv[:6] == ["lxc-attach", "-P", "/l/containers", "-n", "netboxit-emergency-fr1", "--clear-env"]
    assert "TERM=vt100" in argv
    assert argv[argv.index("--") + 1 :] == ["ping", "eoc"]
