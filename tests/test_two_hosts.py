# SPDX-License-Identifier: GPL-2.0-or-later
"""The emergency network over two machines: the incident area on one, the back-haul and the operations centre on the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from contracts.installation import CHECKOUT
from tests.member_hosts import INVENTORY, STATE, MemberHosts, run_in_member_hosts

pytestmark = pytest.mark.lab

EMERGENCY = CHECKOUT / "topologies" / "emergency.yaml"
SECONDS = 6
WIRE = "meoc.jan--backhaul.meoc"
#: One way through the satellite, in ms.
SATELLITE_MS = 254.0
#: Of each machine: enough for its emulators, and what the kernel has is enough for both.
REALTIME_BUDGET_US = 400_000


def topology() -> str:
    """A short call alone: two machines on one share its cores."""
    told = yaml.safe_load(EMERGENCY.read_text())
    told["hosts"]["eoc"]["host"] = told["netboxes"]["backhaul"]["host"] = "beta"
    told["netboxes"]["backhaul"]["packet_error_rate"] = 1e-6
    del told["traffic"]["camera"]
    told["traffic"]["call"]["duration"] = f"{SECONDS} s"
    return yaml.safe_dump(told, sort_keys=False)


def carry(hosts: MemberHosts) -> dict[str, Any]:
    """The run, and what there is on both machines afterwards."""
    (file := Path("/var/tmp/emergency.yaml")).write_text(topology())
    argv = [
        sys.executable,
        str(CHECKOUT / "netboxit.py"),
        "run",
        str(file),
        "--inventory",
        str(INVENTORY),
        "--results",
        "/var/tmp",
    ]
    environment = os.environ | {"NETBOXIT_STATE": str(STATE)}
    run = subprocess.run([*argv, "--json"], env=environment, capture_output=True, text=True, timeout=180, check=False)
    folder = Path("/var/tmp/latest").resolve()
    return {
        "status": run.returncode,
        "errors": run.stderr,
        "failure": json.loads((folder / "run.json").read_text())["failure"],
        "metrics": json.loads((folder / "metrics.json").read_text()),
        "machines": json.loads((folder / "hosts.json").read_text()),
        "lab": json.loads((folder / "lab.json").read_text()),
        "files": [str(path.relative_to(folder)) for path in folder.rglob("*")],
        "left": [*Path("/run/netns").iterdir(), *(STATE / "labs").iterdir()],
        "left on beta": hosts.run("beta", f"ls -A /run/netns {STATE}/labs").split(),
    }


@pytest.fixture(scope="module")
def carried() -> dict[str, Any]:
    return run_in_member_hosts(carry, realtime_budget_us=REALTIME_BUDGET_US)


def test_the_run_ends_with_its_verdict_and_nothing_stays_on_either_machine(carried: dict[str, Any]) -> None:
    assert carried["failure"] is None, carried["errors"]
    verdict = carried["metrics"]["verdict"]
    assert {"valid": 0, "degraded": 3, "invalid": 4}[verdict["status"]] == carried["status"], carried["errors"]
    assert (carried["left"], carried["left on beta"]) == ([], ["/run/netns:", f"{STATE}/labs:"])


def test_everything_is_in_one_run_folder(carried: dict[str, Any]) -> None:
    files = set(carried["files"])
    assert {f"nodes/{node}/frames.bin" for node in ("field", "longhaul", "backhaul")} <= files
    assert {f"captures/{name}.pcapng" for name in ("fr1", "eoc", "meoc-jan", "backhaul-meoc")} <= files
    assert {"traffic/call/fr1-heard.wav", "traffic/call/eoc-heard.wav", "traffic/call/eoc-baresip.log"} <= files
    assert {node["name"] for node in carried["lab"]["nodes"]} == {"fr1", "field", "longhaul", "meoc", "backhaul", "eoc"}
    assert not any(file.startswith(".") for file in files)
    assert not [reason for reason in carried["metrics"]["verdict"]["reasons"] if "is damaged" in reason]


def test_the_call_is_heard_across_both_machines(carried: dict[str, Any]) -> None:
    flows = {flow["direction"]: flow for flow in carried["metrics"]["flows"]}
    assert set(flows) == {"return", "forward"}
    for flow in flows.values():
        assert flow["one_way_delay_ms"]["min"] > SATELLITE_MS - flow["clock_error_ms"]
    voices = carried["metrics"]["voice"]
    assert len(voices) == 2
    assert all(1.0 <= voice["mos_e_model"] <= 4.5 for voice in voices)


def test_clocks_and_the_wire_between_the_machines_are_told(carried: dict[str, Any]) -> None:
    """Both machines have the clock of this one, so what is told of them as two is their error at most."""
    for when in ("before", "after"):
        clock = carried["machines"]["hosts"]["beta"]["clock"][when]
        assert abs(clock["offset_ns"]) <= clock["error_ns"]
    (wire,) = carried["machines"]["wires"]
    assert (wire["wire"], wire["kind"]) == (WIRE, "vxlan")
    assert [end["host"] for end in wire["ends"]] == ["alpha", "beta"]
    assert wire["probe"]["round_trip_ns"] > 0
    assert [tunnel["wire"] for tunnel in carried["metrics"]["tunnels"]] == [WIRE]


def test_each_frames_time_between_the_machines_is_measured(carried: dict[str, Any]) -> None:
    (tunnel,) = carried["metrics"]["tunnels"]
    for way in tunnel["directions"]:
        assert way["frames"] > 0
        assert (way["lost"], way["unseen"]) == (0, 0)
        assert way["delay_us"]["min"] + way["clock_error_us"] > 0
    assert 0 < tunnel["both_ways_us"]["min"] <= tunnel["both_ways_us"]["p50"]
    assert carried["metrics"]["overhead_tunnels_us"]["count"] > 0
