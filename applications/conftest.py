# SPDX-License-Identifier: GPL-2.0-or-later
"""Two hosts joined by one wire, without containers: network namespaces in which an application can be tried."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest

from applications.application import INSIDE
from contracts.errors import NetBoxITError
from contracts.installation import CHECKOUT
from contracts.plan import TrafficPlan
from results.capture import RING_S, Capture
from system.node_files import OwnFiles
from system.processes import HELD

#: Runs a program in a mount namespace of its own, where the host's folder is at /run/netboxit. That of the machine is its labs'.
_WITH_FOLDER = f'mount -t tmpfs none /run && mkdir {INSIDE} && mount --bind "$0" {INSIDE} && exec "$@"'


#: Congestion control that every program on this machine may take, as topologies name it.
ALLOWED = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip().replace("reno", "newreno")


def metrics_of(
    file: Path, *arguments: str, environment: Mapping[str, str], ends_with: Collection[int] = (0, 3)
) -> dict[str, Any]:
    """What `netboxit run` of a topology file measures; its results are beside the file. `environment` is besides this one's."""
    results = file.parent / "results"
    command: list[str | Path] = [CHECKOUT / "netboxit.py", "run", file, "--results", results, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert done.returncode in ends_with, done.stdout + done.stderr
    document: dict[str, Any] = json.loads((results / "latest/metrics.json").read_text())
    return document


class NamespaceProgram:
    """A program in one of the namespaces."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    def poll(self) -> int | None:
        return self._process.poll()

    def wait(self, timeout_s: float | None = None, /) -> int:
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired as late:
            raise NetBoxITError(str(late)) from late

    def release(self) -> None:
        assert self._process.stdin is not None
        with self._process.stdin as held:
            held.write(b"\n")

    def interrupt(self) -> None:
        self._process.send_signal(signal.SIGINT)

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()


class NamespaceHosts:
    """`left` (10.98.0.1) and `right` (10.98.0.2)."""

    ADDRESSES: ClassVar[dict[str, str]] = {"left": "10.98.0.1", "right": "10.98.0.2"}

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._suffix = os.getpid()

    def namespace(self, node: str) -> str:
        return f"nbt-{node}-{self._suffix}"

    def __enter__(self) -> NamespaceHosts:
        for node in self.ADDRESSES:
            self.node_folder(node).mkdir(parents=True)
            _ip("netns", "add", self.namespace(node))
        left, right = (self.namespace(node) for node in self.ADDRESSES)
        _ip("link", "add", "wire", "netns", left, "type", "veth", "peer", "name", "wire", "netns", right)
        for node, address in self.ADDRESSES.items():
            _ip("-n", self.namespace(node), "address", "add", f"{address}/24", "dev", "wire")
            for interface in ("lo", "wire"):
                _ip("-n", self.namespace(node), "link", "set", interface, "up")
        return self

    def __exit__(self, *_: object) -> None:
        for node in self.ADDRESSES:
            _ip("netns", "delete", self.namespace(node))

    def node_folder(self, node: str) -> Path:
        return self._folder / "nodes" / node

    def check_confined(self, node: str) -> None: ...

    def own_files(self, node: str, name: str) -> OwnFiles:
        folder = self.node_folder(node) / name
        folder.mkdir(exist_ok=True)
        return OwnFiles(folder)

    def run(self, node: str, argv: Sequence[str], *, timeout_s: float = 10.0) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self._inside(node, argv), capture_output=True, text=True, timeout=timeout_s, check=False)

    def start(
        self, node: str, argv: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None, held: bool = False
    ) -> NamespaceProgram:
        with log.open("wb") as output:
            process = subprocess.Popen(
                self._inside(node, [*HELD, *argv] if held else argv),
                stdin=subprocess.PIPE if held else subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(env or {})},
            )
        return NamespaceProgram(process)

    def in_namespace(self, node: str, argv: Sequence[str], *, log: Path) -> NamespaceProgram:
        with log.open("wb") as output:
            command = ["nsenter", f"--net=/run/netns/{self.namespace(node)}", *argv]
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        return NamespaceProgram(process)

    def _inside(self, node: str, argv: Sequence[str]) -> list[str]:
        entering = ["nsenter", f"--net=/run/netns/{self.namespace(node)}", "unshare", "--mount"]
        return [*entering, "sh", "-c", _WITH_FOLDER, str(self.node_folder(node)), *argv]


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[NamespaceHosts]:
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    with NamespaceHosts(tmp_path) as both:
        yield both


@contextmanager
def captured(hosts: NamespaceHosts, node: str, file: Path) -> Iterator[None]:
    """Has what passes a host's wire captured, for the length of a with block."""
    capture = Capture(hosts, node, "wire", file)  # type: ignore[arg-type]
    capture.start()
    try:
        yield
    finally:
        time.sleep(RING_S)
        capture.stop()


def traffic_plan(application: str, **options: object) -> TrafficPlan:
    """Traffic from left to right, which is the return direction."""
    addresses = NamespaceHosts.ADDRESSES
    return TrafficPlan("talk", application, "left", "right", addresses["left"], addresses["right"], "return", options)
