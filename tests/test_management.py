# SPDX-License-Identifier: GPL-2.0-or-later
"""Managed links of a topology: in a lab, whose kernels keep to budgets, and in virtual time with links that change."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contracts.installation import CHECKOUT
from testbed.labs.lab import Lab
from tests.traces import traces
from tests.waiting import until

EXAMPLE = CHECKOUT / "topologies/agencies.yaml"

#: Two members with links of their own to a switch, which has a satellite of 4 Mbit/s; one link becomes slow, and fast again.
SLOW = """\
name: slow
seed: 2
centre: hub
hosts:
  near: {address: 10.1.0.2/24, gateway: 10.1.0.1}
  far: {address: 10.1.0.3/24, gateway: 10.1.0.1}
  hub: {address: 10.2.0.2/24, gateway: 10.2.0.1}
netboxes:
  radio: {technology: link, stations: {host: {}, lan: {}}, rate: 10 Mbit/s, telemetry: true}
  lan: {technology: ethernet, stations: {x: {}, y: {}, z: {}}}
  satellite: {technology: link, stations: {a: {}, b: {}}, rate: 4 Mbit/s, delay: 50 ms}
routers:
  middle: {engine: linux, interfaces: {in: 10.1.0.1/24, out: 10.2.0.1/24}}
wires:
  - [far, radio.host]
  - [radio.lan, lan.x]
  - [near, lan.y]
  - [lan.z, middle.in]
  - [middle.out, satellite.a]
  - [satellite.b, hub]
management:
  sky: {gateway: hub, members: [near, far], rate: 3.9 Mbit/s, kind: dybra, access: {far: netbox}}
traffic:
  one: {application: bulk, from: near, to: hub, duration: 30 s}
  two: {application: bulk, from: far, to: hub, duration: 30 s, port: 5202}
events:
  - {at: 10 s, netbox: radio, set: {rate: 500 kbit/s}}
  - {at: 20 s, netbox: radio, set: {rate: 10 Mbit/s}}
"""


def netboxit(*words: str | Path, **environment: str) -> str:
    command = [CHECKOUT / "netboxit.py", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert done.returncode in (0, 3), done.stdout + done.stderr
    return done.stdout


def test_what_a_slow_link_cannot_carry_goes_to_the_other_member_while_it_is_slow(tmp_path: Path) -> None:
    """DyBRA by what the netbox at the member tells: 3.9 Mbit/s less 0.5."""
    (file := tmp_path / "slow.yaml").write_text(SLOW)
    netboxit("run", file, "--virtual", "--results", tmp_path / "results")
    budgets = {}
    for host in ("near", "far"):
        journal = (tmp_path / "results/latest/nodes" / host / "journal.jsonl").read_text().splitlines()
        lines = [line for line in map(json.loads, journal) if line.get("event") == "budget"]
        budgets[host] = [(line["at_s"], line["budget_bps"]) for line in lines]
    assert [budget for _, budget in budgets["near"][-3:]] == [1_950_000, 3_400_000, 1_950_000]
    assert [budget for _, budget in budgets["far"][-3:]] == [1_950_000, 500_000, 1_950_000]
    metrics = json.loads((tmp_path / "results/latest/metrics.json").read_text())
    [link] = metrics["managed_links"]
    told = {member["host"]: [*zip(member["time_s"], member["budget_bps"], strict=True)] for member in link["members"]}
    assert {host: pairs[-2:] for host, pairs in told.items()} == {host: pairs[-2:] for host, pairs in budgets.items()}
    assert "Budgets of the managed link sky" in (tmp_path / "results/latest/report.html").read_text()
    # 0.1 s until it is told, and the round trip of 0.1 s of a report and its announcement.
    for at, change in ((10.0, 1), (20.0, 2)):
        assert all(at <= budgets[host][change - 3][0] < at + 0.4 for host in budgets)


def test_rates_of_a_managed_link_change_at_their_times(tmp_path: Path) -> None:
    """What is divided, and what DyBRA takes for the access of a member."""
    without, _, _ = SLOW.partition("events:")
    changes = [
        "{at: 8 s, managed_link: sky, set: {rate: 2 Mbit/s}}",
        "{at: 16 s, managed_link: sky, member: far, set: {access: 500 kbit/s}}",
    ]
    text = without.replace(", access: {far: netbox}", "") + "events:\n" + "".join(f"  - {change}\n" for change in changes)
    (file := tmp_path / "changes.yaml").write_text(text)
    netboxit("run", file, "--virtual", "--results", tmp_path / "results")
    metrics = json.loads((tmp_path / "results/latest/metrics.json").read_text())
    [link] = metrics["managed_links"]
    told = {member["host"]: member["budget_bps"][-3:] for member in link["members"]}
    assert told == {"near": [1_950_000, 1_000_000, 1_500_000], "far": [1_950_000, 1_000_000, 500_000]}
    made = [event["words"] for event in metrics["events"] if event["by_run"] and event["kind"] == "managed_link"]
    assert made == ["sky: rate 2 Mbit/s", "sky: access of far 500 kbit/s"]
    assert not [event for event in metrics["events"] if event["kind"] == "set"], "told once"


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    (folder := tmp_path / "state").mkdir()
    before = traces(folder)
    yield folder
    assert traces(folder) == before


#: Three members and the allocator in one network.
FLAT = """\
name: flat
centre: hub
hosts:
  fr1: {address: 10.1.0.2/24}
  fr2: {address: 10.1.0.3/24}
  fr3: {address: 10.1.0.4/24}
  bystander: {address: 10.1.0.5/24}
  hub: {address: 10.1.0.1/24}
netboxes:
  sky: {technology: ethernet, stations: {a: {}, b: {}, c: {}, d: {}, hub: {}}, rate: 10 Mbit/s}
wires: [[fr1, sky.a], [fr2, sky.b], [fr3, sky.c], [bystander, sky.d], [hub, sky.hub]]
management:
  sat: {gateway: hub, members: [fr1, fr2, fr3], rate: 3 Mbit/s, announcements: multicast}
realtime: {limit: 100 ms}
traffic:
  flow: {application: udp-flow, from: fr1, to: hub, rate: 100 kbit/s, duration: 12 s}
events:
  - {at: 6 s, managed_link: sat, set: {rate: 1.5 Mbit/s}}
"""
#: Of a message (middleware/README.md, "The protocol"): where its kind is, and that of an announcement.
KIND_AT, ANNOUNCEMENT = 3, 9


def test_one_multicast_tells_all_members_of_a_network_of_a_change(tmp_path: Path) -> None:
    (file := tmp_path / "flat.yaml").write_text(FLAT)
    netboxit("run", file, "--results", tmp_path, "--virtual")
    check_one_multicast(tmp_path / "latest", within_s=0.1)


@pytest.mark.lab
@pytest.mark.long
def test_one_multicast_tells_all_members_in_a_lab(tmp_path: Path, state: Path) -> None:
    (file := tmp_path / "flat.yaml").write_text(FLAT)
    netboxit("run", file, "--results", tmp_path, "--name", f"fl{os.getpid()}", NETBOXIT_STATE=str(state))
    check_one_multicast(tmp_path / "latest", within_s=3.0)


def check_one_multicast(run: Path, within_s: float) -> None:
    """The change at 6 s is told once, and once more."""
    [link] = json.loads((run / "metrics.json").read_text())["managed_links"]
    assert [member["budget_bps"][-2:] for member in link["members"]] == [[1_000_000, 500_000]] * 3
    changed = [member["time_s"][-1] for member in link["members"]]
    assert min(changed) >= 6.0 and max(changed) < 6.0 + within_s
    announced = announcements(run / "captures/hub.pcapng")
    assert {(source, destination.startswith("239.255."), ttl) for _, source, destination, ttl in announced} == {
        ("10.1.0.1", True, 1)
    }
    # The change is told once, and again after 125 ms.
    first, second = [time_s for time_s, *_ in announced if time_s >= min(changed) - 0.1][:2]
    assert first <= min(changed) and max(changed) < second
    assert second - first == pytest.approx(0.125, abs=0.1)


def announcements(capture: Path) -> list[tuple[float, str, str, int]]:
    """Seconds of the run, source, destination and TTL of each datagram with one."""
    began_ns = json.loads((capture.parents[1] / "metrics.json").read_text())["began_ns"]
    fields = [word for name in ("frame.time_epoch", "ip.src", "ip.dst", "ip.ttl", "udp.payload") for word in ("-e", name)]
    command = ["tshark", "-r", capture, "-Y", "udp.srcport == 25522", "-T", "fields", *fields]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [
        (float(time) - began_ns / 1e9, source, destination, int(ttl))
        for time, source, destination, ttl, payload in (line.split("\t") for line in lines)
        if bytes.fromhex(payload)[KIND_AT] == ANNOUNCEMENT
    ]


#: Two members behind a router, whose satellite tells it its rate.
FOLLOWED = """\
name: followed
hosts:
  fr1: {address: 10.1.0.2/24, gateway: 10.1.0.1}
  fr2: {address: 10.1.0.3/24, gateway: 10.1.0.1}
  hub: {address: 10.2.0.2/24, gateway: 10.2.0.1}
netboxes:
  lan: {technology: ethernet, stations: {x: {}, y: {}, z: {}}}
  sky: {technology: link, stations: {a: {}, b: {}}, rate: 4 Mbit/s, telemetry: true}
routers:
  meoc: {engine: linux, interfaces: {near: 10.1.0.1/24, far: 10.2.0.1/24}OSPF}
wires: [[fr1, lan.x], [fr2, lan.y], [lan.z, meoc.near], [meoc.far, sky.a], [sky.b, hub]]
management:
  sat: {gateway: meoc, of: sky, members: [fr1, fr2], rate: netbox, exploitation: 0.9}
"""


@pytest.mark.lab
@pytest.mark.parametrize("ospf", ["", pytest.param(", ospf: {hello: 1 s}", marks=pytest.mark.long)])
def test_a_router_divides_what_its_netbox_tells(tmp_path: Path, state: Path, ospf: str) -> None:
    lab = f"fo{os.getpid()}"
    here = {"NETBOXIT_STATE": str(state)}
    (file := tmp_path / "followed.yaml").write_text(FOLLOWED.replace("OSPF", ospf))

    def parts() -> dict[str, Any]:
        (status,) = json.loads(netboxit("status", lab, "--json", **here))["labs"]
        return {node["name"]: part for node in status["nodes"] for part in node["management"] or ()}

    def are(budget: int) -> bool:
        return [parts().get(name, {}).get("budget") for name in ("fr1", "fr2")] == [budget] * 2

    netboxit("up", file, "--name", lab, **here)
    try:
        until(lambda: are(1_800_000), deadline_s=30.0)
        assert (parts()["meoc"]["role"], parts()["meoc"]["capacity"]) == ("allocator", 3_600_000)
        netboxit("set", "sky", "rate=1 Mbit/s", "--lab", lab, **here)
        until(lambda: are(450_000), deadline_s=10.0)
        netboxit("exec", "--lab", lab, "meoc", "--", "sh", "-c", "kill -9 $(pidof c2ml)", **here)
        netboxit("set", "sky", "rate=2 Mbit/s", "--lab", lab, **here)
        until(lambda: are(900_000), deadline_s=60.0)
        (journal,) = state.rglob("nodes/meoc/journal.jsonl")
        lines = [json.loads(line) for line in journal.read_text().split("\n") if line]  # a daemon ends the one before
        shares = [line["share_bps"] for line in lines if line.get("event") == "share"]
        assert shares[-1] == 900_000 and {1_800_000, 450_000} <= set(shares)
        assert "meoc: c2ml was started 2 times" in " ".join(netboxit("status", lab, **here).split())
        netboxit("set", "meoc", "reboot=1 s", "--lab", lab, **here)
        netboxit("set", "sky", "rate=4 Mbit/s", "--lab", lab, **here)
        until(lambda: are(1_800_000), deadline_s=60.0)
        refused = subprocess.run(
            [CHECKOUT / "netboxit.py", "set", "sat", "rate=1 Mbit/s", "--lab", lab],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **here},
        )
        assert refused.returncode != 0 and "a netbox tells what sat divides" in " ".join(refused.stderr.split())
    finally:
        netboxit("down", lab, **here)


#: Two members whose messages to and from the allocator pass a satellite that loses three of ten packets, each way.
LOSSY = """\
name: lossy
hosts:
  fr1: {address: 10.1.0.2/24, gateway: 10.1.0.1}
  fr2: {address: 10.1.0.3/24, gateway: 10.1.0.1}
  hub: {address: 10.2.0.2/24, gateway: 10.2.0.1}
netboxes:
  lan: {technology: ethernet, stations: {x: {}, y: {}, z: {}}}
  sky: {technology: link, stations: {a: {}, b: {}}, rate: 4 Mbit/s, delay: 250 ms, loss: 0.3}
routers:
  meoc: {engine: linux, interfaces: {near: 10.1.0.1/24, far: 10.2.0.1/24}}
wires: [[fr1, lan.x], [fr2, lan.y], [lan.z, meoc.near], [meoc.far, sky.a], [sky.b, hub]]
management:
  sat: {gateway: hub, members: [fr1, fr2], rate: 3.6 Mbit/s}
"""
#: Five leases of four periods of 4 s (middleware/README.md, "What it takes").
FIVE_LEASES_S = 80.0


@pytest.mark.lab
@pytest.mark.long
def test_leases_outlast_three_of_ten_messages_lost_each_way(tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = f"lo{os.getpid()}"
    monkeypatch.setenv("NETBOXIT_STATE", str(state))
    (file := tmp_path / "lossy.yaml").write_text(LOSSY)
    members = ("fr1", "fr2")

    def told(member: str) -> list[dict[str, Any]]:
        (journal,) = state.rglob(f"nodes/{member}/journal.jsonl")
        lines = (json.loads(line) for line in journal.read_text().splitlines())
        return [line for line in lines if line.get("event") in ("budget", "lease_lost", "left")]

    def have_their_budgets() -> bool:
        return all((own := told(member)) and own[-1].get("budget_bps") == 1_800_000 for member in members)

    netboxit("up", file, "--name", lab)
    try:
        until(have_their_budgets, deadline_s=120.0)
        before = {member: told(member) for member in members}
        with Lab.open(lab).control("sky") as control:
            frames = control.counters()["frames"]
            time.sleep(FIVE_LEASES_S)
            later = control.counters()["frames"]
        lost = sum(later["lost"].values()) - sum(frames["lost"].values())
        passed = later["delivered"] - frames["delivered"]
        assert lost > 10 and lost / (lost + passed) == pytest.approx(0.3, abs=0.15)
        assert {member: told(member) for member in members} == before
    finally:
        netboxit("down", lab)


@pytest.mark.lab
def test_nodes_of_a_lab_have_budgets_and_keep_to_them(tmp_path: Path, state: Path) -> None:
    lab = f"ag{os.getpid()}"
    here = {"NETBOXIT_STATE": str(state)}

    def parts() -> dict[str, Any]:
        (status,) = json.loads(netboxit("status", lab, "--json", **here))["labs"]
        return {node["name"]: part for node in status["nodes"] for part in node["management"] or ()}

    def budgets() -> list[int | None]:
        return [parts().get(name, {}).get("budget") for name in ("police", "fire", "medic", "intruder")]

    def queues(host: str) -> str:
        return netboxit("exec", "--lab", lab, host, "--", "tc", "qdisc", "show", "dev", "eth0", **here)

    netboxit("up", EXAMPLE, "--name", lab, **here)
    try:
        until(lambda: budgets() == [450_000] * 4, deadline_s=30.0)
        shared = parts()["allocator"]
        assert (shared["role"], shared["capacity"], shared["share"], shared["members"]) == ("allocator", 1_800_000, 450_000, 4)
        assert "htb" in queues("police") and "htb" in queues("fire")
        assert "htb" not in queues("intruder")
        assert "450 kbit/s" in netboxit("status", lab, **here)
        # A host's programs may end its part: it is started again, and joins again.
        netboxit("exec", "--lab", lab, "fire", "--", "sh", "-c", "kill -9 $(pidof c2ml)", **here)
        until(lambda: budgets() == [450_000] * 4 and "htb" in queues("fire"), deadline_s=30.0)
        said = netboxit("set", "satellite", "rate=900 kbit/s", "--lab", lab, **here)
        assert said == "satellite: rate 900 kbit/s\n"
        until(lambda: budgets() == [225_000] * 4, deadline_s=10.0)
        assert "fire: c2ml was started 2 times, and ended last with status 137" in " ".join(
            netboxit("status", lab, **here).split()
        )
    finally:
        netboxit("down", lab, **here)
