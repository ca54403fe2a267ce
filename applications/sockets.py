# SPDX-License-Identifier: GPL-2.0-or-later
"""Who listens in a host: the kernel's tables of sockets, with local address and port in hexadecimal (proc(5), /proc/net)."""

from __future__ import annotations

from collections.abc import Callable
from subprocess import CompletedProcess
from typing import Final, Literal

Transport = Literal["udp", "tcp"]

#: Of a TCP socket that listens; UDP has one state (include/net/tcp_states.h).
_LISTENS: Final = {"tcp": {"0A"}, "udp": {"07", "01"}}
_ASK_S: Final = 5.0


def listens(run: Callable[..., CompletedProcess[str]], host: str, port: int, *protocols: Transport) -> bool:
    """Whether a program in the host has opened the port, for IPv4 or IPv6. `run` is that of `applications.application.Hosts`."""
    for protocol in protocols:
        # Where there is no IPv6, there is no table of it.
        tables = run(host, ["cat", f"/proc/net/{protocol}", f"/proc/net/{protocol}6"], timeout_s=_ASK_S).stdout
        lines = [line.split() for line in tables.splitlines()]
        if any(line[1].endswith(f":{port:04X}") and line[3] in _LISTENS[protocol] for line in lines if line[0] != "sl"):
            return True
    return False
