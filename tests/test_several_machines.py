# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab over two machines, by the commands that an operator gives on one of them; nothing of it stays on either."""

from __future__ import annotations

import difflib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from contracts.installation import CHECKOUT
from contracts.names import monitors_namespace, sealed_address
from tests.documents import documents
from tests.host_state import HostState
from tests.member_hosts import INVENTORY, STATE, MemberHosts, run_in_member_hosts
from tests.waiting import until

pytestmark = pytest.mark.lab

#: The wire between the segments is a tunnel, and the host behind it has a server of its own.
TOPOLOGY = """\
name: x
hosts:
  a: {address: 10.10.0.11/24, host: alpha}
  b: {address: 10.10.0.12/24, host: beta, start: "echo from b >page && exec python3 -m http.server 80"}
netboxes:
  first: {technology: ethernet, medium: switched, host: alpha, stations: {left: {}, right: {}}}
  second: {technology: ethernet, medium: switched, host: beta, stations: {left: {}, right: {}}}
wires:
  - [a, first.left]
  - [first.right, second.left]
  - [second.right, b]
"""
#: Longer than any of this takes.
TRAFFIC = """\
centre: b
traffic:
  out: {application: udp-flow, from: a, to: b, rate: 80 kbit/s, payload: 172 B, duration: 10 min}
"""
RESULTS = Path("/var/tmp/results")
FILE = Path("/var/tmp/x.yaml")
LAB = STATE / "labs" / "x"
ASK = "import urllib.request; print(urllib.request.urlopen('http://b/page', timeout=5).read().decode())"
PING = ("exec", "a", "--", "ping", "-c", "1", "-W", "5", "b")

#: What is looked at on both machines. Neighbours come and go with the packets between the machines, processes with ssh; and where
#: the first lab comes up, some mounts and folders are made that stay (docs/architecture.md).
PARTS = ("links", "addresses", "routes", "rules", "packet filters", "sysctls", "groups")
ALL = (*PARTS, "mounts", "files")
SAID = (
    f"import json, sys; sys.path.insert(0, {str(CHECKOUT)!r}); from tests.host_state import HostState; "
    f"print(json.dumps(dict(HostState.now({ALL!r}).parts)))"
)


@dataclass(frozen=True)
class Answer:
    status: int
    said: str


def netboxit(*words: str) -> Answer:
    argv = [sys.executable, str(CHECKOUT / "netboxit.py"), *words]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    return Answer(done.returncode, done.stdout + done.stderr)


def done(*words: str) -> str:
    answer = netboxit(*words)
    assert answer.status == 0, f"{words}: {answer}"
    return answer.said


def told(*words: str) -> Any:
    argv = [sys.executable, str(CHECKOUT / "netboxit.py"), *words, "--json"]
    return documents(subprocess.run(argv, capture_output=True, text=True, timeout=120, check=True).stdout)[-1]


def prepare(more: str = "") -> None:
    FILE.write_text(TOPOLOGY + more)
    os.environ |= {"NETBOXIT_STATE": str(STATE), "NETBOXIT_INVENTORY": str(INVENTORY)}


def both(hosts: MemberHosts) -> dict[str, str]:
    """What there is on both machines, by part."""
    there = json.loads(hosts.run("beta", f"{CHECKOUT}/.venv/bin/python -c '{SAID.replace(chr(39), chr(34))}'"))
    return {part: f"{text}on beta:\n{there[part]}" for part, text in HostState.now(ALL).parts.items()}


def changes(before: Mapping[str, str], now: Mapping[str, str], parts: Sequence[str]) -> list[str]:
    """What is different, as lines of a diff."""
    diffs = (difflib.unified_diff(before[part].splitlines(), now[part].splitlines(), part, "now", n=0) for part in parts)
    return [line for lines in diffs for line in lines]


def commands(hosts: MemberHosts) -> None:
    prepare()
    before = both(hosts)
    done("up", str(FILE))
    reach_both_machines()
    done("down")
    after = both(hosts)
    assert changes(before, after, PARTS) == []
    up_killed_at(LAB / "containers")
    done("down")
    assert not LAB.exists()
    assert changes(after, both(hosts), ALL) == []


def reach_both_machines() -> None:
    status = told("status")["labs"][0]
    assert {node["name"]: (node["host"], node["alive"]) for node in status["nodes"]} == {
        "a": ("alpha", True),
        "b": ("beta", True),
        "first": ("alpha", True),
        "second": ("beta", True),
    }
    kinds = {wire["name"]: wire["kind"] for wire in status["wires"]}
    assert kinds == {"a.eth0--first.left": "veth", "second.right--b.eth0": "veth", "first.right--second.left": "vxlan"}
    assert "1 received" in done(*PING)
    until(lambda: "from b" in netboxit("exec", "a", "--", "python3", "-c", ASK).said, "the server in b")
    programs = {node["name"]: node["program"] and node["program"]["state"] for node in told("status")["labs"][0]["nodes"]}
    assert programs == {"a": None, "b": "runs", "first": None, "second": None}
    assert netboxit("exec", "b", "--", "sh", "-c", "hostname; exit 7") == Answer(7, "b\n")
    no_node = "netboxit: lab x has no node c; its nodes are a, b, first, second\n"
    assert netboxit("exec", "c", "--", "true") == Answer(2, no_node)
    assert done("set", "second", "delay=20 ms") == "second: delay 20 ms\n"
    # A wire between machines is unplugged at both ends: else one of them would have its carrier still.
    assert {(one["node"], one["state"]) for one in told("set", "first.right", "state=down")["changes"]} == {
        ("first", "down"),
        ("second", "down"),
    }
    done("set", "second.left", "state=up")
    done("capture", "b", "/var/tmp/b.pcapng", "--duration", "0.2 s")
    assert Path("/var/tmp/b.pcapng").stat().st_size
    refused = netboxit("capture", "a", "b", "/var/tmp/both.pcapng")
    assert refused.status == 2 and "these are on several: a on alpha, b on beta" in refused.said


def up_killed_at(moment: Path) -> None:
    """The command is killed as soon as there is that file; inventory and topology are then gone, too."""
    prepare()
    up = subprocess.Popen([sys.executable, str(CHECKOUT / "netboxit.py"), "up", str(FILE)], stderr=subprocess.DEVNULL)
    until(moment.exists)
    up.send_signal(signal.SIGKILL)
    up.wait()
    FILE.unlink()
    os.environ.pop("NETBOXIT_INVENTORY")


def test_commands_reach_both_machines_and_nothing_stays_also_of_what_was_killed() -> None:
    run_in_member_hosts(commands)


def seal(hosts: MemberHosts) -> None:
    """The direct cable in WireGuard's place, which this kernel may not have (tests/guest has it)."""
    for name, other, mtu in (("alpha", "beta", 1570), ("beta", "alpha", 1569)):
        commands = (
            f"ip link set to-{other} down; ip link set to-{other} name netboxit mtu {mtu} up; ethtool -K netboxit gro off; "
            f"ip address add {sealed_address(name)}/64 dev netboxit nodad"
        )
        if name == "alpha":
            subprocess.run(["sh", "-ec", commands], check=True)
        else:
            hosts.run(name, commands)
    inventory = yaml.safe_load(INVENTORY.read_text())
    inventory["all"].setdefault("vars", {})["netboxit_tunnels"] = "wireguard"
    INVENTORY.write_text(yaml.safe_dump(inventory))


def sealed(hosts: MemberHosts) -> None:
    prepare()
    assert any("wires between machines are open" in note for note in told("plan", str(FILE))["notes"])
    seal(hosts)
    answer = netboxit("up", str(FILE))
    assert (
        answer.status == 1
        and "beta: WireGuard carries packets of 1569 bytes, and a packet of 1500 bytes takes 1570" in answer.said
    )
    hosts.run("beta", "ip link set netboxit mtu 1570")
    plan = told("plan", str(FILE))
    assert [host["sealed"] for host in plan["hosts"]] == [True, True]
    assert not any("wires between machines are open" in note for note in plan["notes"])
    done("up", str(FILE))
    assert "1 received" in done(*PING)
    shown = subprocess.check_output(["ip", "-d", "-n", "nbx-x-first", "link", "show", "right"], text=True)
    assert f"remote {sealed_address('beta')} local {sealed_address('alpha')} dev" in shown
    done("down")
    assert "netboxit:" not in subprocess.check_output(["ip", "link", "show", "netboxit"], text=True)


@pytest.mark.long
def test_sealed_wires_go_by_wireguard_s_interface_and_what_it_lacks_is_told() -> None:
    run_in_member_hosts(sealed, mtu=1640)


def be_impatient() -> None:
    """With a machine that does not answer."""
    options = "-o ConnectTimeout=2 -o ServerAliveInterval=1 -o ServerAliveCountMax=2"
    INVENTORY.write_text(INVENTORY.read_text().replace("-o UserKnownHostsFile", f"{options} -o UserKnownHostsFile"))


def cut_off(hosts: MemberHosts) -> None:
    prepare()
    be_impatient()
    done("up", str(FILE))
    hosts.cut_off("beta")
    nodes = {node["name"]: node["alive"] for node in told("status")["labs"][0]["nodes"]}
    assert nodes == {"a": True, "b": None, "first": True, "second": None}
    answer = netboxit("down")
    assert answer.status == 1 and "lab x is not down everywhere; `netboxit down x` goes on when" in answer.said, answer
    assert not any(Path("/run/netns").iterdir())
    hosts.plug_in("beta")
    assert hosts.run("beta", "ls", "/run/netns").split() == ["nbx-x-b", "nbx-x-second", monitors_namespace("x")]
    INVENTORY.unlink()
    done("down")
    assert hosts.run("beta", f"ls /run/netns {STATE}/labs").split() == ["/run/netns:", f"{STATE}/labs:"]
    assert not LAB.exists()


@pytest.mark.long
def test_a_machine_that_was_cut_off_during_down_is_taken_down_when_it_is_back() -> None:
    run_in_member_hosts(cut_off)


def refused(hosts: MemberHosts) -> None:
    prepare()
    hosts.run("beta", "nft add table inet f && nft add chain inet f i '{ type filter hook input priority 0; }'")
    hosts.run("beta", "nft add rule inet f i udp dport 4789 drop")
    answer = netboxit("up", str(FILE))
    assert answer.status == 1
    assert "wire first.right--second.left: no frame of full size (1514 bytes) gets from alpha to beta" in answer.said
    assert not LAB.exists()
    assert hosts.run("beta", f"ls /run/netns {STATE}/labs").split() == ["/run/netns:", f"{STATE}/labs:"]


def test_a_wire_that_a_firewall_stops_is_told_and_nothing_stays_up() -> None:
    run_in_member_hosts(refused)


def runs(hosts: MemberHosts) -> None:
    prepare(TRAFFIC)
    be_impatient()
    run = running()
    run.send_signal(signal.SIGINT)
    assert run.wait(60) == 1
    assert json.loads((RESULTS / "latest/run.json").read_text())["failure"].startswith("interrupted")
    files = ("captures/a.pcapng", "captures/b.pcapng", "nodes/first/frames.bin", "nodes/second/frames.bin", "hosts.json")
    assert [file for file in files if not (RESULTS / "latest" / file).exists()] == []
    assert hosts.run("beta", f"ls /run/netns {STATE}/labs").split() == ["/run/netns:", f"{STATE}/labs:"]

    run = running()
    hosts.cut_off("beta")
    assert run.wait(60) == 4
    reasons = json.loads((RESULTS / "latest/metrics.json").read_text())["verdict"]["reasons"]
    assert any("beta: the connection is lost" in reason for reason in reasons), reasons
    assert (RESULTS / "latest/nodes/first/frames.bin").exists()
    assert not any(Path("/run/netns").iterdir())
    hosts.plug_in("beta")
    done("down")
    assert not LAB.exists()
    assert hosts.run("beta", f"ls /run/netns {STATE}/labs").split() == ["/run/netns:", f"{STATE}/labs:"]


def running() -> subprocess.Popen[bytes]:
    """A run whose traffic flows on both machines."""
    argv = [sys.executable, str(CHECKOUT / "netboxit.py"), "run", str(FILE), "--results", str(RESULTS)]
    (RESULTS / "latest").unlink(missing_ok=True)
    run = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    events = RESULTS / "latest" / "events.jsonl"
    until(lambda: run.poll() is not None or (events.exists() and "out starts" in events.read_text()), "traffic", deadline_s=60.0)
    return run


@pytest.mark.long
def test_a_run_that_is_interrupted_or_loses_a_machine_is_taken_down_and_says_so() -> None:
    run_in_member_hosts(runs)
