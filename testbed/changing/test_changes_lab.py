# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab of a host, a Click router, a satellite link and another host, and what can be changed in it while it is up."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from contracts.errors import BadTopology, NetBoxITError
from contracts.installation import CHECKOUT
from contracts.plan import RealtimeSupport
from system import cores
from testbed.labs.lab import Lab, NodeFailed
from testbed.observation.interval import interval
from testbed.observation.metrics_page import page
from testbed.observation.reading import LabReader
from testbed.plans.planning import plan_file
from tests.documents import documents
from tests.traces import traces

pytestmark = pytest.mark.lab

NETWORK = """\
name: sky
hosts:
  a: {address: 10.10.0.11/24, gateway: 10.10.0.1}
  b: {address: 10.20.0.20/24, gateway: 10.20.0.1}
netboxes:
  space: {technology: satellite, stations: {terminal: {role: terminal}, hub: {role: gateway}}, delay: 5 ms,
          return_rate: 2 Mbit/s, forward_rate: 10 Mbit/s}
routers:
  meoc: {configuration: click/meoc.click, interfaces: {ian: 10.10.0.1/24, jan: 10.20.0.1/24}}
  linux: {engine: linux, interfaces: {lan: 10.30.0.1/24}}
wires:
  - [a, meoc.ian]
  - [meoc.jan, space.terminal]
  - [space.hub, b]
  - [c, linux]
"""
NETWORK = NETWORK.replace("netboxes:", "  c: {address: 10.30.0.2/24}\nnetboxes:")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("changes")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("NETBOXIT_STATE", str(folder / "state"))
        before = traces(folder)
        (folder / "sky.yaml").write_text(NETWORK)
        plan = plan_file(folder / "sky.yaml", lab=f"sky{os.getpid()}", realtime=RealtimeSupport(False, None, "not needed here"))
        with Lab.up_and_ready(plan) as lab:
            yield lab
        assert traces(folder) == before


def netboxit(*words: str) -> Result:
    """The command line in this process; what it refuses is raised."""
    from netboxit import app

    return CliRunner().invoke(app, words, catch_exceptions=False)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20.0
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def answer(*words: str) -> dict[str, Any]:
    """What a command says last, but for which document that is."""
    result = netboxit(*words, "--json")
    assert result.exit_code == 0
    return {key: value for key, value in documents(result.stdout)[-1].items() if key not in ("format", "version")}


def test_a_handler_is_read_written_and_listed(lab: Lab) -> None:
    assert netboxit("handler", "meoc", "routes.lookup", "--about", "10.20.0.20").stdout == "2\n"
    assert netboxit("handler", "meoc", "jan_be.capacity", "90").stdout == "meoc: jan_be.capacity written\n"
    assert answer("handler", "meoc", "jan_be.capacity") == {"router": "meoc", "handler": "jan_be.capacity", "value": "90"}
    listed = netboxit("handler", "meoc", "jan_be", "--list").stdout
    assert "capacity rw" in listed and "drops r" in listed and "reset w" in listed


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("a", "x.y"), "a is a host.*netboxit exec a"),
        (("space", "x.y"), "space is a netbox.*netboxit set space"),
        (("linux", "x.y"), "linux routes by the kernel.*ip route"),
        (("mecc", "x.y"), "no node mecc"),
        (("meoc", "jan_bee.drops"), 'No element named .jan_bee.; did you mean "jan_be"'),
        (("meoc", "jan_be.drosp"), 'No handler named .jan_be.drosp.; did you mean "drops"'),
        (("meoc", "jan_be.length", "3"), "read-only"),
        (("meoc",), "name a handler"),
        (("meoc", "jan_bee", "--list"), 'no element "jan_bee"; did you mean "jan_be"'),
    ],
)
def test_what_has_no_such_handler_is_refused_with_what_to_use(lab: Lab, words: tuple[str, ...], told: str) -> None:
    with pytest.raises(NetBoxITError, match=told):
        netboxit("handler", *words)


def lines(lab: Lab) -> list[dict[str, Any]]:
    """What the lab's log of events has."""
    return [json.loads(line) for line in (lab.folder / "events.jsonl").read_text().splitlines()]


def ping(lab: Lab, count: int = 1) -> bool:
    return lab.run("a", ["ping", "-c", str(count), "-i", "0.05", "-W", "2", "10.20.0.20"]).returncode == 0


def test_a_wire_is_unplugged_by_one_of_its_ends_and_recorded(lab: Lab) -> None:
    assert netboxit("set", "b--space", "state=down").stdout == "wire space.hub--b.eth0 down\n"
    assert lab.run("b", ["cat", "/sys/class/net/eth0/carrier"]).stdout == "0\n"
    assert answer("set", "b", "state=up") == {
        "changes": [
            {
                "wire": "space.hub--b.eth0",
                "state": "up",
                "node": "space",
                "interface": "hub",
                "kind": "wire",
                "words": "wire space.hub--b.eth0 up",
            }
        ]
    }
    assert [line["state"] for line in lines(lab)[-2:]] == ["down", "up"]
    assert ping(lab)


def test_a_router_that_is_rebooted_has_forgotten_what_was_written_and_starts_with_its_configuration(lab: Lab) -> None:
    netboxit("set", "meoc", "jan_be.capacity=55")
    assert netboxit("handler", "meoc", "jan_be.capacity").stdout == "55\n"
    netboxit("set", "meoc", "reboot=100 ms")
    lab.wait_ready()
    assert netboxit("handler", "meoc", "jan_be.capacity").stdout == "100\n"
    assert [line["power"] for line in lines(lab)[-2:]] == ["off", "on"]
    assert ping(lab)


def test_a_netbox_that_is_rebooted_has_forgotten_what_was_set_and_its_neighbours_go_on(lab: Lab) -> None:
    processes = {node: cores.processes(lab.node(node).container) for node in ("space", "meoc", "b")}
    netboxit("set", "space", "delay=123 ms")
    said = netboxit("set", "space", "reboot=100 ms").stdout
    assert said.splitlines() == ["space: power off (what was set by hand is lost: delay 123 ms)", "space: power on"]
    now = {node: cores.processes(lab.node(node).container) for node in processes}
    assert not now["space"] & processes["space"] and now["meoc"] == processes["meoc"] and now["b"] == processes["b"]
    with lab.control("space") as control:
        assert control.status()["ready"]
    wait_for(lambda: ping(lab))
    assert netboxit("set", "space", "reboot=100 ms").stdout.splitlines()[0] == "space: power off"


def test_another_configuration_takes_over_and_is_there_after_a_reboot(lab: Lab, tmp_path: Path) -> None:
    file = tmp_path / "other.click"
    file.write_text((CHECKOUT / "click/meoc.click").read_text().replace("jan_be :: Queue(100)", "jan_be :: Queue(42)"))
    netboxit("set", "meoc", f"configuration={file}")
    assert netboxit("handler", "meoc", "jan_be.capacity").stdout == "42\n"
    assert "text" not in lines(lab)[-1]
    netboxit("set", "meoc", "reboot=100 ms")
    lab.wait_ready()
    assert netboxit("handler", "meoc", "jan_be.capacity").stdout == "42\n"
    file.write_text("FromDevice($IAN_DEV) -> Nothing;\n")
    with pytest.raises(BadTopology, match=r"other.click:1:1: router meoc: undeclared element .Nothing."):
        netboxit("set", "meoc", f"configuration={file}")
    assert netboxit("handler", "meoc", "jan_be.capacity").stdout == "42\n"
    netboxit("set", "meoc", "configuration=click/meoc.click")
    assert ping(lab)


def carried(lab: Lab) -> tuple[int, float]:
    """How many of 100 packets of 1200 bytes come back, which are sent with 960 kbit/s, and how many seconds that took."""
    said = lab.run("a", ["ping", "-q", "-c", "100", "-i", "0.01", "-s", "1172", "-W", "1", "10.20.0.20"]).stdout
    found = re.search(r"100 packets transmitted, (\d+) received.* time (\d+)ms", said)
    assert found is not None, said
    return int(found[1]), int(found[2]) / 1e3


def stages_of(router: str) -> Any:
    return json.loads(netboxit("handler", router, "stages").stdout)


def test_an_interfaces_policer_comes_changes_its_rate_and_goes_while_the_router_runs(lab: Lab) -> None:
    router = cores.processes(lab.node("meoc").container)
    assert ping(lab) and stages_of("meoc") == {"ian": [], "jan": []}
    police = "[{stage: police, rate: 240 kbit/s, burst: 3 kB}]"
    assert netboxit("set", "meoc", f"ian.stages={police}").stdout == f"meoc: ian.stages {police}\n"
    with closing(LabReader(lab)) as reader:
        before = reader.read()
        received, took_s = carried(lab)
        after = reader.read()
    assert 15 <= received <= 1 + (3000 + 240e3 / 8 * took_s) / 1200
    figures = next(node for node in interval(lab.plan, before, after)["nodes"] if node["name"] == "meoc")
    (stage,) = figures["stages"]
    assert (stage["port"], stage["stage"], stage["counts"]["dropped"]) == ("ian", "police", 100 - received)
    assert figures["lost"]["policed"] == 100 - received
    dropped = f'lab="{lab.name}",node="meoc",port="ian",place="0",stage="police",what="dropped"'
    assert f"netboxit_stage_value{{{dropped}}} {100 - received}\n" in page([(lab.plan, after)])
    told = lines(lab)[-1]
    assert (told["kind"], told["router"], told["parameter"], told["written"]) == ("stages", "meoc", "ian.stages", police)
    assert [(stage["stage"], stage["rate"], stage["burst"]) for stage in told["value"]] == [("police", 240e3, 3000.0)]
    assert stages_of("meoc") == {"ian": told["value"], "jan": []}

    for wrong, why in (
        ("ian.stages=[{stage: police, rate: 0 bit/s}]", r"ian.stages\[0\].rate: 0 bit/s is outside"),
        ("iam.stages=[]", 'router meoc has no interface "iam"; did you mean "ian"'),
    ):
        with pytest.raises(NetBoxITError, match=why):
            netboxit("set", "meoc", wrong)
    with pytest.raises(NetBoxITError, match=r"write of Click handler stages refused \(520\): stages of interface 'ian': police"):
        netboxit("handler", "meoc", "stages", 'ian [{"stage": "police", "rate": 0}]')
    assert stages_of("meoc") == {"ian": told["value"], "jan": []}

    netboxit("set", "meoc", "ian.stages=[{stage: police, rate: 2 Mbit/s}]")
    assert carried(lab)[0] == 100
    netboxit("set", "meoc", "ian.stages=[]")
    assert carried(lab)[0] == 100
    assert cores.processes(lab.node("meoc").container) == router


def test_stages_that_were_set_by_hand_are_lost_with_the_power_and_that_is_told(lab: Lab) -> None:
    netboxit("set", "meoc", "jan.stages=[{stage: mark, dscp: ef}]")
    said = netboxit("set", "meoc", "reboot=100 ms").stdout
    assert re.match(r"meoc: power off \(what was set by hand is lost: jan.stages \[\{.*dscp: 46.*stage: mark\}\]\)\n", said)
    lab.wait_ready()
    assert stages_of("meoc") == {"ian": [], "jan": []}
    assert netboxit("set", "meoc", "reboot=100 ms").stdout.splitlines()[0] == "meoc: power off"
    lab.wait_ready()
    assert ping(lab)


def test_a_frozen_netbox_computes_nothing_meanwhile(lab: Lab, tmp_path: Path) -> None:
    """Frames that came meanwhile waited at its ports, and those that waited for more than 100 ms are dropped there."""
    with lab.control("space") as control:
        before = control.statistics()["ports"][0]
        pings = lab.start("a", ["ping", "-i", "0.01", "10.20.0.20"], log=tmp_path / "ping")
        wait_for(lambda: control.statistics()["ports"][0]["received"] > before["received"] + 5)
        netboxit("set", "space", "freeze=500 ms")
        wait_for(lambda: control.statistics()["ports"][0]["overload_drops"] > before["overload_drops"] + 10)
        pings.interrupt()
        pings.wait(10)
    assert ping(lab)


@pytest.mark.parametrize(
    ("drill", "options", "first", "last"),
    [
        ("satellite-fade", ("depth=2 dB", "ramp=400 ms", "hold=50 ms"), "space: fade 0.5 dB", "space: fade 0 dB"),
        ("router-reboot", ("node=meoc", "away=50 ms"), "meoc: power off", "meoc: power on"),
        ("emulator-freeze", ("freeze=20 ms",), "space: frozen for 20 ms", "space: frozen for 20 ms"),
        (
            "link-flap",
            ("wire=[space.hub, b]", "times=2", "down=50 ms", "up=50 ms"),
            "wire space.hub--b.eth0 down",
            "wire space.hub--b.eth0 up",
        ),
    ],
)
def test_a_drill_puts_everything_back_at_its_end(lab: Lab, drill: str, options: tuple[str, ...], first: str, last: str) -> None:
    done = netboxit("drill", drill, *options).stdout.splitlines()
    assert (done[0], done[-1]) == (first, last)
    assert [line["words"] for line in lines(lab)[-len(done) :]] == done
    lab.wait_ready()
    assert ping(lab)


def test_a_drill_whose_command_was_killed_is_told_and_put_back(lab: Lab) -> None:
    command = [sys.executable, str(CHECKOUT / "netboxit.py"), "drill", "link-flap", "wire=[space.hub, b]", "down=1 h"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as drill:
        wait_for(lambda: lab.run("b", ["cat", "/sys/class/net/eth0/carrier"]).stdout == "0\n")
        with pytest.raises(NetBoxITError, match="drill link-flap is going on"):
            netboxit("drill", "router-reboot", "node=meoc")
        with pytest.raises(NetBoxITError, match=r"drill link-flap is going on.*Ctrl-C"):
            netboxit("drill", "--end")
        drill.kill()
    assert "drill link-flap was cut short" in netboxit("status").stdout
    assert netboxit("drill", "--end").stdout == "drill link-flap was cut short; put back:\nwire space.hub--b.eth0 up\n"
    assert netboxit("drill", "--end").stdout == "no drill was left unfinished\n"
    assert ping(lab)


def test_a_drill_that_is_interrupted_puts_everything_back(lab: Lab) -> None:
    command = [sys.executable, str(CHECKOUT / "netboxit.py"), "drill", "router-reboot", "node=meoc", "away=1 h"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as drill:
        wait_for(lambda: not lab.alive()["meoc"])
        with pytest.raises(NodeFailed, match="node meoc does not run"):
            lab.exec_argv("meoc", ["true"])
        drill.send_signal(signal.SIGINT)
        _, told = drill.communicate(timeout=20)
    assert (drill.returncode, told.splitlines()[-1]) == (1, "netboxit: interrupted; what was changed was put back")
    lab.wait_ready()
    assert ping(lab) and "cut short" not in netboxit("status").stdout
