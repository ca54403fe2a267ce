# SPDX-License-Identifier: GPL-2.0-or-later
"""The disaster network: rain fades one satellite, and traffic goes on by the other MEOC's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from contracts.installation import CHECKOUT
from tests.traces import traces

pytestmark = [pytest.mark.lab, pytest.mark.long]

DISASTER = CHECKOUT / "topologies" / "disaster.yaml"
#: The file's times are for somebody who watches; a test is in a hurry.
SOONER = {"at: 18 s": "at: 5 s", "at: 20 s": "at: 6 s", "at: 45 s": "at: 12 s"}
SECONDS = 24.0


@pytest.fixture(scope="module")
def carried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The metrics of one run of the whole network."""
    folder = tmp_path_factory.mktemp("disaster")
    text = DISASTER.read_text()
    for later, sooner in SOONER.items():
        assert later in text
        text = text.replace(later, sooner)
    (folder / "disaster.yaml").write_text(text)
    state = folder / "state"
    state.mkdir()
    before = traces(state)
    command = [sys.executable, str(CHECKOUT / "netboxit.py"), "run", str(folder / "disaster.yaml"), "--json"]
    command += ["--name", f"dis{os.getpid()}", "--duration", f"{SECONDS:g} s", "--results", str(folder / "results")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=240, env={**os.environ, "NETBOXIT_STATE": str(state)})
    latest = folder / "results" / "latest"
    assert run.returncode in (0, 3, 4), run.stderr
    assert json.loads((latest / "run.json").read_text())["failure"] is None
    assert traces(state) == before
    yield json.loads((latest / "metrics.json").read_text())


def outage_of(metrics: dict[str, Any], direction: str) -> dict[str, Any]:
    """Of the call of area a: the one that the rain makes."""
    (voice,) = [flow for flow in metrics["flows"] if flow["name"] == "call-a.voice" and flow["direction"] == direction]
    found: dict[str, Any] = max(voice["outages"]["list"], key=lambda one: one["duration_ms"])
    return found


@pytest.mark.parametrize("direction", ["return", "forward"])
def test_the_call_goes_on_by_the_other_satellite(carried: dict[str, Any], direction: str) -> None:
    outage = outage_of(carried, direction)
    assert 5.5 < outage["begin_s"] < 8.0
    # Three packets of BFD, 300 ms apart, and what routers take to tell each other; seconds would be OSPF's hellos alone.
    assert 500.0 < outage["duration_ms"] < 3500.0
    assert outage["ended"]
    assert outage["way_changed"]
    assert {"satellite-a"} <= set(outage["before"]["via"])
    assert {"between", "satellite-b"} <= set(outage["after"]["via"])


def test_the_rain_and_what_it_did_are_told_in_order(carried: dict[str, Any]) -> None:
    told = [(event["netbox"], event["kind"]) for event in carried["events"]]
    assert [netbox for netbox, kind in told if kind == "parameter"] == ["satellite-a"] * 3
    down, up = told.index(("satellite-a", "link_down")), told.index(("satellite-a", "link_up"))
    # The last hop of a new way tells it: the MEOC of area a, whose neighbour over the satellite is gone.
    assert down < told.index(("meoc-a", "route"), down) < up


@pytest.mark.parametrize("direction", ["return", "forward"])
def test_each_path_of_the_call_has_its_delays_and_the_changes_their_times(carried: dict[str, Any], direction: str) -> None:
    (voice,) = [flow for flow in carried["flows"] if flow["name"] == "call-a.voice" and flow["direction"] == direction]
    chain = {"own": ["field-a", "longhaul-a", "satellite-a"], "other": ["field-a", "longhaul-a", "between", "satellite-b"]}
    expected = {name: netboxes if direction == "return" else netboxes[::-1] for name, netboxes in chain.items()}
    paths = {tuple(path["netboxes"]): path for path in voice["paths"]}
    own, other = (paths[tuple(expected[name])] for name in ("own", "other"))
    assert own["received"] + other["received"] > 0.95 * voice["received"]
    # `delay` of both satellites.
    assert min(path["one_way_delay_ms"]["min"] for path in (own, other)) > 254.0
    if direction == "forward":
        # The other MEOC is a WiMAX hop further, on which its station waits for its turn. From the field the hop takes 1 ms only,
        # less than the wait for a turn at `longhaul-a` differs by (0.3 to 37 ms), so that the least delays tell nothing.
        assert other["one_way_delay_ms"]["min"] > own["one_way_delay_ms"]["min"]
    outage = outage_of(carried, direction)
    end_s = outage["begin_s"] + outage["duration_ms"] / 1e3
    first = next(change for change in voice["path_changes"]["list"] if change["to"] == expected["other"])
    assert outage["begin_s"] - 1.0 < first["time_s"] < end_s


def test_all_segments_carry_traffic_of_both_areas(carried: dict[str, Any]) -> None:
    carrying = {segment["netbox"] for segment in carried["segments"]}
    both = {f"{name}-{area}" for name in ("field", "sensors", "longhaul", "cell", "satellite") for area in "ab"}
    assert carrying == both | {"between"}
    assert all(segment["one_way_delay_ms"] for segment in carried["segments"])
    assert all(flow["received"] > 0.9 * flow["packets"] for flow in carried["flows"] if flow["name"].endswith("-b"))
