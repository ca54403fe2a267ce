# SPDX-License-Identifier: GPL-2.0-or-later
"""A hundred TCP senders in one container, each a host with an address of its own, and the kernel's TCP at the other end."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from contracts.plan import RealtimeSupport
from testbed.description.topology_file import load
from testbed.labs.lab import Lab
from testbed.plans.resolve import resolve
from tests.waiting import until

pytestmark = [pytest.mark.lab, pytest.mark.patient, pytest.mark.usefixtures("nothing_left")]

SENDERS = 100
SIZE = 30_000
TAKES, RESETS, CLOSED = 5001, 5002, 5003
#: Tells of each connection who sent how much in it; connections to the second port are reset at once (SO_LINGER of 0 s).
SINK = f"""
import json, selectors, socket, struct
chosen, received = selectors.DefaultSelector(), {{}}
for port in ({TAKES}, {RESETS}):
    chosen.register(socket.create_server(("", port), backlog=1024), selectors.EVENT_READ, port)
while True:
    for key, _ in chosen.select():
        if key.data == {RESETS}:
            reset, _ = key.fileobj.accept()
            reset.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            reset.close()
        elif key.data == {TAKES}:
            connection, peer = key.fileobj.accept()
            received[peer[0]] = 0
            chosen.register(connection, selectors.EVENT_READ, peer[0])
        elif data := key.fileobj.recv(65536):
            received[key.data] += len(data)
        else:
            chosen.unregister(key.fileobj)
            key.fileobj.close()
            print(json.dumps([key.data, received[key.data]]), flush=True)
"""


def flow(name: str, port: int) -> dict[str, Any]:
    told = {"name": name, "host": "lan", "application": "bulk", "role": "sender", "destination": "10.0.255.1", "port": port}
    return {**told, "size": f"{SIZE} B", "start": "1 s", "apart": "5 ms"}


@contextmanager
def lab(folder: Path, *flows: dict[str, Any]) -> Iterator[Lab]:
    (folder / "sink.py").write_text(SINK)
    network = {
        "name": f"senders{os.getpid()}",
        "hosts": {
            "server": {
                "address": "10.0.255.1/16",
                "files": {"/srv/sink.py": "sink.py"},
                "start": "exec python3 /srv/sink.py > /srv/received",
            }
        },
        "netboxes": {
            "crowd": {
                "technology": "endpoints",
                "stations": {"lan": {"hosts": SENDERS, "addresses": "10.0.0.1/16"}},
                "flows": flows,
            },
            "bottleneck": {
                "technology": "link",
                "stations": {"near": {}, "far": {}},
                "rate": "20 Mbit/s",
                "delay": "20 ms",
                "queue": {"bytes": "100 kB"},
            },
        },
        "wires": [["crowd.lan", "bottleneck.near"], ["bottleneck.far", "server"]],
    }
    (folder / "senders.yaml").write_text(json.dumps(network))
    with Lab.up_and_ready(resolve(load(folder / "senders.yaml"), realtime=RealtimeSupport(False, None, ""))) as up:
        yield up


def transfers(lab: Lab, name: str) -> list[dict[str, Any]]:
    """The connections of the flows of that name."""
    with lab.control("crowd") as control:
        flows: list[dict[str, Any]] = control.statistics()["segment"]["flows"]
    return [flow["connections"][0] for flow in flows if flow["name"].startswith(name)]


def received(lab: Lab) -> list[tuple[str, int]]:
    lines = lab.run("server", ["cat", "/srv/received"]).stdout.splitlines()
    return [(peer, size) for peer, size in map(json.loads, lines)]


def kernel_counters(lab: Lab) -> dict[str, int]:
    """Of RFC 1213, and Linux's of wrong checksums."""
    lines = lab.run("server", ["cat", "/proc/net/snmp"]).stdout.splitlines()
    return {
        f"{names.partition(':')[0]}.{name}": int(value)
        for names, values in zip(lines[::2], lines[1::2], strict=True)
        for name, value in zip(names.split()[1:], values.split()[1:], strict=True)
    }


def test_a_hundred_senders_in_one_container_are_a_hundred_hosts_to_a_kernel(tmp_path: Path) -> None:
    with lab(tmp_path, flow("takes", TAKES)) as up:
        until(lambda: len(received(up)) == SENDERS, "each sender's data has come")
        assert sorted(received(up)) == sorted((f"10.0.0.{number}", SIZE) for number in range(1, SENDERS + 1))
        until(lambda: all(transfer["completed_s"] for transfer in transfers(up, "takes")), "each sender knows")
        assert [transfer["acknowledged"] for transfer in transfers(up, "takes")] == [SIZE] * SENDERS
        assert [node.name for node in up.plan.nodes] == ["server", "crowd", "bottleneck"]
        neighbours = json.loads(up.run("server", ["ip", "-json", "neighbour"]).stdout)
        assert len({entry["lladdr"] for entry in neighbours}) == SENDERS
        counted = kernel_counters(up)
        assert counted["Tcp.InSegs"] > SENDERS * SIZE // 1448
        wrong = ("Ip.InHdrErrors", "Ip.InAddrErrors", "Tcp.InErrs", "Tcp.InCsumErrors")
        assert {name: counted[name] for name in wrong} == dict.fromkeys(wrong, 0)


@pytest.mark.parametrize(("name", "port"), [("resets", RESETS), ("closed", CLOSED)])
def test_senders_that_are_reset_or_refused_say_so_and_the_netbox_goes_on(tmp_path: Path, name: str, port: int) -> None:
    with lab(tmp_path, flow(name, port)) as up:
        until(lambda: all(transfer["failure"] for transfer in transfers(up, name)), "each sender has failed")
        assert len(transfers(up, name)) == SENDERS
        assert not any(transfer["completed_s"] for transfer in transfers(up, name))
        assert up.alive()["crowd"]
