# SPDX-License-Identifier: GPL-2.0-or-later
"""Real equipment at a lab: interfaces of the host that are moved whole into a node's network, or made there, and given back.

"The host" is the network namespace that the calling thread is in. A NIC's settings are in the ledger before it is touched, and
while a lab has it, the NIC carries the lab's mark as an alternative name: by that it is found again wherever it is.
"""

from __future__ import annotations

import errno
import ipaddress
import pwd
import socket
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from pyroute2 import IPRoute  # type: ignore[import-untyped]
from pyroute2.netlink.exceptions import NetlinkError  # type: ignore[import-untyped]

from contracts.errors import NetBoxITError
from contracts.names import SEALED_INTERFACE, interface_name
from contracts.plan import EquipmentKind, EquipmentPlan, Plan
from ownership.ledger import Ledger, Record
from system import interface_settings, namespaces, wires
from system.interface_settings import Settings

#: The kind of its records in the ledger.
KIND: Final = "equipment"

_INGRESS: Final = 0xFFFF0000
_ALL_PROTOCOLS: Final = 3  # linux/if_ether.h: ETH_P_ALL
#: Of what carries a tunnel: enough for any way between two machines, as the kernel has it by default (net.ipv4.ip_default_ttl).
_TTL: Final = 64
#: asm-generic/socket.h, Linux 5.14: the number of a socket's network, which is given once in the life of a kernel. A namespace's
#: inode is given again at once: after a network is gone, the next one that somebody makes has its number.
_SO_NETNS_COOKIE: Final = 71
_OWN_NETWORK, _FIRST_NETWORK = Path("/proc/thread-self/ns/net"), Path("/proc/1/ns/net")


class EquipmentFailed(NetBoxITError):
    """The kernel refused what should be done to an interface."""


class HostNetworkGone(NetBoxITError):
    """The namespace that an interface came from cannot be found."""


def take(plan: Plan, ports: Collection[EquipmentPlan], ledger: Ledger) -> None:
    """Makes each port the planned interface of its node, still down; `wires.configure` follows. Raises EquipmentFailed."""
    for port in ports:
        taking = _Taking(plan, port, ledger)
        with wires.netlink_errors(EquipmentFailed, f"equipment {port.name}: {port.words()}"), IPRoute() as netlink:
            match port.kind:
                case "nic":
                    _take_nic(netlink, taking)
                case "vlan":
                    _make_on(netlink, taking, kind="vlan", vlan_id=port.vlan)
                case "macvlan":
                    _make_on(netlink, taking, kind="macvlan", macvlan_mode=port.mode, address=taking.mac)
                case "tap":
                    _make_tap(netlink, taking)
                case "vxlan":
                    _make_vxlan(netlink, taking)


def give_back(records: Collection[Record], notes: list[str]) -> None:
    """Gives interfaces back to the host. Adds to `notes` what cannot be put back any more; some may be back already.

    After one that fails it goes on with the others, and raises EquipmentFailed with all failures at the end.
    """
    failures = []
    for record in records:
        try:
            taken = record.details_as(Taken)
            if taken.boot != _boot():
                continue  # the machine came up since as its own configuration makes it
            with wires.netlink_errors(EquipmentFailed, f"equipment {record.name}: give back {taken.device}"):
                if taken.settings is not None:
                    notes += [f"equipment {record.name}: {note}" for note in _give_nic_back(taken, taken.settings)]
                else:
                    _remove_made(taken)
        except (NetBoxITError, OSError) as error:
            failures.append(str(error))
    if failures:
        raise EquipmentFailed("; ".join(failures))


@dataclass(frozen=True)
class Taken:
    """What the ledger has of a port: where its interface came from, and where it is."""

    what: EquipmentKind
    node: str
    #: The interface of this machine, as in the plan.
    device: str
    #: The node's.
    namespace: str
    interface: str
    mark: str
    #: The network that it came from (`network_identity`), and the life of the machine.
    host: str
    boot: str
    #: Of a NIC: as it was before it was touched.
    settings: Settings | None = None
    #: Of a tap: interfaces that were made and do not all have the mark yet, by their first names.
    made: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.what == "nic") != (self.settings is not None) or (self.what == "tap") != bool(self.made):
            raise ValueError(f"a {self.what} has other details than these")


class _Taking:
    """What is known of one port, and its record."""

    def __init__(self, plan: Plan, port: EquipmentPlan, ledger: Ledger) -> None:
        self.lab, self.port, self._ledger = plan.lab, port, ledger
        node = plan.node(port.end.node)
        self.namespace = node.namespace
        self.mac = next(interface.mac for interface in node.interfaces if interface.name == port.end.interface)
        self.mark = wires.mark(plan.lab, port.wire)

    def record(self, settings: Settings | None = None, made: tuple[str, ...] = ()) -> None:
        """Before anything is touched."""
        end, device = self.port.end, self.port.device
        host, boot = network_identity(), _boot()
        taken = Taken(self.port.kind, end.node, device, self.namespace, end.interface, self.mark, host, boot, settings, made)
        self._ledger.add(Record(KIND, self.port.wire, asdict(taken)))


def _take_nic(netlink: IPRoute, taking: _Taking) -> None:
    port, index = taking.port, _index(netlink, taking.port.device)
    taking.record(interface_settings.read(netlink, index))
    netlink.link("property_add", index=index, altname=taking.mark)
    netlink.link("set", index=index, net_ns_fd=str(namespaces.path(taking.namespace)), ifname=port.end.interface)
    with namespaces.entered(taking.namespace), IPRoute() as inside:
        inside.link("set", index=_index(inside, port.end.interface), mtu=port.mtu)


def _make_on(netlink: IPRoute, taking: _Taking, **what: Any) -> None:
    """An interface on one of the host's."""
    below = _index(netlink, taking.port.device)
    taking.record()
    _make_in_node(netlink, taking, link=below, **what)


def _make_vxlan(netlink: IPRoute, taking: _Taking) -> None:
    """A tunnel's end: what it carries leaves and comes by the host's network, though the interface itself is never in there."""
    port = taking.port
    family = "6" if ipaddress.ip_address(str(port.remote)).version == 6 else ""
    # With link-local addresses the kernel takes frames from that interface alone (drivers/net/vxlan, vxlan_vs_find_vni):
    # what anybody sends to this machine's UDP port comes by another one.
    below = {"vxlan_link": _index(netlink, port.device)} if port.device == SEALED_INTERFACE else {}
    taking.record()
    try:
        _make_in_node(
            netlink,
            taking,
            kind="vxlan",
            address=taking.mac,
            vxlan_id=port.vni,
            vxlan_port=port.udp_port,
            vxlan_ttl=_TTL,
            # All of it goes to the one other end, so there is nothing to be learnt.
            vxlan_learning=0,
            **{f"vxlan_local{family}": port.local, f"vxlan_group{family}": port.remote},
            **below,
        )
    except NetlinkError as error:
        if error.code != errno.EEXIST:
            raise
        raise EquipmentFailed(
            f"wire {port.wire}: somebody else on this machine has tunnel {port.vni} at UDP port {port.udp_port}; give the "
            "lab another --name, from which the number follows, or the machines another netboxit_vxlan_port"
        ) from error


def _make_in_node(netlink: IPRoute, taking: _Taking, **what: Any) -> None:
    """Made in the node's network at once, by one message."""
    port, place = taking.port, str(namespaces.path(taking.namespace))
    netlink.link("add", ifname=port.end.interface, net_ns_fd=place, mtu=port.mtu, **what)
    _mark_in_node(taking)


def _mark_in_node(taking: _Taking) -> None:
    with namespaces.entered(taking.namespace), IPRoute() as inside:
        inside.link("property_add", index=_index(inside, taking.port.end.interface), altname=taking.mark)


def _make_tap(netlink: IPRoute, taking: _Taking) -> None:
    """The tap stays on the host, where its user's virtual machine opens it; all that comes in at it goes out at a veth pair.

    On the way the kernel segments and sums up what the machine left to an offload of its tap.
    """
    port = taking.port
    first, cable = interface_name("nbt", taking.lab, port.name), interface_name("nbx", taking.lab, port.name)
    taking.record(made=(first, cable))
    netlink.link("add", ifname=first, kind="tuntap", mode="tap", uid=pwd.getpwnam(port.user).pw_uid if port.user else 0)
    tap = _index(netlink, first)
    netlink.link("property_add", index=tap, altname=taking.mark)
    inside = wires.veth_end(port.end.interface, taking.mac, port.mtu, taking.namespace)
    netlink.link("add", ifname=cable, kind="veth", mtu=port.mtu, peer=inside)
    end = _index(netlink, cable)
    netlink.link("property_add", index=end, altname=f"{taking.mark}:host")
    wires.turn_offloads_off(cable)
    netlink.link("set", index=tap, ifname=port.device, mtu=port.mtu)
    namespaces.write_settings({f"ipv6/conf/{name}/disable_ipv6": "1" for name in (port.device, cable)})
    _redirect(netlink, tap, end)
    _redirect(netlink, end, tap)
    for index in (tap, end):
        netlink.link("set", index=index, state="up")
    _mark_in_node(taking)


def _redirect(netlink: IPRoute, source: int, target: int) -> None:
    """Every frame that comes in at one interface goes out at the other; the host itself sees none."""
    netlink.tc("add", "ingress", index=source, handle=_INGRESS)
    netlink.tc(
        "add-filter",
        "u32",
        index=source,
        parent=_INGRESS,
        prio=1,
        protocol=_ALL_PROTOCOLS,
        target=0,
        keys=["0x0/0x0+0"],
        action={"kind": "mirred", "direction": "egress", "action": "redirect", "ifindex": target},
    )


def _give_nic_back(taken: Taken, settings: Settings) -> Iterator[str]:
    try:
        with entered_network(taken.host), IPRoute() as netlink:
            yield from _restored(netlink, taken, settings)
    except HostNetworkGone as error:
        yield f"{settings.name}: {error}"


def _restored(netlink: IPRoute, taken: Taken, settings: Settings) -> Iterator[str]:
    _bring_home(taken, settings)
    if (link := _marked(netlink, taken.mark)) is None:
        # Recorded and not yet touched, or lost: with its namespace the kernel sends home a NIC and destroys what is virtual.
        if find(netlink, settings.name) is None:
            addresses = ", ".join(address["address"] for address in settings.addresses) or "none"
            yield (
                f"{settings.name} (MAC {settings.mac}) is gone, unplugged or lost with its node's network; when it is back, "
                f"set it up as it was: MTU {settings.mtu}, addresses: {addresses}"
            )
        return
    index = link["index"]
    netlink.link("set", index=index, state="down")
    if link.get("ifname") != settings.name:
        netlink.link("set", index=index, ifname=settings.name)
    if refused := interface_settings.restore(netlink, index, settings):
        yield f"{settings.name}: the kernel refused to put back: {', '.join(refused)}"
    netlink.link("property_del", index=index, altname=taken.mark)


def _bring_home(taken: Taken, settings: Settings) -> None:
    """From the node's network, when it is there, into the calling thread's."""
    if not namespaces.is_there(taken.namespace):
        return
    with _OWN_NETWORK.open() as home, namespaces.entered(taken.namespace), IPRoute() as netlink:
        if (link := _marked(netlink, taken.mark)) is not None:
            to = {"net_ns_fd": home.fileno(), "ifname": settings.name}
            try:
                netlink.link("set", index=link["index"], new_ifindex=settings.index, **to)
            except NetlinkError:  # its number is another's by now
                netlink.link("set", index=link["index"], **to)


def _remove_made(taken: Taken) -> None:
    if namespaces.is_there(taken.namespace):
        with namespaces.entered(taken.namespace), IPRoute() as netlink:
            _delete(netlink, _marked(netlink, taken.mark))
    if taken.made:
        with entered_network(taken.host), IPRoute() as netlink:
            _delete(netlink, _marked(netlink, taken.mark))
            for name in taken.made:
                _delete(netlink, find(netlink, name))


def _delete(netlink: IPRoute, link: Any) -> None:
    if link is not None:
        netlink.link("del", index=link["index"])


def find(netlink: IPRoute, name: str) -> Any:
    """None when there is none of that name, or alternative name."""
    indices = netlink.link_lookup(ifname=name)
    return netlink.get_links(indices[0])[0] if indices else None


def _index(netlink: IPRoute, name: str) -> int:
    if (link := find(netlink, name)) is None:
        raise EquipmentFailed(f"there is no interface {name} any more")
    return int(link["index"])


def _marked(netlink: IPRoute, mark: str) -> Any:
    return next((link for link in netlink.get_links() if mark in interface_settings.altnames(link)), None)


def network_identity() -> str:
    """Of the calling thread's network namespace; another has the same one only after a restart of the machine."""
    with socket.socket(socket.AF_UNIX) as unix_socket:
        return str(int.from_bytes(unix_socket.getsockopt(socket.SOL_SOCKET, _SO_NETNS_COOKIE, 8), sys.byteorder))


def _boot() -> str:
    """The same as long as the machine runs."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@contextmanager
def entered_network(wanted: str) -> Iterator[None]:
    """The calling thread is in the namespace of that identity for the length of a with block. Raises HostNetworkGone."""
    for place in (_OWN_NETWORK, _FIRST_NETWORK, *sorted(namespaces.FOLDER.glob("*"))):
        with ExitStack() as inside:
            try:
                inside.enter_context(namespaces.entered_at(place))
            except OSError:
                continue  # it was removed meanwhile, or is no namespace
            if network_identity() == wanted:
                yield
                return
    raise HostNetworkGone(
        "the network namespace that it came from is not found; if it is still there, run this in it (nsenter --net=…)"
    )


def in_machines_network() -> bool:
    """Whether the calling thread is in the network of the machine's first process."""
    try:
        return _FIRST_NETWORK.samefile(_OWN_NETWORK)
    except OSError:  # of a process that nobody here may look at
        return False


def has_vlans() -> bool:
    """Whether the kernel has them, or can load what has (modprobe(8))."""
    if Path("/proc/net/vlan").exists():
        return True
    try:
        return subprocess.run(["/usr/sbin/modprobe", "--dry-run", "--quiet", "8021q"], check=False).returncode == 0
    except FileNotFoundError:  # a machine that loads none
        return False
