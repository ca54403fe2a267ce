# SPDX-License-Identifier: GPL-2.0-or-later
"""Real labs that are changed while they are up: what is the same keeps running."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from contracts.installation import CHECKOUT
from system.processes import Process
from testbed.labs.lab import Lab
from testbed.nodes import routers
from tests.altered_network import (
    NETWORK,
    apply,
    edited,
    inits,
    live_parameter,
    other_address,
    reaches,
    station_more,
    touched,
    wire_more,
)
from tests.waiting import until

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]

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

        with applied.lab.control("busy") as control:
            control.set("delay", 0.00004)
        applied = apply(edited(live_parameter, station_more), tmp_path)
        assert applied.difference is not None
        (busy,) = (node for node in applied.difference.nodes if node.name == "busy")
        assert "what was set by hand is lost: delay 40 us" in busy.reasons
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


#: Two hosts at a Click router.
CLICK: dict[str, Any] = {
    "name": NETWORK["name"],
    "hosts": {
        "p": {"address": "10.1.0.1/24", "gateway": "10.1.0.254"},
        "q": {"address": "10.2.0.1/24", "gateway": "10.2.0.254"},
    },
    "routers": {"r": {"configuration": "meoc.click", "interfaces": {"ian": "10.1.0.254/24", "jan": "10.2.0.254/24"}}},
    "wires": [["p", "r.ian"], ["r.jan", "q"]],
}
POLICE = {"stage": "police", "rate": "100 kbit/s"}


def test_a_click_router_gets_other_stages_and_loses_them_while_it_runs(tmp_path: Path) -> None:
    """The first ones, others, more together with another configuration, none."""
    configuration = tmp_path / "meoc.click"
    shutil.copyfile(CHECKOUT / "click/meoc.click", configuration)
    lab = apply(CLICK, tmp_path).lab
    try:
        before = inits(lab)
        for added, stages in (
            ("", {"ian": [POLICE]}),
            ("", {"ian": [{**POLICE, "rate": "1 Mbit/s"}]}),
            ("\nadded :: Idle -> Discard;\n", {"ian": [POLICE], "jan": [{"stage": "mark", "dscp": "ef"}]}),
            ("", {}),
        ):
            configuration.write_text(configuration.read_text() + added)
            network = {**CLICK, "routers": {"r": {**CLICK["routers"]["r"], "stages": stages}}}
            applied = apply(network, tmp_path)
            assert touched(applied) == {"r": "changed"}
            assert inits(applied.lab) == before
            with routers.Handlers(lab.node_folder("r") / routers.CONTROL) as handlers:
                now = {name: own for name, own in handlers.stages().items() if own}
            assert now == routers.planned_stages(applied.plan.node("r"))
            assert [*now] == [*stages]
            assert reaches(applied.lab, "p", "10.2.0.1")
            again = apply(network, tmp_path)
            assert again.difference is not None
            assert again.difference.nothing()
    finally:
        lab.down()


def test_a_click_routers_new_configuration_takes_over_while_it_runs(tmp_path: Path) -> None:
    configuration = tmp_path / "meoc.click"
    shutil.copyfile(CHECKOUT / "click/meoc.click", configuration)
    lab = apply(CLICK, tmp_path).lab
    try:
        before = inits(lab)
        configuration.write_text(configuration.read_text() + "\nadded :: Idle -> Discard;\n")
        applied = apply(CLICK, tmp_path)
        assert touched(applied) == {"r": "changed"}
        assert inits(applied.lab) == before
        with routers.Handlers(lab.node_folder("r") / routers.CONTROL) as handlers:
            assert "added" in handlers.elements()
        assert reaches(applied.lab, "p", "10.2.0.1")
    finally:
        lab.down()
