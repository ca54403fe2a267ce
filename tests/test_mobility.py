# SPDX-License-Identifier: GPL-2.0-or-later
"""What links of the multi-service link layer tell when they go and come: the same one again is a fade, another one a handoff."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contracts.installation import CHECKOUT

FADE, BACK, GONE = 2.0, 2.15, 4.0
TOPOLOGY = f"""\
name: mobility
seed: 1
centre: office
hosts:
  office: {{address: 10.1.0.2/24, gateway: 10.1.0.1}}
  car: {{address: 10.2.0.2/24, gateway: 10.2.0.1}}
netboxes:
  near: {{technology: multiservice, profile: wlan, stations: {{base: {{}}, mobile: {{}}}}}}
  far: {{technology: multiservice, profile: wlan, delay: 40 ms, stations: {{base: {{}}, mobile: {{}}}}}}
routers:
  edge:
    engine: linux
    interfaces: {{lan: 10.1.0.1/24, near: 10.8.1.1/24, far: 10.8.2.1/24}}
    ospf: &ospf {{hello: 1 s, dead: 4 s, costs: {{near: 10, far: 20}}, bfd: {{interval: 100 ms}}}}
  gateway:
    engine: linux
    interfaces: {{lan: 10.2.0.1/24, near: 10.8.1.2/24, far: 10.8.2.2/24}}
    ospf: *ospf
wires:
  - [office, edge.lan]
  - [edge.near, near.base]
  - [edge.far, far.base]
  - [near.mobile, gateway.near]
  - [far.mobile, gateway.far]
  - [gateway.lan, car]
traffic:
  speech: {{application: udp-flow, from: office, to: car, rate: 64 kbit/s, payload: 160 B, duration: 8 s}}
events:
  - {{at: {FADE} s, netbox: near, set: {{up: false}}}}
  - {{at: {BACK} s, netbox: near, set: {{up: true}}}}
  - {{at: {GONE} s, netbox: near, set: {{up: false}}}}
"""
#: The other link is not there until the first one is gone, as of a terminal with one radio.
ONE_AT_A_TIME = f"""\
  - {{at: 0.5 s, netbox: far, set: {{up: false}}}}
  - {{at: {GONE + 0.06} s, netbox: far, set: {{up: true}}}}
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return ran(TOPOLOGY, tmp_path_factory.mktemp("mobility"))


def ran(topology: str, folder: Path) -> dict[str, Any]:
    (folder / "mobility.yaml").write_text(topology)
    done = subprocess.run(
        [CHECKOUT / "netboxit.py", "run", folder / "mobility.yaml", "--virtual", "--results", folder / "results"],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads((folder / "results/latest/metrics.json").read_text())
    return document


def interruptions(told: dict[str, Any], serving: str) -> Iterator[tuple[str, str]]:
    """What each loss was, to a receiver that hears its links go and come, and which link serves it then.

    By section 8.3 of Xylomenos's dissertation: the same link that comes again was in a fade, another one is a handoff.
    """
    is_lost = False
    for event in sorted(told["events"], key=lambda event: float(event["time_s"])):
        if event["station"] != "mobile":
            continue
        if event["kind"] == "link_down":
            is_lost = is_lost or event["netbox"] == serving
        elif event["kind"] == "link_up" and is_lost:
            yield ("fade" if event["netbox"] == serving else "handoff"), event["netbox"]
            serving, is_lost = event["netbox"], False


def test_who_hears_the_links_alone_tells_a_fade_from_a_handoff(told: dict[str, Any], tmp_path: Path) -> None:
    assert list(interruptions(ran(TOPOLOGY + ONE_AT_A_TIME, tmp_path), "near")) == [("fade", "near"), ("handoff", "far")]
    assert list(interruptions(told, "near")) == [("fade", "near")]  # the other link is there all the time, and says nothing


def test_the_link_tells_both_ends_when_it_goes_and_comes(told: dict[str, Any]) -> None:
    hints = [(event["time_s"], event["netbox"], event["kind"]) for event in told["events"] if event["station"] == "mobile"]
    expected = [(FADE, "link_down"), (BACK, "link_up"), (GONE, "link_down")]
    assert [(netbox, kind) for _, netbox, kind in hints] == [("near", kind) for _, kind in expected]
    assert [time for time, _, _ in hints] == pytest.approx([time for time, _ in expected], abs=1e-3)


def test_a_link_that_is_back_was_a_fade_and_another_one_is_a_handoff(told: dict[str, Any]) -> None:
    """The rule of Xylomenos's dissertation, section 8.3, for what a receiver had: the same link as before, or another one.

    The fade is shorter than BFD's three missed packets (RFC 5880, 6.8.4), between 0.2 and 0.3 s; the handoff comes with them.
    """
    (speech,) = told["flows"]
    fade, handoff = speech["outages"]["list"]
    assert fade["begin_s"] == pytest.approx(FADE, abs=0.03)
    assert 1e3 * (BACK - FADE) < fade["duration_ms"] < 1e3 * (BACK - FADE) + 30  # and the distance of its packets, 20 ms
    assert (fade["way_changed"], fade["after"]["via"]) == (False, ["near"])
    assert handoff["begin_s"] == pytest.approx(GONE, abs=0.03)
    assert 200 < handoff["duration_ms"] < 300 + 30 + 40 + 80  # the other link's delay, and what finding the neighbour there takes
    assert (handoff["way_changed"], handoff["before"]["via"], handoff["after"]["via"]) == (True, ["near"], ["far"])


def test_routes_change_with_the_handoff_alone(told: dict[str, Any]) -> None:
    changes = [(event["netbox"], event["time_s"]) for event in told["events"] if event["kind"] == "route" and event["time_s"] > 1]
    assert {router for router, _ in changes} == {"edge", "gateway"}
    assert all(GONE + 0.2 < time < GONE + 0.35 for _, time in changes)
