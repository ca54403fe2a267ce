# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs Open vSwitch inside a switch's container, and tells it what to be.

switch_node.py FOLDER

FOLDER is the node's own: it has switch.json (`switches.configuration`), and gets the file `ready` as soon as frames pass, with
how many came before (`came`, in user space: `switch_statistics.py` tells from it what is lost without a word). Ends
when a daemon ends, or on SIGTERM with both of them. Nothing of the host's Open vSwitch is touched: the database and all sockets
are on a tmpfs of the container, and the interfaces in its network namespace.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

SOCKETS = Path("/run/openvswitch")
DATABASE, DATABASE_SOCKET = SOCKETS / "conf.db", SOCKETS / "db.sock"
SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
#: What ovs-appctl, ovs-ofctl and ovs-vsctl find without being told.
SERVER = (
    "ovsdb-server",
    str(DATABASE),
    f"--remote=punix:{DATABASE_SOCKET}",
    "--no-chdir",
    "--pidfile",
    "-vconsole:warn",
    "-vdns_resolve:err",
)
SWITCH = ("ovs-vswitchd", f"unix:{DATABASE_SOCKET}", "--no-chdir", "--pidfile", "-vconsole:warn", "-vdns_resolve:err")
START_DEADLINE_S = 60.0
#: Two switches agree at once; a port where nobody answers forwards after twice the forward delay of 15 s (802.1D-2004, 17.14).
RSTP_DEADLINE_S = 35.0
POLL_S = 0.02
WATCH_S = 0.2


class SwitchEnded(RuntimeError):
    """A daemon ended by itself, or did not do what it was told."""


def start(argv: Sequence[str], *ready_files: Path) -> subprocess.Popen[bytes]:
    """Starts a daemon and waits for the files that say it can be spoken to."""
    daemon = subprocess.Popen([f"/usr/sbin/{argv[0]}", *argv[1:]])
    deadline = time.monotonic() + START_DEADLINE_S
    while not all(file.exists() for file in ready_files):
        if daemon.poll() is not None or time.monotonic() > deadline:
            raise SwitchEnded(f"{argv[0]} did not start (status {daemon.poll()}); see above what it wrote")
        time.sleep(POLL_S / 4)
    return daemon


def call(argv: Sequence[str]) -> str:
    """Its output. What Open vSwitch could not do is said on stderr, also where its status is 0."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=START_DEADLINE_S)
    if done.returncode or "Error detected" in done.stderr:
        raise SwitchEnded(f"{' '.join(argv)}: {done.stderr.strip()}")
    return done.stdout


def clear() -> None:
    """Removes the queues that a predecessor left before interfaces: they end with the interface, not with Open vSwitch."""
    for queue in json.loads(call(["tc", "-j", "qdisc", "show"])):
        if queue["kind"] == "htb":
            call(["tc", "qdisc", "del", "dev", queue["dev"], "root"])


def came(ports: Sequence[str]) -> int:
    """Frames that came to these interfaces until now, when Open vSwitch begins to count anew what it reads."""
    if not ports:
        return 0
    call(["ovs-appctl", "dpif-netdev/pmd-stats-clear"])
    return sum(
        link["stats64"]["rx"]["packets"] for link in json.loads(call(["ip", "-s", "-j", "link"])) if link["ifname"] in ports
    )


def settled() -> bool:
    """Whether rapid spanning tree has decided on every port (it may still be that it forwards only where nobody answers)."""
    answer = json.loads(call(["ovs-vsctl", "--format=json", "--columns=rstp_status", "list", "Port"]))
    # RSTP's state and role of each port.
    ports = [(dict(status[1]).get("rstp_port_state"), dict(status[1]).get("rstp_port_role")) for (status,) in answer["data"]]
    return all(state in (None, "Forwarding") or role in ("Alternate", "Backup") for state, role in ports)


def main(folder: Path) -> int:
    stop_requested = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop_requested.set())
    SOCKETS.mkdir(parents=True, exist_ok=True)
    wanted = json.loads((folder / "switch.json").read_text())
    daemons: dict[str, subprocess.Popen[bytes]] = {}
    try:
        clear()
        call(["ovsdb-tool", "create", str(DATABASE), SCHEMA])
        daemons["ovsdb-server"] = start(SERVER, DATABASE_SOCKET)
        call(["ovs-vsctl", "--no-wait", "init"])
        daemons["ovs-vswitchd"] = start(SWITCH, SOCKETS / "ovs-vswitchd.pid")
        for argv in wanted["calls"]:
            call(argv)
        deadline = time.monotonic() + RSTP_DEADLINE_S
        while wanted["rstp"] and not settled() and time.monotonic() < deadline and not stop_requested.wait(POLL_S):
            pass
        (folder / "readying").write_text(json.dumps({"came": came(wanted["ports"])}))
        (folder / "readying").rename(folder / "ready")
        while not stop_requested.wait(WATCH_S):
            for name, daemon in daemons.items():
                if daemon.poll() is not None and not stop_requested.is_set():
                    raise SwitchEnded(f"{name} ended with status {daemon.returncode}")
    except (SwitchEnded, subprocess.TimeoutExpired) as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        for daemon in reversed(daemons.values()):
            daemon.terminate()
            daemon.wait()  # whoever asked this node to end kills it, with all that is in it, when that takes too long
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
