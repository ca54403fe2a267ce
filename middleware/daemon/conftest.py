# SPDX-License-Identifier: GPL-2.0-or-later
"""Three members, a gateway and a server, each in a network namespace of its own, and `c2ml` in them.

Members are in networks of their own (10.8.N.2) and ask the gateway at its address on the server's side (10.9.0.1), so that it is
not in their networks, and not where the gateway's routes would have it answer from.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import pytest

from contracts.installation import CHECKOUT
from tests.namespaces import Namespace, wait_for

C2ML = CHECKOUT / "build/bin/c2ml"
MEMBERS = ("m1", "m2", "m3")
#: The gateway's address that members ask, and the server's.
GATEWAY = {4: "10.9.0.1", 6: "fd00:9::1"}
SERVER = {4: "10.9.0.2", 6: "fd00:9::2"}
#: In each member.
INTERFACE = "uplink"
DOMAIN = 17
_PORT = 5000


class C2ml:
    """The daemon in one namespace."""

    def __init__(self, space: Namespace, folder: Path, parts: list[dict[str, Any]], before: tuple[str, ...] = ()) -> None:
        folder.mkdir(exist_ok=True)
        self.state_file, self._control, self._log = folder / "state.json", folder / "control", folder / "log"
        self.journal_file = folder / "journal.jsonl"
        self.state_file.unlink(missing_ok=True)
        file = folder / "c2ml.json"
        paths = {"state": self.state_file, "control": self._control, "journal": self.journal_file}
        file.write_text(json.dumps({"management": parts, **{key: str(path) for key, path in paths.items()}}))
        with self._log.open("ab") as log:
            command = space.command(*before, str(C2ML), str(file))
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def call(self, method: str, **params: object) -> Any:
        """Its answer, also one that refuses."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(5.0)
            client.connect(str(self._control))
            client.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
            answer = json.loads(client.makefile().readline())
        return answer.get("result", answer.get("error"))

    def read(self) -> dict[str, Any]:
        """Statistics of its only part; nothing before it answers."""
        try:
            return dict(self.call("read")["management"][0])
        except (FileNotFoundError, ConnectionRefusedError):
            return {}

    @property
    def budget(self) -> int | None:
        return self.read().get("budget")

    def events(self) -> list[dict[str, Any]]:
        """Of all its lives that wrote into the same folder."""
        lines = [json.loads(line) for line in self.journal_file.read_text().splitlines() if line]
        assert "began_ns" in lines[0]
        return [line for line in lines if "event" in line]

    def log(self) -> str:
        return self._log.read_text()

    def wait(self, timeout_s: float = 5.0) -> int:
        return self._process.wait(timeout_s)

    def end(self) -> int:
        """Asks it to end; its exit status."""
        self._process.send_signal(signal.SIGTERM)
        return self.wait()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


class ManagedNetwork:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._spaces: dict[str, Namespace] = {}
        self._programs: list[C2ml] = []
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for name in ("gateway", "server", *MEMBERS):
                self._spaces[name] = stack.enter_context(Namespace(name))
                with self._spaces[name].inside():
                    for scope in ("all", "default"):
                        Path(f"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6").write_text("0")
            with self._spaces["gateway"].inside():
                for setting in ("ipv4/ip_forward", "ipv6/conf/all/forwarding"):
                    Path(f"/proc/sys/net/{setting}").write_text("1")
            for name in MEMBERS:
                self.join_again(name)
            self._join("server", "downlink", 9, "10.9.0", "fd00:9:")
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        for program in self._programs:
            program.kill()
        self._stack.close()

    def space(self, name: str) -> Namespace:
        return self._spaces[name]

    def join_again(self, name: str) -> None:
        """A member, to the gateway: with another interface, where it had one."""
        number = 1 + MEMBERS.index(name)
        self._join(name, INTERFACE, number, f"10.8.{number}", f"fd00:8:{number}:")

    def start(self, name: str, *parts: dict[str, Any], before: tuple[str, ...] = ()) -> C2ml:
        program = C2ml(self._spaces[name], self.folder / name, list(parts), before)
        self._programs.append(program)
        return program

    def allocator(self, capacity_bps: int | None, **keys: object) -> C2ml:
        first = {"name": "sat", "role": "allocator", "domain": DOMAIN, "capacity_bps": capacity_bps, "kind": "unweighted"}
        program = self.start("gateway", {**first, "recovers": False, **keys})
        wait_for(lambda: bool(program.read()), "the allocator")
        return program

    def tell(self, space: str, interface: str, frame: bytes) -> None:
        """Sends a frame by an interface, as a netbox at the other end of the wire does."""
        with self._spaces[space].inside(), socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
            sender.bind((interface, 0))
            sender.send(frame)

    def member(self, name: str, *, version: int = 4, before: tuple[str, ...] = (), **keys: object) -> C2ml:
        entry = {"name": "sat", "role": "member", "domain": DOMAIN, "allocator": GATEWAY[version], "enforcement": "none"}
        return self.start(name, {**entry, **keys}, before=before)

    def root_queue(self, name: str) -> str:
        """Kind and number of the root queue of a member's interface."""
        queues = json.loads(self._spaces[name].run("tc", "-json", "qdisc", "show", "dev", INTERFACE).stdout)
        return next(f"{queue['kind']} {queue['handle']}" for queue in queues if queue.get("root"))

    def bits_from(self, name: str) -> int:
        """Of all frames that came from a member to the gateway, without FCS, as its shaper counts them."""
        there = f"to{MEMBERS.index(name) + 1}"
        (link,) = json.loads(self._spaces["gateway"].run("ip", "-json", "-s", "link", "show", "dev", there).stdout)
        return 8 * int(link["stats64"]["rx"]["bytes"])

    @contextmanager
    def upload(self, name: str, version: int = 4) -> Iterator[Callable[[float], tuple[float, float]]]:
        """The member sends by a TCP of the kernel: NewReno, which every kernel has, and which has no rate of its own (BBR has).

        Gives what measures for some seconds at which rate its data arrives, and at which rate frames leave the member, bit/s.
        """
        family = socket.AF_INET if version == 4 else socket.AF_INET6
        with self._spaces["server"].inside():
            listener = socket.create_server(("0.0.0.0" if version == 4 else "::", _PORT), family=family)
        with self._spaces[name].inside():
            sender = socket.socket(family)
            sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
            sender.settimeout(5.0)
            sender.connect((SERVER[version], _PORT))
        receiver, _ = listener.accept()
        received = 0

        def send() -> None:
            sender.settimeout(None)
            piece = bytes(1 << 16)
            with suppress(OSError):  # it was shut down
                while True:
                    sender.send(piece)

        def receive() -> None:
            nonlocal received
            with suppress(ConnectionResetError):
                while data := receiver.recv(1 << 16):
                    received += len(data)

        def rates(seconds: float) -> tuple[float, float]:
            begin, before, sent = time.monotonic(), received, self.bits_from(name)
            time.sleep(seconds)
            took = time.monotonic() - begin
            return (received - before) * 8 / took, (self.bits_from(name) - sent) / took

        threads = [threading.Thread(target=act) for act in (send, receive)]
        for thread in threads:
            thread.start()
        try:
            yield rates
        finally:
            # What waits in the member's queue is of no interest any more. The end of one may end the other.
            for end in (receiver, sender):
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join()
            for end in (receiver, sender, listener):
                end.close()

    def _join(self, name: str, interface: str, number: int, ipv4: str, ipv6: str) -> None:
        """The gateway has address 1 of the network, the other node address 2 and a route by way of the gateway."""
        gateway, other = self._spaces["gateway"], self._spaces[name]
        there = f"to{number}"
        commands = [
            (other, f"link add {interface} type veth peer name {there} netns {gateway.name}"),
            (gateway, f"address add {ipv4}.1/24 dev {there}"),
            (gateway, f"address add {ipv6}:1/64 dev {there} nodad"),
            (gateway, f"link set {there} up"),
            (gateway, "link set lo up"),
            (other, f"address add {ipv4}.2/24 dev {interface}"),
            (other, f"address add {ipv6}:2/64 dev {interface} nodad"),
            (other, "link set lo up"),
            (other, f"link set {interface} up"),
            (other, f"route add default via {ipv4}.1"),
            (other, f"-6 route add default via {ipv6}:1"),
        ]
        for space, command in commands:
            done = space.run("ip", *command.split())
            assert done.returncode == 0, done.stderr


@pytest.fixture
def network(tmp_path: Path) -> Iterator[ManagedNetwork]:
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    with ManagedNetwork(tmp_path) as made:
        yield made
