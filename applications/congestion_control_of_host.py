# SPDX-License-Identifier: GPL-2.0-or-later
"""Congestion control that the kernel of a host has and lets its programs take, for applications that ask for a variant."""

from __future__ import annotations

from typing import Final

from applications.application import ApplicationFailed, Hosts
from applications.congestion_control import VIRTUAL_ONLY

#: What Linux calls those that have another name there.
_OF_LINUX: Final = {"newreno": "reno", "linux-reno": "reno", "westwood+": "westwood"}
#: Those that a kernel has, and those of them that programs without CAP_NET_ADMIN may take (sysctl, tcp(7)).
_AVAILABLE: Final = "net.ipv4.tcp_available_congestion_control"
_ALLOWED: Final = "net.ipv4.tcp_allowed_congestion_control"
#: Does what the program will do.
_TAKE: Final = "import socket, sys; socket.socket().setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[1].encode())"


class VariantMissing(ApplicationFailed):
    """The kernel of a host has no such congestion control, or grants it to nobody there."""


def of_linux(variant: str) -> str:
    """What Linux calls a variant."""
    return _OF_LINUX.get(variant, variant)


def check_variant(hosts: Hosts, traffic: str, host: str, variant: str) -> None:
    """Raises VariantMissing where programs in the host cannot take it; `traffic` is the entry that asks for it."""
    if variant in VIRTUAL_ONLY:
        raise VariantMissing(
            f"traffic {traffic}: no kernel has the congestion control {variant}; run the file with --virtual, or give another "
            "`variant`"
        )
    wanted = of_linux(variant)
    taken = hosts.run(host, ["/usr/bin/python3", "-c", _TAKE, wanted])
    if taken.returncode == 0:
        return
    available = _names(hosts, host, _AVAILABLE)
    if wanted not in available:
        raise VariantMissing(
            f"traffic {traffic}: the kernel of {host} has no congestion control {wanted}; it has "
            f"{', '.join(available) or 'none that it tells of'} ({_AVAILABLE}); load it on the machine by "
            f"`modprobe tcp_{wanted}`, or give another `variant`"
        )
    words = (taken.stderr.strip().splitlines() or ["no reason"])[-1]
    raise VariantMissing(
        f"traffic {traffic}: programs in {host} may not take the congestion control {wanted}: {words}; allow it on "
        f'the machine by `sysctl -w {_ALLOWED}="$(sysctl -n {_ALLOWED}) {wanted}"`, or give another `variant`; '
        f"its kernel has {', '.join(available)} ({_AVAILABLE})"
    )


def _names(hosts: Hosts, host: str, sysctl: str) -> list[str]:
    return hosts.run(host, ["cat", f"/proc/sys/{sysctl.replace('.', '/')}"]).stdout.split()
