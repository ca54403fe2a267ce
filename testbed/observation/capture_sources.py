# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a capture's frames come from: a netbox, through a named pipe, or an interface of the kernel, through a packet socket.

Both say when each frame passed on the host's clock (CLOCK_REALTIME), and which way.
"""

from __future__ import annotations

import errno
import io
import os
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from contracts.errors import NetBoxITError
from results import pcapng
from results.pcapng import Packet
from system import namespaces, node_files, users
from system.rootfs import NODE_FOLDER
from testbed.labs.lab import Lab
from testbed.nodes.control import Control, ControlFailed, ParameterRefused
from testbed.observation.capture_points import CapturePoint

_STOP_DEADLINE_S: Final = 20.0
_LOOK_S: Final = 0.01
#: A capture of a netbox ends with the reader of its pipe; these are its own bounds.
_ENDLESS_FRAMES: Final = 2**63
_ENDLESS_S: Final = 1e9
_PIPE_BYTES: Final = 1 << 20

# <linux/if_packet.h>, <asm/socket.h>
_ETH_P_ALL: Final = 3
_SOL_PACKET, _PACKET_STATISTICS, _PACKET_AUXDATA = 263, 6, 8
_SO_RCVBUFFORCE, _SO_TIMESTAMPNS = 33, 35
_PACKET_OUTGOING: Final = 4
_VLAN_VALID, _VLAN_TPID_VALID = 1 << 4, 1 << 6
_AUXDATA: Final = struct.Struct("=IIIHHHH")
_TIMESPEC: Final = struct.Struct("=qq")
_DOT1Q: Final = 0x8100
#: The kernel's buffer for frames that this process has not read yet: a second of some 100 Mbit/s.
_RECEIVE_BYTES: Final = 32 << 20
_LARGEST_FRAME: Final = 1 << 16
_PATIENCE_S: Final = 0.1
IN, OUT = 1, 2


class CaptureFailed(NetBoxITError):
    """A capture could not be begun, or not be brought to where the user wants it."""


class NetboxSource:
    """A port of a netbox, on any kind of wire. The netbox writes into a pipe, whose end it takes for the capture's end."""

    def __init__(self, lab: Lab, point: CapturePoint, number: int) -> None:
        self._lab, self._point, self._number = lab, point, number
        self._pipe: Path | None = None
        self.dropped = 0

    def open(self) -> None:
        """Returns when frames are being captured. Raises CaptureFailed, ControlFailed, ParameterRefused, NodeFileInTheWay."""
        name = f"capture-{os.getpid()}-{self._number}"
        self._pipe = self._lab.node_folder(self._point.node) / name
        descriptor = node_files.make_pipe(self._pipe, users.FIRST_ID if self._lab.is_confined(self._point.node) else None)
        self._stream = io.BufferedReader(io.FileIO(descriptor), _PIPE_BYTES)
        with self._lab.control(self._point.node) as control:
            control.capture(self._point.interface, f"{NODE_FOLDER}/{name}", _ENDLESS_FRAMES, _ENDLESS_S)
            self._await_start(control)
        os.set_blocking(descriptor, True)
        node_files.remove(self._pipe)

    def packets(self) -> Iterator[Packet]:
        return pcapng.packets(self._stream, f"what {self._point.node} captures at {self._point.interface}")

    def stop(self) -> None:
        """Ends the capture. `packets` goes on until it has read all that the netbox still has; a netbox that is gone has none."""
        with suppress(ControlFailed, ParameterRefused), self._lab.control(self._point.node) as control:
            until = time.monotonic() + _STOP_DEADLINE_S
            while not (state := control.capture_stop(self._point.interface))["written"] and time.monotonic() < until:
                time.sleep(_LOOK_S)
            self.dropped = state["dropped"]

    def close(self) -> None:
        if self._pipe is not None:
            node_files.remove(self._pipe)
            self._stream.close()

    def _await_start(self, control: Control) -> None:
        until = time.monotonic() + _STOP_DEADLINE_S
        while True:
            state = next(port.get("capture") for port in control.status()["ports"] if port["name"] == self._point.interface)
            if state is not None and state["state"] == "running":
                return
            if state is None or state["error"] is not None or time.monotonic() > until:
                raise CaptureFailed(
                    f"{self._point.name}: the capture did not start ({(state and state['error']) or 'no answer'})"
                )
            time.sleep(_LOOK_S)


class KernelSource:
    """An interface of a node's network namespace."""

    def __init__(self, namespace: str, point: CapturePoint) -> None:
        self._namespace, self._point = namespace, point
        self._until_ns: int | None = None
        self.dropped = 0

    def open(self) -> None:
        try:
            with namespaces.entered(self._namespace):
                self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            self._socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _RECEIVE_BYTES)
            self._socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
            self._socket.setsockopt(_SOL_PACKET, _PACKET_AUXDATA, 1)
            self._socket.settimeout(_PATIENCE_S)
            self._socket.bind((self._point.interface, _ETH_P_ALL))
        except OSError as error:
            raise CaptureFailed(
                f"{self._point.name}: {self._point.interface} of {self._point.node} cannot be captured: {error.strerror}"
            ) from error

    def packets(self) -> Iterator[Packet]:
        while True:
            try:
                data, ancillary, _, address = self._socket.recvmsg(_LARGEST_FRAME, 256)
            except TimeoutError:
                if self._until_ns is not None:
                    return
                continue
            except OSError as error:
                if error.errno != errno.ENETDOWN:
                    raise
                continue  # it goes on when the interface is up again
            packet = of_socket(data, ancillary, OUT if address[2] == _PACKET_OUTGOING else IN)
            if self._until_ns is not None and packet.time_ns > self._until_ns:
                return
            yield packet

    def stop(self) -> None:
        _, self.dropped = struct.unpack("=II", self._socket.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8))
        self._until_ns = time.time_ns()

    def close(self) -> None:
        if hasattr(self, "_socket"):
            self._socket.close()


#: `open`, then `packets` in a thread of its own until `stop` has ended it, then the counts.
Source = NetboxSource | KernelSource


def source(lab: Lab, point: CapturePoint, number: int) -> Source:
    return NetboxSource(lab, point, number) if point.by == "netbox" else KernelSource(lab.node(point.node).namespace, point)


def of_socket(data: bytes, ancillary: list[tuple[int, int, bytes]], direction: int) -> Packet:
    """What a packet socket received, with its control messages. The kernel took the outer VLAN tag out: it is put back."""
    time_ns = 0
    for level, kind, value in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS):
            seconds, nanoseconds = _TIMESPEC.unpack_from(value)
            time_ns = seconds * 10**9 + nanoseconds
        elif (level, kind) == (_SOL_PACKET, _PACKET_AUXDATA):
            status, _, _, _, _, tag, protocol = _AUXDATA.unpack_from(value)
            if status & _VLAN_VALID:
                data = data[:12] + struct.pack(">HH", protocol if status & _VLAN_TPID_VALID else _DOT1Q, tag) + data[12:]
    return Packet(time_ns, data, 0, direction)
