#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Ansible module: do machines reach each other as wires between them need it? Runs on all of them at the same time.

    name, address  this machine, and which of its addresses carries wires
    peers          the others: {name: address}
    port           the UDP port of VXLAN
    mtu            of the largest frames on wires, without their Ethernet header
    seconds        how long to try

Each asks each other one at that port, as a tunnel would: with a datagram that may be cut nowhere and is as large as a full frame
in its tunnel (RFC 7348: 8 bytes of VXLAN, 8 of UDP, 20 or 40 of IP, and the inner Ethernet header of 14), and with a small one.
It is finished when all have all answers. `findings` says what is not as it should be, with the remedy.
"""

from __future__ import annotations

import json
import select
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ansible.module_utils.basic import AnsibleModule

_MARK = b"netboxit reach"
_AGAIN_S = 0.2
#: WireGuard's interface, where tunnels are sealed (roles/sealed), and what to do about its MTU.
_SEALED = "netboxit"
_RAISE = "raise the MTU of what carries it by as much, and prepare the machines again, or "
_Address = Any
_INNER_ETHERNET, _VXLAN, _UDP = 14, 8, 8
_IP: dict[int, int] = {socket.AF_INET: 20, socket.AF_INET6: 40}
# linux/in.h, linux/in6.h: never fragment.
_DO_NOT_CUT: dict[int, tuple[int, int, int]] = {
    socket.AF_INET: (socket.IPPROTO_IP, 10, 2),
    socket.AF_INET6: (socket.IPPROTO_IPV6, 23, 2),
}


class Reach:
    """One machine's questions to the others, and its answers to theirs."""

    def __init__(self, name: str, address: str, port: int, mtu: int) -> None:
        self._name = name
        self._port = port
        self.family, self.address, self._own = _resolved(address)
        self.packet = mtu + _INNER_ETHERNET + _VXLAN + _UDP + _IP[self.family]
        self._listening = socket.socket(self.family, socket.SOCK_DGRAM)
        self._asking = socket.socket(self.family, socket.SOCK_DGRAM)
        self._asking.setsockopt(*_DO_NOT_CUT[self.family])

    def findings(self, peers: dict[str, str], seconds: float) -> Iterator[str]:
        own = _interface(self.address)
        if own is None:
            yield f"no interface of {self._name} has the address {self.address}: set netboxit_address in the inventory"
            return
        interface, mtu = own
        if mtu < self.packet:
            by = f"`ip link set {interface} mtu {self.packet}` and the same on what is between, or "
            raised = _RAISE if interface == _SEALED else by
            yield (
                f"{interface} of {self._name} has MTU {mtu}; full frames of wires between machines need {self.packet}: "
                f"{raised}`mtu:` on those wires of at most {mtu - self.packet + self._inner()}"
            )
        try:
            self._listening.bind(_at(self._own, self._port))
            self._asking.bind(_at(self._own, 0))
        except OSError as error:
            yield (
                f"UDP port {self._port} of {self._name} cannot be used ({error.strerror}): a VXLAN interface has it, of a lab "
                "that is up or of somebody else's; say another netboxit_vxlan_port for all machines, or take the lab down"
            )
            return
        yield from self._ask(peers, mtu, seconds)

    def _inner(self) -> int:
        return self.packet - _INNER_ETHERNET - _VXLAN - _UDP - _IP[self.family]

    def _ask(self, peers: dict[str, str], mtu: int, seconds: float) -> Iterator[str]:
        where = {_resolved(address)[1]: peer for peer, address in peers.items()}
        at = {peer: _at(_resolved(address)[2], self._port) for peer, address in peers.items()}
        kinds = ("small", "full") if mtu >= self.packet else ("small",)
        answered: dict[str, set[str]] = {peer: set() for peer in peers}
        content: set[str] = set()  # the others that have all their answers of this machine
        deadline = time.monotonic() + seconds
        again = 0.0
        while time.monotonic() < deadline and not (content >= set(peers) and all("done" in kind for kind in answered.values())):
            if time.monotonic() >= again:
                for peer, address in at.items():
                    self._send(address, answered[peer], kinds)
                again = time.monotonic() + _AGAIN_S
            for ready in select.select([self._listening, self._asking], [], [], _AGAIN_S)[0]:
                data, source = ready.recvfrom(65536)
                sender, kind = where.get(source[0]), _kind(data)
                if sender is None or kind is None:
                    continue
                if ready is self._asking:
                    answered[sender].add(kind)
                    continue
                if kind == "done":
                    content.add(sender)
                with suppress(OSError):
                    ready.sendto(_message(kind), source)
        for peer, got in answered.items():
            if "small" not in got:
                yield (
                    f"{peer} does not answer {self._name} at {peers[peer]}, UDP port {self._port}: let UDP to that port pass "
                    "between the machines, in both directions (firewalls on them and between them)"
                )
            elif not got >= set(kinds):
                yield (
                    f"packets of {self.packet} bytes do not get from {self._name} to {peer}, small ones do: what is between has "
                    f"a smaller MTU; raise it there, or set `mtu:` on wires between these machines lower than {self._inner()}"
                )

    def _send(self, address: _Address, answered: set[str], kinds: tuple[str, ...]) -> None:
        missing = [kind for kind in kinds if kind not in answered] or ["done"]
        for kind in missing:
            message = _message(kind)
            if kind == "full":
                message = message.ljust(self.packet - _UDP - _IP[self.family])
            with suppress(OSError):  # no route, too large, nobody there: asked again until the end
                self._asking.sendto(message, address)


def _message(kind: str) -> bytes:
    return _MARK + b" " + kind.encode() + b" "


def _kind(data: bytes) -> str | None:
    words = data.removeprefix(_MARK).split()
    return words[0].decode(errors="replace") if words and data.startswith(_MARK) else None


def _resolved(address: str) -> tuple[int, str, _Address]:
    """Its family, the address in numbers, and for a socket: of a link-local one also the interface (fe80::1%eth0)."""
    family, _, _, _, found = socket.getaddrinfo(address, None, type=socket.SOCK_DGRAM)[0]
    return family, str(found[0]).partition("%")[0], found


def _at(address: _Address, port: int) -> _Address:
    return (address[0], port, *address[2:])


def _interface(address: str) -> tuple[str, int] | None:
    """The interface of this machine that has it, and its MTU."""
    listed = subprocess.run(["ip", "-json", "address", "show"], capture_output=True, text=True, check=True).stdout
    for link in json.loads(listed):
        if any(entry.get("local") == address for entry in link.get("addr_info", ())):
            return link["ifname"], link["mtu"]
    return None


def main() -> None:
    module = AnsibleModule(
        {
            "name": {"required": True},
            "address": {"required": True},
            "peers": {"type": "dict", "required": True},
            "port": {"type": "int", "required": True},
            "mtu": {"type": "int", "required": True},
            "seconds": {"type": "float", "required": True},
        },
        supports_check_mode=True,
    )
    words = module.params
    try:
        reach = Reach(words["name"], words["address"], words["port"], words["mtu"])
        findings = list(reach.findings(words["peers"], words["seconds"]))
    except OSError as error:
        findings = [f"{words['name']}: {error.strerror or error}: is netboxit_address of each an address or a known name?"]
    module.exit_json(changed=False, findings=findings)


if __name__ == "__main__":
    main()
