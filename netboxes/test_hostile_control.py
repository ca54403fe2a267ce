# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever is said to a netbox's control socket, and however, it goes on, and answers those who ask as they should."""

from __future__ import annotations

import json
import os
import random
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from netboxes.engine.hostile_messages import deep, message
from netboxes.engine.real import RunningNetbox, running_netbox, wait_for
from netboxes.technology import technologies
from system import rings

MESSAGES = int(os.environ.get("NETBOXIT_HOSTILE_MESSAGES", "400"))
#: On a connection.
TOGETHER = 20
#: Of the technologies that are ends of a network.
ENDS: dict[str, dict[str, Any]] = {
    "endpoints": {"stations": {"eth": {"addresses": "10.0.0.1/24"}}},
    "generator": {"stations": {"out": {}}},
    "sink": {"stations": {"in": {}}},
}


@pytest.fixture(params=sorted(technologies()))
def netbox(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningNetbox]:
    """One of each technology, on memory wires that nobody else is on."""
    monkeypatch.setattr(rings, "FOLDER", tmp_path / "rings")
    with on_memory_wires(request.param, tmp_path) as running:
        yield running


@contextmanager
def on_memory_wires(technology: str, folder: Path) -> Iterator[RunningNetbox]:
    """A typical one."""
    model = technologies()[technology]
    parameters = model.model_validate(model.TYPICAL or ENDS[technology]).model_dump(mode="json")
    stations = [
        {"name": name, "port": {"kind": "memory", "wire": str(rings.create("lab", name, 1 << 16)), "end": "left"}}
        for name in parameters["stations"]
    ]
    with running_netbox(folder, technology, stations=stations, parameters=parameters) as running:
        wait_for(lambda: (folder / "control.sock").exists() or running.process.poll() is not None)
        yield running


def descriptors(netbox: RunningNetbox) -> int:
    return len(list(Path(f"/proc/{netbox.process.pid}/fd").iterdir()))


def names_of(netbox: RunningNetbox) -> tuple[str, ...]:
    """What can be set, as the netbox says when it is asked for something else, and its ports."""
    refused = netbox.ask(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "set", "params": {"parameter": "?", "value": 1}}))
    words = refused["error"]["message"].replace(",", " ").split()
    return (*words, *(port["name"] for port in netbox.call("status")["ports"]))


def told(netbox: RunningNetbox, text: bytes) -> None:
    """Says it on a connection of its own, and goes without having read more than what is there."""
    with netbox.connect() as client, suppress(BrokenPipeError, ConnectionResetError):
        client.sendall(text)
        client.shutdown(socket.SHUT_WR)
        while client.recv(65536):
            pass


def memory_kib(netbox: RunningNetbox) -> int:
    status = Path(f"/proc/{netbox.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def test_nothing_that_is_said_ends_a_netbox_or_costs_it_a_descriptor(netbox: RunningNetbox) -> None:
    before, names = descriptors(netbox), names_of(netbox)
    chance = random.Random(7)
    for _ in range(MESSAGES // TOGETHER):
        told(netbox, b"".join(message(chance, names) for _ in range(TOGETHER)))
        assert netbox.process.poll() is None
    for where in ("id", "method", "params", "parameter", "value", "port"):
        assert "error" in netbox.ask(deep(where).decode().rstrip("\n"))
    assert netbox.call("status")["name"] == "x"
    wait_for(lambda: descriptors(netbox) == before)


@pytest.fixture
def cable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningNetbox]:
    monkeypatch.setattr(rings, "FOLDER", tmp_path / "rings")
    with on_memory_wires("ethernet", tmp_path) as running:
        yield running


def test_a_line_without_an_end_is_cut_off_and_not_kept(cable: RunningNetbox) -> None:
    before = memory_kib(cable)
    with cable.connect() as client, pytest.raises((BrokenPipeError, ConnectionResetError)):
        for _ in range(1600):
            client.sendall(b"9" * 65536)
    assert cable.call("status")["ready"]
    assert memory_kib(cable) < before + 4096


def test_those_who_are_too_many_are_turned_away_and_the_others_served(cable: RunningNetbox) -> None:
    before = descriptors(cable)
    with ExitStack() as clients:
        for _ in range(300):
            client = clients.enter_context(socket.socket(socket.AF_UNIX))
            client.setblocking(False)
            with suppress(BlockingIOError):
                client.connect(str(cable.folder / "control.sock"))
            with suppress(OSError):
                client.send(b'{"jsonrpc": "2.0", "id"')
        wait_for(lambda: descriptors(cable) > before)
        assert descriptors(cable) <= before + 40
    wait_for(lambda: descriptors(cable) == before)
    assert cable.call("status")["ready"]


def test_one_who_asks_and_never_reads_holds_nobody_up_and_is_cut_off(cable: RunningNetbox) -> None:
    before = descriptors(cable)
    with cable.connect() as deaf:
        deaf.setblocking(False)
        requests = b'{"jsonrpc": "2.0", "id": 1, "method": "statistics"}\n' * 1000
        assert cable.call("status")["ready"]
        for _ in range(200):
            with suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
                deaf.send(requests)
            assert cable.call("status")["ready"]
    wait_for(lambda: descriptors(cable) == before)
    assert memory_kib(cable) < 400_000
