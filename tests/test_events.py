# SPDX-License-Identifier: GPL-2.0-or-later
"""Events from the file to the report: what they change is in what the hosts measure, at the time that was asked for."""

from __future__ import annotations

import json
import os
from pathlib import Path

import polars as pl
import pytest

from results import records
from testbed.run import run
from tests.traces import traces

pytestmark = pytest.mark.lab

#: 50 packets a second each way through a satellite link, whose delay doubles at 2 s; its wire to b is unplugged at 4 s, and
#: plugged in again when nothing has arrived at b for 1 s.
NETWORK = """\
name: change
centre: b
hosts:
  a: {address: 10.0.0.1/24}
  b: {address: 10.0.0.2/24}
netboxes:
  link:
    technology: satellite
    stations: {ground: {role: terminal}, hub: {role: gateway}}
    return_rate: 2 Mbit/s
    forward_rate: 10 Mbit/s
    delay: 50 ms
wires:
  - [a, link.ground]
  - [link.hub, b]
realtime: {limit: 50 ms}
traffic:
  out: {application: udp-flow, from: a, to: b, rate: 80 kbit/s, payload: 172 B, duration: 6 s}
  later: {application: udp-flow, from: b, to: a, port: 7000, rate: 80 kbit/s, payload: 172 B, start: 3 s, duration: 3 s}
events:
  - {at: 2 s, netbox: link, set: {delay: 100 ms}}
  - {at: 4 s, wire: [link.hub, b], state: down}
  - {name: back, when: {netbox: link, station: hub, silent: 1 s, within: 30 s}, wire: [link.hub, b], state: up}
  - {when: {event: back}, delay: 200 ms, netbox: link, set: {packet_error_rate: 0}}
  - {when: {netbox: link, happens: set}, drill: emulator-freeze, with: {freeze: 10 ms}}
"""

#: By how much an event may be late on a busy machine without the test being about it.
LATE_S = 0.3


def test_a_change_and_an_unplugged_wire_are_in_what_the_hosts_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETBOXIT_STATE", str(tmp_path / "state"))
    (tmp_path / "change.yaml").write_text(NETWORK)
    before = traces(tmp_path / "state")
    outcome = run(
        tmp_path / "change.yaml", lab=f"ev{os.getpid()}", duration_s=None, progress=lambda _: None, results=tmp_path / "results"
    )
    assert traces(tmp_path / "state") == before
    assert json.loads((outcome.folder / "run.json").read_text())["failure"] is None

    events = [(event["words"], event["time_s"]) for event in outcome.metrics["events"] if event["kind"] != "traffic"]
    assert [words for words, _ in events] == [
        "link: delay 100 ms",
        "link: frozen for 10 ms (when link says set)",
        "wire link.hub--b.eth0 down",
        "wire link.hub--b.eth0 up (when nothing leaves by link.hub for 1 s)",
        "link: packet_error_rate 0 (after back)",
    ]
    times = [2.0, 2.0, 4.0, 5.0, 5.2]
    assert [at for _, at in events] == pytest.approx(times, abs=LATE_S)
    # Half a distance of frames is what the silence may have begun before the wire was unplugged.
    assert all(at - due > -0.02 for (_, at), due in zip(events, times, strict=True))
    assert outcome.metrics["netboxes"]["link"]["freezes"] == [{"at_s": events[1][1], "for_s": 0.01}]

    flows = {flow["name"]: flow for flow in outcome.metrics["flows"]}
    delay = dict(zip(flows["out"]["seconds"]["second"], flows["out"]["seconds"]["delay_ms"], strict=True))
    assert delay[1] == pytest.approx(50.0, abs=20.0)
    assert delay[3] - delay[1] == pytest.approx(50.0, abs=5.0)
    assert flows["later"]["seconds"]["second"][0] == 3

    # That frames come 50 ms later from 2 s on is a pause of 70 ms to the receiver: more than three distances of frames. A busy
    # machine makes others.
    outage = max(flows["out"]["outages"]["list"], key=lambda found: found["duration_ms"])
    assert outage["begin_s"] == pytest.approx(4.0, abs=LATE_S)
    # One distance of frames may be added at the ends, and what the host needs to find its neighbour again.
    assert 900.0 < outage["duration_ms"] < 1000.0 + 1e3 * LATE_S + 40.0
    assert outage["lost"] >= 40 and outage["after"]["via"] == ["link"]

    series = pl.read_parquet(outcome.folder / "series.parquet")
    assert {"ground", "hub"} <= set(series["station"])
    page = (outcome.folder / "report.html").read_text()
    assert "The course of the run" in page and "wire link.hub--b.eth0 down" in page and "Inside netboxes and routers" in page


#: 50 packets a second through two segments joined by memory, of which one loses its power for half a second.
REBOOT = """\
name: reboot
centre: b
hosts:
  a: {address: 10.0.0.1/24}
  b: {address: 10.0.0.2/24}
netboxes:
  near: &link {technology: link, stations: {left: {}, right: {}}, rate: 10 Mbit/s, delay: 5 ms}
  far: *link
wires:
  - [a, near.left]
  - [near.right, far.left]
  - [far.right, b]
realtime: {limit: 50 ms}
traffic:
  out: {application: udp-flow, from: a, to: b, rate: 80 kbit/s, payload: 172 B, duration: 3 s}
events:
  - {at: 1 s, node: near, reboot: 500 ms}
"""


def test_a_netbox_that_loses_its_power_in_a_run_is_measured_before_and_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETBOXIT_STATE", str(tmp_path / "state"))
    (tmp_path / "reboot.yaml").write_text(REBOOT)
    before = traces(tmp_path / "state")
    outcome = run(
        tmp_path / "reboot.yaml", lab=f"rb{os.getpid()}", duration_s=None, progress=lambda _: None, results=tmp_path / "results"
    )
    assert traces(tmp_path / "state") == before
    assert json.loads((outcome.folder / "run.json").read_text())["failure"] is None
    metrics = outcome.metrics
    events = {event["words"]: event["time_s"] for event in metrics["events"] if event["kind"] == "power"}
    off, on = events["near: power off"], events["near: power on"]
    assert 1.0 <= off < on - 0.4

    (flow,) = metrics["flows"]
    outage = max(flow["outages"]["list"], key=lambda one: one["duration_ms"])
    # What was on its way arrives yet.
    assert outage["begin_s"] >= off - 0.05 and outage["duration_ms"] >= 1e3 * (on - off)
    assert outage["lost"] == flow["packets"] - flow["received"] > 0
    # Both netboxes know of what arrived: the one from both of its lives, the other from the only one that it had.
    for name, lives in {"near": 2, "far": 1}.items():
        files = [*(outcome.folder / "nodes" / name).glob("frames*.bin")]
        delivered = sum(int((records.read(file)["fate"] == records.Fate.DELIVERED).sum()) for file in files)
        assert len(files) == lives and delivered >= flow["received"]
        # What passes before its time begins anew is in the records only.
        assert 0 < metrics["lateness_us"][name]["count"] <= delivered
    assert "near: power off" in (outcome.folder / "report.html").read_text()
