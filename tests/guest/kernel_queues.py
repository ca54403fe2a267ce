# SPDX-License-Identifier: GPL-2.0-or-later
"""Sends packets through the kernel's queueing disciplines: runs in a guest, as its process 1 (instruction_clock.py).

It is asked for trials: {name, tc, queue_length, lasts, arrivals: [[ns, bytes, line], ...]}. For each one it makes an interface,
configures it by `tc`, sends the packets and answers {entered: [ns, ...], sent: [[packet, ns], ...], tc: statistics}: when the
kernel took each packet, and which packets left when. All times are the kernel's, since the trial began. A line's packets have
the priority that names the class of that number, from 1, of the qdisc 2: (tc(8), "CLASSIFICATION").
"""

from __future__ import annotations

import errno
import json
import os
import socket
import struct
import subprocess
import time
from pathlib import Path
from typing import Any

DEVICE = "queue"
#: To nobody, of the EtherType that IEEE leaves to experiments.
HEADER = bytes.fromhex("020000000002 020000000001 88b5")
PLACE_OF_NUMBER = len(HEADER)
#: <linux/socket.h>, <asm-generic/socket.h>, <linux/net_tstamp.h>, <linux/if_packet.h>: what Python does not name.
SOL_PACKET = 263
SO_SNDBUFFORCE, SO_RCVBUFFORCE, SO_TIMESTAMPNS, SO_TIMESTAMPING = 32, 33, 35, 37
TX_SCHED, SOFTWARE, OPT_ID, OPT_TSONLY = 1 << 8, 1 << 4, 1 << 7, 1 << 11
ETH_P_ALL, PACKET_TX_TIMESTAMP = 3, 16
#: For all packets of a trial.
MEMORY = 1 << 28
LENGTH = struct.Struct("!Q")


def main() -> None:
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    with Path("/dev/vdc").open("rb") as disk:
        (length,) = LENGTH.unpack(disk.read(LENGTH.size))
        trials = json.loads(disk.read(length))
    answer = json.dumps({"kernel": os.uname().release, "outcomes": {trial["name"]: attempt(trial) for trial in trials}}).encode()
    with Path("/dev/vdd").open("r+b") as disk:
        disk.write(LENGTH.pack(len(answer)) + answer)
        disk.flush()
        os.fsync(disk.fileno())
    run("reboot -ff")


def run(command: str) -> str:
    done = subprocess.run(command.split(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command}\n{done.stdout}")
    return done.stdout


def attempt(trial: dict[str, Any]) -> dict[str, Any]:
    run(f"ip link add {DEVICE} txqueuelen {trial['queue_length']} type dummy")
    run(f"ip link set {DEVICE} up")
    for words in trial["tc"]:
        run(f"tc {words}")
    try:
        return measure(trial)
    finally:
        run(f"ip link delete {DEVICE}")


def measure(trial: dict[str, Any]) -> dict[str, Any]:
    leaving = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    leaving.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, MEMORY)
    leaving.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    leaving.bind((DEVICE, ETH_P_ALL))
    lines = {line: sender(line) for line in sorted({line for _, _, line in trial["arrivals"]})}
    numbers: dict[int, list[int]] = {line: [] for line in lines}
    padding = bytes(2000)
    # The second is for what the sockets' making leaves to be done.
    begun = time.time_ns() + 1_000_000_000
    for number, (at, size, line) in enumerate(trial["arrivals"]):
        if (early := begun + at - time.time_ns()) > 0:
            time.sleep(early / 1e9)
        numbers[line].append(number)
        packet = HEADER + struct.pack("!I", number)
        try:
            lines[line].send(packet + padding[: size - len(packet)])
        except OSError as error:
            if error.errno != errno.ENOBUFS:  # as the sender of a packet hears that the qdisc drops it
                raise
    time.sleep(max(0.0, (begun + trial["lasts"] - time.time_ns()) / 1e9))
    statistics = run(f"tc -s -d qdisc show dev {DEVICE}")
    entered = [0] * len(trial["arrivals"])
    for line, sending in lines.items():
        for place, at in stamps(sending):
            entered[numbers[line][place]] = at - begun
        sending.close()
    sent = [(number, at - begun) for number, at in departures(leaving)]
    leaving.close()
    return {"entered": entered, "sent": sent, "tc": statistics}


def sender(line: int) -> socket.socket:
    sending = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    sending.bind((DEVICE, 0))
    sending.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, MEMORY)
    sending.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, MEMORY)
    sending.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, (2 << 16) + line + 1)
    sending.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, TX_SCHED | SOFTWARE | OPT_ID | OPT_TSONLY)
    return sending


def stamps(sending: socket.socket) -> list[tuple[int, int]]:
    """When the kernel gave packets to the qdisc: the how many-eth packet of that socket, and ns."""
    found = []
    while True:
        try:
            _, ancillary, _, _ = sending.recvmsg(0, 512, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return found
        told = {(level, kind): content for level, kind, content in ancillary}
        # struct sock_extended_err: ee_data is the packet's number.
        number = struct.unpack_from("IBBBBII", told[SOL_PACKET, PACKET_TX_TIMESTAMP])[6]
        found.append((number, nanoseconds(told[socket.SOL_SOCKET, SO_TIMESTAMPING])))


def departures(leaving: socket.socket) -> list[tuple[int, int]]:
    """Which packets the qdisc gave to the interface, and when."""
    found = []
    while True:
        try:
            frame, ancillary, _, _ = leaving.recvmsg(PLACE_OF_NUMBER + 4, 128, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return found
        if frame.startswith(HEADER):
            found.append((struct.unpack_from("!I", frame, PLACE_OF_NUMBER)[0], nanoseconds(ancillary[0][2])))


def nanoseconds(timespec: bytes) -> int:
    seconds, rest = struct.unpack_from("qq", timespec)
    return int(seconds * 1_000_000_000 + rest)


if __name__ == "__main__":
    main()
