# SPDX-License-Identifier: GPL-2.0-or-later
"""Traffic through labs that were up before and are up afterwards. One netbox has always something to do, one seldom."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from contracts.installation import CHECKOUT
from contracts.plan import RealtimeSupport
from ownership.state import NoSuchLab
from system import cores
from testbed import lab_traffic
from testbed.changing import alteration, apply_now
from testbed.description import settings
from testbed.labs import measuring
from testbed.labs.event_log import EventLog
from testbed.labs.lab import Lab
from testbed.labs.measuring import LabMeasured
from testbed.plans.planning import plan_file
from testbed.run import Outcome
from testbed.runs.hosts_of_lab import NameTaken
from tests.waiting import until

pytestmark = [pytest.mark.lab, pytest.mark.patient]

DELAY_MS = 20.0
NETWORK = """\
name: NAME
centre: b
hosts:
  a: {address: 10.97.0.1/24}
  b: {address: 10.97.0.2/24}
netboxes:
  line: {technology: link, stations: {a: , b: }, delay: 20 ms}
wires:
  - [a, line.a]
  - [line.b, b]
events:
  - {at: 1 s, netbox: line, set: {delay: 500 ms}}
"""
RADIO = """\
name: NAME
centre: b
hosts:
  a: {address: 10.97.0.1/24}
  b: {address: 10.97.0.2/24}
netboxes:
  radio: {technology: wimax, stations: {mobile: {role: subscriber}, base: {role: base}}, distance: 1 km}
wires:
  - [a, radio.mobile]
  - [radio.base, b]
"""
#: 50 datagrams a second: 200 bytes of payload and 28 of headers.
FLOW = "traffic:\n  flow: {application: udp-flow, from: a, to: b, rate: 91.2 kbit/s, payload: 200 B, duration: 2 s}\n"
COUNT = 100


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nothing_left: None) -> Path:
    (tmp_path / "traffic.yaml").write_text(FLOW)
    return tmp_path


@pytest.fixture
def lab(folder: Path) -> Iterator[Lab]:
    with up(folder, NETWORK) as lab:
        yield lab


def up(folder: Path, network: str) -> Lab:
    (file := folder / "network.yaml").write_text(network.replace("NAME", f"standing{os.getpid()}"))
    return Lab.up_and_ready(plan_file(file, realtime=RealtimeSupport(False, None, "not needed here")))


def send(
    folder: Path, *said: str, file: str = "traffic.yaml", lab: str | None = None, duration_s: float | None = None
) -> Outcome:
    return lab_traffic.send(
        folder / file,
        lab=lab,
        duration_s=duration_s,
        progress=lambda _: None,
        results=folder / "results",
        settings=settings.read(said),
    )


def is_as_it_was(lab: Lab) -> None:
    """It answers, nobody measures it, and there is nothing of the applications."""
    # A netbox that has what other labs leave of a core may stand still for seconds.
    assert lab.run("a", ["ping", "-c", "1", "-w", "30", "b"]).returncode == 0
    assert measuring.run_of(lab.folder) is None
    for host in ("a", "b"):
        assert "mgen" not in lab.run(host, ["ps", "-e", "-o", "comm="]).stdout
        assert not (lab.node_folder(host) / "flow").exists()


def of_flow(outcome: Outcome) -> dict[str, Any]:
    (flow,) = metrics(outcome.folder)["flows"]
    return dict(flow)


def test_each_traffic_has_its_own_figures_and_the_lab_stays(lab: Lab, folder: Path) -> None:
    processes = cores.processes(lab.node("line").container)
    first, second = send(folder), send(folder, "traffic.flow.payload=400 B", duration_s=1.0)
    is_as_it_was(lab)
    assert processes and cores.processes(lab.node("line").container) == processes
    for outcome, count, payload in ((first, COUNT, 200), (second, None, 400)):
        flow = of_flow(outcome)
        frames = pl.read_parquet(outcome.folder / "frames.parquet").filter(pl.col("flow") == "flow")
        assert set(frames["payload_bytes"]) == {payload} and frames.height == flow["packets"]
        assert count is None or flow["packets"] in range(count - 1, count + 2)
        assert flow["loss_ratio"] == 0.0
        (segment,) = [one for one in metrics(outcome.folder)["segments"] if one["direction"] == "return"]
        # As declared: what more there is the netbox says of itself.
        late_ms = metrics(outcome.folder)["lateness_us"]["line"]["max"] / 1e3
        assert segment["one_way_delay_ms"]["count"] >= frames.height
        assert DELAY_MS - 1e-3 <= segment["one_way_delay_ms"]["p50"] <= DELAY_MS + late_ms + 0.1
        assert metrics(outcome.folder)["gaps"] and all(
            gap["us"]["count"] for gap in metrics(outcome.folder)["gaps"] if gap["direction"] == "return"
        )
        assert metrics(outcome.folder)["overhead_us"]["p50"] is not None
        assert not [
            reason for reason in metrics(outcome.folder)["verdict"]["reasons"] if "record" in reason or "statistics" in reason
        ]
    # What the netbox had counted of the first is not in the second.
    assert metrics(second.folder)["netboxes"]["line"]["received"] < metrics(first.folder)["netboxes"]["line"]["received"]


def test_events_of_a_topology_do_not_happen_and_what_was_changed_by_hand_is_told(lab: Lab, folder: Path) -> None:
    apply_now.change(lab, "line", "delay=40 ms")
    flow = "traffic={flow: {application: udp-flow, from: a, to: b, rate: 1 Mbit/s}}"
    outcome = send(folder, flow, file="network.yaml", duration_s=2.0)
    notes = "\n".join(metrics(outcome.folder)["verdict"]["notes"])
    assert "events did not happen (1)" in notes and "line was not as planned when the traffic began: delay 40 ms" in notes
    assert of_flow(outcome)["one_way_delay_ms"]["p50"] == pytest.approx(40.0, abs=5.0)
    # Both ways, and still so. A netbox that has what other labs leave of a core may stand still for seconds.
    answer = lab.run("a", ["ping", "-c", "1", "-w", "30", "b"]).stdout
    assert "time=" in answer, answer
    assert float(answer.partition("time=")[2].split()[0]) >= 80.0


def test_a_change_by_hand_is_in_both_records_and_other_traffic_and_apply_are_refused(lab: Lab, folder: Path) -> None:
    traffic = started(folder, "--duration", "4 s")
    try:
        until(lambda: EventLog.of_traffic(lab.folder), "the traffic begins")
        made = apply_now.change(lab, "line", "delay=30 ms")
        with pytest.raises(LabMeasured, match=r"is measured by the run .* wait for its end, or interrupt it"):
            send(folder)
        with pytest.raises(LabMeasured, match="`apply`"):
            alteration.apply(folder / "network.yaml", lab.name, lambda _: None)
    finally:
        traffic.wait(60)
    (run,) = (folder / "results/runs").iterdir()
    for log in (run / "events.jsonl", lab.folder / "events.jsonl"):
        assert made[0]["words"] in log.read_text()
    assert [event["by_run"] for event in metrics(run)["events"] if event["kind"] == "parameter"] == [True]
    is_as_it_was(lab)


def test_ctrl_c_keeps_what_was_measured_and_the_lab(lab: Lab, folder: Path) -> None:
    traffic = started(folder, "--duration", "60 s")
    until(lambda: EventLog.of_traffic(lab.folder), "the traffic begins")
    until(lambda: "mgen" in lab.run("a", ["ps", "-e", "-o", "comm="]).stdout, "the flow is sent")
    traffic.send_signal(signal.SIGINT)
    _, said = traffic.communicate(timeout=60)
    assert traffic.returncode == 1 and f"lab {lab.name} stays up" in said
    is_as_it_was(lab)
    (run,) = (folder / "results/runs").iterdir()
    assert "interrupted" in (run / "run.json").read_text()
    assert (run / "nodes/line/frames.bin").stat().st_size > 16 and (run / "nodes/line/statistics.json").exists()
    send(folder, duration_s=1.0)


def test_what_the_programs_of_the_traffic_leave_behind_goes_with_them(lab: Lab, folder: Path) -> None:
    line = "setsid sleep 987 & echo left > file; sleep 1"
    own = lab.start("a", ["sleep", "654"], log=folder / "own.log")
    said = f"traffic={{work: {{application: command, from: a, to: b, run: '{line}', duration: 10 s}}}}"
    send(folder, said)
    running = lab.run("a", ["ps", "-e", "-o", "args="]).stdout
    assert "sleep 987" not in running and "sleep 654" in running
    assert not (lab.node_folder("a") / "work").exists()
    own.kill()


def test_what_a_user_has_in_a_host_is_not_written_over(lab: Lab, folder: Path) -> None:
    lab.run("a", ["sh", "-c", "mkdir /run/netboxit/flow && echo mine > /run/netboxit/flow/mine"])
    with pytest.raises(NameTaken, match="has /run/netboxit/flow already"):
        send(folder)
    assert lab.run("a", ["cat", "/run/netboxit/flow/mine"]).stdout == "mine\n"
    assert not (folder / "results").exists() and measuring.run_of(lab.folder) is None


def test_a_netbox_that_is_started_again_makes_the_figures_invalid(lab: Lab, folder: Path) -> None:
    traffic = started(folder, "--duration", "4 s")
    until(lambda: EventLog.of_traffic(lab.folder), "the traffic begins")
    apply_now.change(lab, "line", "reboot=1 s")
    assert traffic.wait(60) == 4
    (run,) = (folder / "results/runs").iterdir()
    assert "started again while the traffic ran" in "\n".join(metrics(run)["verdict"]["reasons"])
    is_as_it_was(lab)


def test_a_lab_that_is_not_up_is_not_made(lab: Lab, folder: Path) -> None:
    with pytest.raises(NoSuchLab):
        send(folder, lab="another")
    assert not (folder / "results").exists()


def test_records_of_a_netbox_that_is_never_idle_are_whole(folder: Path) -> None:
    with up(folder, RADIO) as lab:
        outcome = send(folder)
        is_as_it_was(lab)
    (segment,) = [one for one in metrics(outcome.folder)["segments"] if one["direction"] == "return"]
    flow = of_flow(outcome)
    assert segment["flows"]["flow"]["count"] == round(flow["packets"] * (1 - flow["loss_ratio"]))
    assert not [reason for reason in metrics(outcome.folder)["verdict"]["reasons"] if "record" in reason]


def started(folder: Path, *options: str) -> subprocess.Popen[str]:
    words = (CHECKOUT / "netboxit.py", "traffic", folder / "traffic.yaml", "--results", folder / "results", *options)
    return subprocess.Popen([sys.executable, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def metrics(run: Path) -> dict[str, Any]:
    return dict(json.loads((run / "metrics.json").read_text()))
