# SPDX-License-Identifier: GPL-2.0-or-later
"""Other software that sets up networks on this host, and what of it can disturb a lab. None of it is changed.

It does not reach wires and nodes: these are in network namespaces of their own, which have their own packet filters, sysctls and
interfaces. It does reach interfaces of the host that a lab uses as equipment, frames that the host itself forwards to or from
them, and tables that the kernel has once for all namespaces.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from system import foreign_text
from testbed.documents.host import Ability
from testbed.probes import asking
from testbed.probes.finding import there

ROOT = Path("/")


def probe() -> tuple[Ability, ...]:
    return *managers(ROOT), filters(ROOT, chains), *tables(ROOT)


def managers(root: Path) -> Iterator[Ability]:
    """Programs that configure interfaces would do so with one that a lab gives back, and with taps and VLANs made for one."""
    running = {name for program, name in _PROGRAMS.items() if program in _running(root)}
    for name in sorted(running & _HARMLESS.keys()):
        yield Ability(name, "yes", f"runs; {_HARMLESS[name]}")
    for name in sorted(running & _TELL_IT.keys()):
        yield Ability(
            name,
            "partly",
            "runs; wires and nodes are out of its reach, interfaces that are equipment of a lab are not",
            "what a lab gives back or makes on this host (a NIC, a VLAN, a tap) may get addresses and DHCP at once",
            f"tell it to leave them alone, for the NIC eth2 say: {_TELL_IT[name]}",
        )
    if not running:
        yield Ability("other network software", "yes", "none that was looked for")


#: By the names of their processes, of which the kernel shows 15 characters.
_PROGRAMS = {
    "NetworkManager": "NetworkManager",
    "systemd-network": "systemd-networkd",
    "dockerd": "Docker",
    "firewalld": "firewalld",
    "libvirtd": "libvirt",
    "virtnetworkd": "libvirt",
}
_TELL_IT = {
    "NetworkManager": "a file /etc/NetworkManager/conf.d/netboxit.conf with [keyfile] and "
    "unmanaged-devices=interface-name:eth2, then nmcli general reload",
    "systemd-networkd": "a file /etc/systemd/network/00-netboxit.network with [Match], Name=eth2, [Link] and Unmanaged=yes, "
    "then networkctl reload",
}
_HARMLESS = {
    "Docker": "its bridges and rules are the host's, no wire of a lab passes them",
    "firewalld": "its zones are the host's, no wire of a lab passes them; a tunnel between several hosts needs its port open",
    "libvirt": "its bridges are the host's, labs do not use them",
}


def _running(root: Path) -> set[str]:
    names = set()
    for file in root.glob("proc/[0-9]*/comm"):
        with suppress(OSError):  # it has ended meanwhile
            names.add(foreign_text.read(file).strip())
    return names


def filters(root: Path, chains: Callable[[], str]) -> Ability:
    """Packet filters that drop frames which the host forwards between an interface of its own and one that a lab uses."""
    bridged = [
        family
        for family in ("iptables", "ip6tables", "arptables")
        if _number(root / f"proc/sys/net/bridge/bridge-nf-call-{family}")
    ]
    dropping = _dropping(chains())
    if not dropping and not bridged:
        return Ability("packet filters", "yes", "none drops what this host forwards")
    effects = [
        *([f"{', '.join(dropping)} drops what this host forwards and no rule accepts"] if dropping else []),
        *([f"bridged frames pass {', '.join(bridged)}, too (bridge-nf-call)"] if bridged else []),
    ]
    return Ability(
        "packet filters",
        "partly" if dropping and bridged else "yes",
        f"{'; '.join(effects)}; labs have packet filters of their own",
        "frames on a bridge of this host with a lab's tap or a virtual machine on it",
        "give the NIC itself to the node instead of a bridge; or accept that bridge in the filter's own configuration "
        "(Docker: the chain DOCKER-USER, firewalld: its zone `trusted`)",
    )


def chains() -> str:
    """The packet filter's chains as JSON; nothing where the program is missing or does not answer."""
    with suppress(asking.NoAnswer):
        return asking.ask(["nft", "-j", "list", "chains"]).stdout
    return ""


def tables(root: Path) -> Iterator[Ability]:
    """Tables and limits that the kernel has once for all namespaces: a large lab can exhaust them."""
    limits = [
        limit
        for family in ("ipv4", "ipv6")
        if (limit := _number(root / f"proc/sys/net/{family}/neigh/default/gc_thresh3")) is not None
    ]
    if limits:
        hosts = min(limits) // _NEIGHBOURS_OF_A_NODE
        yield Ability(
            "neighbour tables",
            there(hosts >= _LARGE_LAB, "partly"),
            f"{min(limits)} entries for all labs together, enough for {hosts} nodes that each know {_NEIGHBOURS_OF_A_NODE}",
            "larger labs lose packets (`neighbour: arp_cache: neighbor table overflow!` in dmesg)",
            f"sysctl net.ipv4.neigh.default.gc_thresh3={_LARGE_LAB * _NEIGHBOURS_OF_A_NODE}, and the same of net.ipv6",
        )
    tight = {
        name: limit
        for name, needed in _NEEDED_BY_A_LARGE_LAB.items()
        if (limit := _number(root / "proc/sys" / name)) is not None and limit < needed
    }
    yield Ability(
        "limits for large labs",
        there(not tight, "partly"),
        ", ".join(f"{name.replace('/', '.')} is {limit}" for name, limit in tight.items()) or f"enough for {_LARGE_LAB} nodes",
        f"labs of {_LARGE_LAB} nodes",
        " ".join(["sysctl", *(f"{name.replace('/', '.')}={_NEEDED_BY_A_LARGE_LAB[name]}" for name in tight)]),
    )


#: Nodes of what is called a large lab here, and how many neighbours each has in a busy network.
_LARGE_LAB = 200
_NEIGHBOURS_OF_A_NODE = 20
#: A node has a namespace of each kind and about ten processes, each with some ten files; its programs may watch files.
_NEEDED_BY_A_LARGE_LAB = {
    "user/max_net_namespaces": 2 * _LARGE_LAB,
    "user/max_mnt_namespaces": 2 * _LARGE_LAB,
    "user/max_pid_namespaces": 2 * _LARGE_LAB,
    "kernel/pid_max": 50 * _LARGE_LAB,
    "kernel/pty/max": 4 * _LARGE_LAB,
    "fs/file-max": 100 * _LARGE_LAB,
    "fs/inotify/max_user_instances": 128,
}


def _dropping(listed: str) -> list[str]:
    """Chains at the hook `forward` whose policy is to drop."""
    entries = json.loads(listed)["nftables"] if listed.strip() else []
    return [
        f"the chain {chain['name']} of table {chain['family']} {chain['table']}"
        for chain in (entry["chain"] for entry in entries if "chain" in entry)
        if chain.get("hook") == "forward" and chain.get("policy") == "drop"
    ]


def _number(file: Path) -> int | None:
    """A sysctl; None where this kernel has none of that name."""
    try:
        return int(file.read_text())
    except FileNotFoundError:
        return None
