# SPDX-License-Identifier: GPL-2.0-or-later
"""Traffic of a file beside the plan of a lab that is up."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.errors import BadTopology
from contracts.installation import CHECKOUT
from contracts.plan import Plan, RealtimeSupport
from testbed.description import settings, traffic_file
from testbed.plans.planning import plan_file
from testbed.plans.traffic_plan import BadDuration, plan_lab_traffic

GRANTED = RealtimeSupport(True, 950_000, "SCHED_FIFO works", keep_awake=True)
TOPOLOGIES = sorted((CHECKOUT / "topologies").glob("*.yaml"))

NETWORK = """\
name: sky
centre: b
hosts:
  a: {address: 10.10.0.1/24}
  b: {address: 10.10.0.2/24}
  far: {address: 10.20.0.3/24}
  alone: {address: 10.30.0.4/24}
  other: {address: 10.30.0.5/24}
netboxes:
  line: {technology: link, stations: {one: , other: }}
switches:
  hall: {ports: {a: {vlan: 1}, line: {vlan: 1}, far: {vlan: 2}}}
wires:
  - [a, hall.a]
  - [line.one, hall.line]
  - [b, line.other]
  - [far, hall.far]
  - [alone, other]
"""
FLOW = "traffic:\n  flow: {application: udp-flow, from: FROM, to: TO, rate: 1 Mbit/s}\n"


@pytest.fixture
def lab(tmp_path: Path) -> Plan:
    (file := tmp_path / "sky.yaml").write_text(NETWORK)
    return plan_file(file, lab="up", realtime=GRANTED, cores=(0, 1))


def written(folder: Path, text: str) -> Path:
    (file := folder / "traffic.yaml").write_text(text)
    return file


def between(source: str, destination: str) -> str:
    return FLOW.replace("FROM", source).replace("TO", destination)


def told(file: Path, lab: Plan, *said: str) -> str:
    """What is wrong with it, as the command line tells it, without the folder."""
    with pytest.raises(BadTopology) as error:
        plan_lab_traffic(traffic_file.load(file, settings.read(said)), lab, None)
    return str(error.value).replace(f"{file.parent}/", "")


@pytest.mark.parametrize("file", [one for one in TOPOLOGIES if "traffic:" in one.read_text()], ids=lambda file: file.stem)
def test_in_a_lab_of_the_same_file_it_is_what_a_run_would_send(file: Path) -> None:
    plan = plan_file(file, realtime=GRANTED, cores=(0, 1))
    again = plan_lab_traffic(traffic_file.load(file), plan, None)
    assert again.traffic == plan.traffic
    assert (again.events, again.centre, again.nodes) == ((), plan.centre, plan.nodes)


def test_a_file_with_nothing_but_traffic_takes_addresses_and_centre_of_the_lab(tmp_path: Path, lab: Plan) -> None:
    (entry,) = plan_lab_traffic(traffic_file.load(written(tmp_path, between("a", "b"))), lab, 5.0).traffic
    assert (entry.source_address, entry.destination_address) == ("10.10.0.1", "10.10.0.2")
    assert (entry.direction, entry.options["duration"]) == ("return", 5.0)


def test_its_own_centre_tells_the_directions(tmp_path: Path, lab: Plan) -> None:
    file = written(tmp_path, f"centre: a\n{between('a', 'b')}")
    assert plan_lab_traffic(traffic_file.load(file), lab, None).traffic[0].direction == "forward"


def test_a_value_of_the_command_line_counts_and_is_blamed(tmp_path: Path, lab: Plan) -> None:
    file = written(tmp_path, between("a", "a"))
    wanted = traffic_file.load(file, settings.read(["traffic.flow.to=b", "traffic.flow.rate=2 Mbit/s"]))
    assert plan_lab_traffic(wanted, lab, None).traffic[0].options["rate"] == 2e6
    assert told(file, lab, "traffic.flow.to=c").startswith('--set traffic.flow.to=c: lab up has no host "c"')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (between("a", "bb"), 'traffic.yaml:2:46: lab up has no host "bb"; did you mean "b"?'),
        (between("line", "b"), 'traffic.yaml:2:39: "line" is a netbox of lab up, not a host; did you mean "alone"?'),
        (between("a", "a"), 'traffic.yaml:2:46: the traffic ends at "a", where it starts; give another host'),
        (between("a", "alone"), "traffic.yaml:2:46: in lab up no wires lead from a to alone; give another host"),
        (between("a", "far"), "traffic.yaml:2:46: in lab up no address leads from a to far: their networks are different"),
        (f"centre: c\n{between('a', 'b')}", 'traffic.yaml:1:9: lab up has no host "c"'),
        ("trafic: {}\n", 'traffic.yaml:1:1: there is no key "trafic"; did you mean "traffic"?'),
        ("name: sky\n", '"traffic" is missing; add traffic: …'),
        ("traffic:\n", "traffic: nothing stands where a mapping of keys to values is needed"),
        ("traffic: {}\n", "traffic: "),
        (f"seed: 1\n{between('a', 'b')}", 'traffic.yaml:1:1: there is no key "seed"; use centre, description, name or traffic'),
        (NETWORK, "the file has no traffic; add traffic: …, or name another file"),
        (NETWORK.replace("hosts:", "hostes:"), 'traffic.yaml:3:1: there is no key "hostes"; did you mean "hosts"?'),
        (between("a", "b").replace("rate", "rte"), 'there is no key "rte"; did you mean "rate"?'),
        (between("a", "b").replace("  flow", "  ../flow"), "traffic"),
    ],
)
def test_what_is_wrong_is_told_with_its_place_and_what_to_do(tmp_path: Path, lab: Plan, text: str, message: str) -> None:
    assert message in told(written(tmp_path, text), lab)


def test_all_that_a_lab_lacks_is_told_at_once(tmp_path: Path, lab: Plan) -> None:
    text = f"centre: c\n{between('x', 'y')}"
    assert len(told(written(tmp_path, text), lab).splitlines()) == 3


def test_without_any_centre_the_file_has_to_say_one(tmp_path: Path) -> None:
    (network := tmp_path / "sky.yaml").write_text(NETWORK.replace("centre: b\n", ""))
    lab = plan_file(network, lab="up", realtime=GRANTED, cores=(0, 1))
    assert "neither the file nor lab up has a centre" in told(written(tmp_path, between("a", "b")), lab)


def test_a_duration_that_an_application_cannot_have_is_refused(tmp_path: Path, lab: Plan) -> None:
    with pytest.raises(BadDuration, match="duration of traffic flow"):
        plan_lab_traffic(traffic_file.load(written(tmp_path, between("a", "b"))), lab, 0.1)


def test_a_recording_is_told_to_be_of_no_effect_in_a_lab_and_only_with_its_traffic(tmp_path: Path) -> None:
    """Real telephones call there; in virtual time the packets of the recording are sent."""
    (tmp_path / "call.pcap").touch()
    call = "traffic:\n  talk: {application: call, from: a, to: b, recording: call.pcap}\n"
    (file := tmp_path / "sky.yaml").write_text(NETWORK + call)
    note = "traffic talk: `recording` is used in virtual time only; a lab runs call as without it"
    lab = plan_file(file, lab="up", realtime=GRANTED, cores=(0, 1))
    assert lab.notes.count(note) == 1
    assert plan_lab_traffic(traffic_file.load(written(tmp_path, call)), lab, None).notes.count(note) == 1
    assert note not in plan_lab_traffic(traffic_file.load(written(tmp_path, between("a", "b"))), lab, None).notes


def test_what_traffic_draws_differs_with_the_networks_seed_unless_its_own_is_said(tmp_path: Path) -> None:
    """The periods of on-off were the same in all repetitions of a campaign."""
    flows = "traffic:\n"
    for port, (name, said) in enumerate({"own": ", seed: 7", "first": "", "second": ""}.items(), 6000):
        options = f"from: a, to: b, pattern: on-off, rate: 1 Mbit/s, port: {port}{said}"
        flows += f"  {name}: {{application: udp-flow, {options}}}\n"
    seeds = list[tuple[int, ...]]()
    for seed in (1, 2, 1):
        (file := tmp_path / "sky.yaml").write_text(f"{NETWORK}seed: {seed}\n{flows}")
        plan = plan_file(file, lab="up", realtime=GRANTED, cores=(0, 1))
        seeds.append(tuple(entry.options["seed"] for entry in plan.traffic))
    first, second, again = seeds
    assert first == again
    assert (first[0], second[0]) == (7, 7)
    assert len({*first, *second}) == 5
