# SPDX-License-Identifier: GPL-2.0-or-later
"""Real labs that are changed while they are up: what is the same keeps running, and whatever happens can be mended or removed."""

from __future__ import annotations

import copy
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from testbed import alteration, containers, cores, namespaces, recorded
from testbed.alteration import Applied
from testbed.deployment import Deployment
from testbed.errors import NetBoxITError
from testbed.lab import Lab
from testbed.processes import Process
from testbed.removal import container_of
from testbed.rootfs import CHECKOUT
from tests.waiting import until

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]

#: Two pairs of hosts, each with a netbox in between; the first pair has a wire of its own besides.
NETWORK: dict[str, Any] = {
    "name": "altered",
    "hosts": {
        "p": {"interfaces": {"net": "10.1.0.1/24", "wire": "10.2.0.1/24"}},
        "q": {"interfaces": {"net": "10.1.0.2/24", "wire": "10.2.0.2/24"}},
        "a": {"interfaces": {"net": "10.3.0.1/24"}},
        "b": {"interfaces": {"net": "10.3.0.2/24"}},
    },
    "netboxes": {
        "quiet": {"technology": "link", "stations": {"left": {}, "right": {}}},
        "busy": {"technology": "ethernet", "stations": {"left": {}, "right": {}, "third": {}}},
    },
    "routers": {"r": {"engine": "linux", "interfaces": {"net": "10.3.0.254/24"}}},
    "wires": [
        ["p.net", "quiet.left"],
        ["quiet.right", "q.net"],
        ["p.wire", "q.wire"],
        ["a.net", "busy.left"],
        ["busy.right", "b.net"],
        ["busy.third", "r"],
    ],
}

#: Sends numbered datagrams until it is asked to end, and says how many they were.
SENDER = """
import signal, socket, time
asked = []
signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.connect(("10.2.0.2", 7000))
number = 0
while not asked:
    out.send(str(number).encode())
    number += 1
    time.sleep(0.01)
print(number)
"""

#: Writes the number of each datagram that arrives.
RECEIVER = """
import socket
into = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
into.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
into.bind(("10.2.0.2", 7000))
print("ready", flush=True)
while True:
    print(into.recv(64).decode(), flush=True)
"""

#: A connection over which a line goes forth and back now and then; ends when it breaks.
ECHO = """
import socket
listening = socket.create_server(("10.1.0.2", 7001))
print("ready", flush=True)
connection, _ = listening.accept()
while data := connection.recv(64):
    connection.sendall(data)
"""
CALLER = """
import socket, time
connection = socket.create_connection(("10.1.0.2", 7001))
while True:
    connection.sendall(b"still there?")
    print(connection.recv(64).decode(), flush=True)
    time.sleep(0.05)
"""


def edited(*edits: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    network = copy.deepcopy(NETWORK)
    for edit in edits:
        edit(network)
    return network


def station_more(network: dict[str, Any]) -> None:
    network["hosts"]["c"] = {"address": "10.3.0.3/24"}
    network["netboxes"]["busy"]["stations"]["more"] = {}
    network["wires"].append(["c", "busy.more"])


def other_address(network: dict[str, Any]) -> None:
    network["hosts"]["b"]["interfaces"]["net"] = ["10.3.0.9/24", "fd00::9/64"]
    network["hosts"]["a"]["interfaces"]["net"] = ["10.3.0.1/24", "fd00::1/64"]
    network["hosts"]["b"]["gateway"] = "10.3.0.254"


def wire_more(network: dict[str, Any]) -> None:
    network["hosts"]["a"]["interfaces"]["side"] = "10.4.0.1/24"
    network["hosts"]["b"]["interfaces"]["side"] = "10.4.0.2/24"
    network["wires"].append(["a.side", "b.side"])


def live_parameter(network: dict[str, Any]) -> None:
    network["netboxes"]["busy"]["delay"] = "2 us"


def apply(network: dict[str, Any], folder: Path) -> Applied:
    (file := folder / "altered.yaml").write_text(json.dumps(network))  # JSON is YAML
    return alteration.apply(file, None)


def touched(applied: Applied) -> dict[str, str]:
    assert applied.difference is not None
    return {part.name: part.action for part in applied.difference.parts() if part.action != "unchanged"}


def reaches(lab: Lab, host: str, other: str) -> bool:
    return lab.run(host, ["ping", "-c", "1", "-W", "5", other]).returncode == 0


def inits(lab: Lab) -> dict[str, int]:
    """The first process of each node: another one after a restart."""
    return {node.name: min(cores.processes(node.container)) for node in lab.plan.nodes}


def started(lab: Lab, host: str, script: str, log: Path) -> Process:
    return lab.start(host, ["/usr/bin/python3", "-c", script], log=log)


def test_what_is_the_same_keeps_running_without_losing_anything(tmp_path: Path) -> None:
    lab = apply(NETWORK, tmp_path).lab
    try:
        got, answers = tmp_path / "got", tmp_path / "answers"
        receiver = started(lab, "q", RECEIVER, got)
        echo = started(lab, "q", ECHO, tmp_path / "echo")
        until(lambda: "ready" in got.read_text() and "ready" in (tmp_path / "echo").read_text())
        sender = started(lab, "p", SENDER, tmp_path / "sent")
        caller = started(lab, "p", CALLER, answers)
        until(lambda: answers.exists() and "still there?" in answers.read_text())

        before = inits(lab)
        applied = apply(edited(live_parameter), tmp_path)
        assert touched(applied) == {"busy": "changed"}
        assert '"set"' in (lab.node_folder("busy") / "journal.jsonl").read_text()
        assert inits(applied.lab) == before

        applied = apply(edited(live_parameter, station_more), tmp_path)
        assert touched(applied) == {"busy": "restarted", "c": "created", "c.eth0--busy.more": "created"}
        assert {name: pid for name, pid in inits(applied.lab).items() if name in before and name != "busy"} == {
            name: pid for name, pid in before.items() if name != "busy"
        }
        assert reaches(applied.lab, "a", "c")

        before = inits(applied.lab)
        applied = apply(edited(live_parameter, station_more, other_address, wire_more), tmp_path)
        assert touched(applied) == {"a": "changed", "b": "changed", "a.side--b.side": "created"}
        assert inits(applied.lab) == before
        for host, other in (("a", "b"), ("b", "fd00::1"), ("a", "10.4.0.2"), ("b", "c")):
            assert reaches(applied.lab, host, other), other

        applied = apply(edited(live_parameter, other_address), tmp_path)
        assert touched(applied) == {
            "a": "changed",
            "b": "changed",
            "busy": "restarted",
            "c": "removed",
            "c.eth0--busy.more": "removed",
            "a.side--b.side": "removed",
        }
        assert reaches(applied.lab, "a", "b")
        assert not (lab.folder / "nodes/c").exists()
        again = apply(edited(live_parameter, other_address), tmp_path)
        assert again.difference is not None
        assert again.difference.nothing()

        count = len(answers.read_text().splitlines())
        until(lambda: len(answers.read_text().splitlines()) > count)
        assert caller.poll() is None
        assert echo.poll() is None
        sender.terminate()
        assert sender.wait(10) == 0
        sent = int((tmp_path / "sent").read_text())
        until(lambda: str(sent - 1) in got.read_text().splitlines())
        assert receiver.poll() is None
        assert got.read_text().splitlines()[1:] == [str(number) for number in range(sent)]
    finally:
        lab.down()


#: Ends itself without notice right after a step.
KILLED = """
import os, signal, sys
from pathlib import Path
from testbed import alteration

step = getattr(alteration._Alteration, sys.argv[1])
def then_killed(self):
    step(self)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(alteration._Alteration, sys.argv[1], then_killed)
alteration.apply(Path(sys.argv[2]), None)
"""


def test_one_that_is_killed_at_any_step_is_mended_by_the_next_and_down_removes_it(tmp_path: Path) -> None:
    files = {}
    for name, network in (("old", NETWORK), ("new", edited(live_parameter, station_more, other_address, wire_more))):
        files[name] = tmp_path / f"{name}.yaml"
        files[name].write_text(json.dumps(network))
    lab = alteration.apply(files["old"], None).lab

    def killed(step: str, file: Path) -> None:
        ended = subprocess.run([sys.executable, "-c", KILLED, step, str(file)], cwd=CHECKOUT, env=os.environ, check=False)
        assert ended.returncode == -signal.SIGKILL
        assert recorded.is_changing(lab.folder)

    try:
        # From the old file, from the new one, from the new one, from the old one.
        courses = (
            ("_remove", "new", "new"),
            ("_make_wires", "old", "new"),
            ("_start", "old", "old"),
            ("_release_common", "new", "old"),
        )
        for step, to, then in courses:
            killed(step, files[to])
            mended = alteration.apply(files[then], None)
            assert touched(mended)
            assert touched(alteration.apply(files[then], None)) == {}
            assert reaches(mended.lab, "a", "b")
            assert mended.lab.alive().get("c", False) == (then == "new")
        killed("_make_wires", files["new"])
    finally:
        lab.down()


def test_one_that_fails_is_told_and_leaves_what_the_next_one_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = apply(NETWORK, tmp_path).lab
    try:

        def fail(*_: object) -> None:
            raise containers.ContainerFailed("no more containers today")

        with monkeypatch.context() as patched:
            patched.setattr(Deployment, "start_containers", fail)
            with pytest.raises(containers.ContainerFailed):
                apply(edited(station_more), tmp_path)
        assert any("ended half way" in note for note in Lab.open(lab.name).status()["notes"])
        applied = apply(edited(station_more), tmp_path)
        assert touched(applied)["c"] == "replaced"
        assert reaches(applied.lab, "a", "c")

        cores.kill_all(applied.lab.node("quiet").container)
        until(lambda: not applied.lab.alive()["quiet"])
        assert touched(apply(edited(station_more), tmp_path)) == {"quiet": "restarted"}
        assert reaches(applied.lab, "p", "10.1.0.2")

        namespaces.delete(applied.lab.node("b").namespace)
        with pytest.raises(NetBoxITError, match="the network of b is gone"):
            apply(edited(station_more, other_address), tmp_path)
        assert not recorded.is_changing(lab.folder)
        assert container_of(lab.folder, "b", applied.lab.node("b").container).folder.exists()
    finally:
        lab.down()
