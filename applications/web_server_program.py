# SPDX-License-Identifier: GPL-2.0-or-later
"""A program that becomes nginx in a host (applications/web_server.py): it opens the port, makes the files, and starts it.

    web_server_program.py FOLDER ADDRESS PORT TRAFFIC_CLASS CONGESTION_CONTROL

nginx can set neither the traffic class of its packets nor their congestion control. Connections have both from the socket that
listens (ip(7), tcp(7)), and nginx takes one that is open already, as from its own predecessor (its variable NGINX). A host has
only Python's standard library.
"""

import json
import os
import socket
import sys
from pathlib import Path

#: nginx's own, NGX_LISTEN_BACKLOG on Linux.
_BACKLOG = 511


def main() -> None:
    folder, address, port, traffic_class, congestion_control = sys.argv[1:]
    os.chdir(folder)
    for name, size in json.loads(Path("sizes.json").read_text()).items():
        _make(Path(name), size)
    listener = _listener(address, int(port), int(traffic_class), congestion_control)
    os.execve(
        "/usr/sbin/nginx",
        ["nginx", "-p", folder, "-c", "nginx.conf", "-e", "stderr"],
        {**os.environ, "NGINX": f"{listener.fileno()};"},
    )


def _make(file: Path, size: int) -> None:
    """Of zeros, which take no room on a disk; but no file may be longer than the disk of a host (RLIMIT_FSIZE)."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("wb") as made:
            made.truncate(size)
    except OSError as error:
        sys.exit(f"/{file} of {size} bytes cannot be made: {error.strerror}; take smaller or fewer, or write limits: {{disk: …}}")


def _listener(address: str, port: int, traffic_class: int, congestion_control: str) -> socket.socket:
    version = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(version, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if congestion_control:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion_control.encode())
    if version == socket.AF_INET6:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, traffic_class)
    else:
        listener.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, traffic_class)
    listener.bind((address, port))
    listener.listen(_BACKLOG)
    os.set_inheritable(listener.fileno(), True)
    return listener


if __name__ == "__main__":
    main()
