# SPDX-License-Identifier: GPL-2.0-or-later
"""A link layer in a lab recovers real frames, of a link of its own and above a technology, and who watches sees it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from contracts.installation import CHECKOUT
from netboxes.technology import technologies
from testbed.description.live import parsed, read_value
from testbed.labs.lab import Lab
from testbed.observation.interval import interval
from testbed.observation.reading import LabReader
from tests.switched_labs import clean_lab
from tests.waiting import until

pytestmark = pytest.mark.lab

EXAMPLE = CHECKOUT / "topologies" / "multiservice.yaml"
ABOVE_A_SATELLITE = CHECKOUT / "topologies" / "sat-services.yaml"
#: DSCP af11, the class of the transfer, as the type of service.
STREAM = "40"
#: An echo of 16 bytes is a packet of 44, and a frame of 47 with the headers of selective repeat.
ROUND_TRIP_MS = 2 * (100 + 1e3 * 8 * (44 + 3) / 14.4e3)

ABOVE_A_LINK = """
name: services
hosts: {near: {address: 10.51.0.1/24}, far: {address: 10.51.0.2/24}}
netboxes:
  line:
    technology: link
    stations: {a: {}, b: {}}
    rate: 10 Mbit/s
    delay: 5 ms
    loss: 0.2
    link_layer: {rate: 9 Mbit/s, delay: 8 ms, services: [{class: default, scheme: sr-m2}]}
wires: [[near, line.a], [line.b, far]]
"""


def change(lab: Lab, text: str) -> None:
    parameter, value = parsed(text)
    with lab.control("air") as control:
        control.set(parameter, read_value(technologies()["multiservice"], parameter, value))


def all_delivered(lab: Lab, echoes: int) -> bool:
    """Of the transfer's class, in both directions."""
    with lab.control("air") as control:
        stations: Any = control.statistics()["segment"]["stations"]
    base, mobile = (stations[name]["services"]["stream"] for name in ("base", "mobile"))
    offered = [end["offered_packets"] for end in (base, mobile)]
    return [end["delivered"] for end in (mobile, base)] == offered and min(offered) >= echoes


def ping(lab: Lab, count: int) -> float:
    """The least round trip, ms."""
    phone = lab.node("phone").interfaces[0].addresses[0].partition("/")[0]
    command = ["ping", "-q", "-Q", STREAM, "-s", "16", "-i", "0.2", "-c", str(count), phone]
    answer = lab.run("server", command).stdout
    least = re.search(r"= ([\d.]+)/", answer)
    assert least is not None, answer
    return float(least[1])


def test_frames_are_recovered_while_schemes_change_and_who_watches_sees_it(tmp_path: Path) -> None:
    with clean_lab(tmp_path, EXAMPLE.read_text(), "services") as lab:
        change(lab, "errors={level: 4}")
        reader = LabReader(lab)
        before = reader.read()
        assert ping(lab, 40) == pytest.approx(ROUND_TRIP_MS, abs=3)
        until(lambda: all_delivered(lab, 40), "all echoes come at last")
        change(lab, "services=[{class: stream, scheme: go-back-n}, {class: speech, scheme: xor}]")
        ping(lab, 10)
        until(lambda: all_delivered(lab, 50), "all echoes come at last")
        (air,) = (node for node in interval(lab.plan, before, reader.read())["nodes"] if node["name"] == "air")
        reader.close()
    seen = {(service["station"], service["service"]): service for service in air["services"]}
    assert {place: service["scheme"] for place, service in seen.items()} == {
        (station, name): scheme
        for station in ("base", "mobile")
        for name, scheme in (("default", "none"), ("stream", "go-back-n"), ("speech", "xor"))
    }
    assert seen["base", "stream"]["in_bit_s"] > 0
    assert seen["base", "stream"]["retransmissions"] + seen["mobile", "stream"]["retransmissions"] > 0


def test_services_above_a_technology_recover_what_it_loses(tmp_path: Path) -> None:
    """A link that loses a fifth each way: an echo is lost with 36 % of them, and comes at last with selective repeat."""
    with clean_lab(tmp_path, ABOVE_A_LINK, "services") as lab:
        reader = LabReader(lab)
        before = reader.read()
        address = lab.node("far").interfaces[0].addresses[0].partition("/")[0]
        answer = lab.run("near", ["ping", "-q", "-i", "0.05", "-W", "10", "-c", "100", address]).stdout
        assert "100 received" in answer, answer
        (line,) = (node for node in interval(lab.plan, before, reader.read())["nodes"] if node["name"] == "line")
        reader.close()
    seen = {service["station"]: service for service in line["services"]}
    assert {service["scheme"] for service in seen.values()} == {"sr-m2"}
    # 200 packets, each of which is lost 0.2 / 0.8 times in the mean: 50, with a deviation of 8.
    assert seen["a"]["retransmissions"] + seen["b"]["retransmissions"] >= 26


def lost_above_a_satellite(folder: Path, seed: int, *options: str) -> dict[str, tuple[list[Any], int]]:
    """Of each flow of the example what was lost where, and how many packets it had."""
    (file := folder / "example.yaml").write_text(ABOVE_A_SATELLITE.read_text().replace("seed: 1\n", f"seed: {seed}\n"))
    command = [CHECKOUT / "netboxit.py", "run", file, "--results", folder, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 3), done.stdout + done.stderr
    flows = json.loads((folder / "latest/metrics.json").read_text())["flows"]
    return {flow["name"]: (flow["losses"], flow["packets"]) for flow in flows}


@pytest.mark.long
def test_services_above_a_satellite_recover_what_it_loses_in_a_lab(tmp_path: Path) -> None:
    """The example: of the transfer nothing is lost, of the call what the satellite loses, 2 %."""
    lost = lost_above_a_satellite(tmp_path, 1, "--duration", "20 s")
    assert lost["transfer"][0] == []
    (loss,), packets = lost["call"]
    assert abs(loss["frames"] - 0.02 * packets) < 4 * (0.02 * 0.98 * packets) ** 0.5


@pytest.mark.parametrize("seed", [5, 12])
def test_what_is_repeated_at_once_pushes_no_new_packets_out(tmp_path: Path, seed: int) -> None:
    """The example has room for all that is repeated after a frame that was lost three times; with 50 frames it had not."""
    lost = lost_above_a_satellite(tmp_path, seed, "--virtual", "--duration", "60 s")
    assert lost["transfer"][0] == []


#: The WLAN of the source at its third level of errors, with all bytes of all headers on the air.
REAL_BYTES = """
name: bytes
seed: 3
centre: server
hosts: {server: {address: 10.52.0.1/24}, phone: {address: 10.52.0.2/24}}
netboxes:
  air:
    technology: multiservice
    profile: wlan
    accounting: real
    stations: {base: {}, mobile: {}}
    errors: {level: 3}
    services: [{class: default, scheme: SCHEME}]
wires: [[server, air.base], [air.mobile, phone]]
# What is compared does not depend on how late a busy machine is.
realtime: {limit: 20 ms}
traffic:
  file: {application: bulk, from: server, to: phone, variant: linux-reno, duration: 20 s}
"""


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["none", "sr-m2"])
def test_the_kernels_tcp_has_what_virtual_time_computes(tmp_path: Path, scheme: str) -> None:
    """Two implementations of TCP above one link layer: ns-3's with Linux's rules, and Linux itself."""
    (file := tmp_path / "bytes.yaml").write_text(REAL_BYTES.replace("SCHEME", scheme))
    kbps = []
    for options in (["--virtual"], []):
        command = [CHECKOUT / "netboxit.py", "run", file, "--results", tmp_path / "results", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 3), done.stdout + done.stderr
        flows = json.loads((tmp_path / "results/latest/metrics.json").read_text())["flows"]
        (flow,) = (one for one in flows if one["name"].startswith("file") and one["direction"] == "forward")
        kbps.append(flow["goodput_kbps"])
    assert kbps[1] == pytest.approx(kbps[0], rel=0.1)
