# SPDX-License-Identifier: GPL-2.0-or-later
"""What topologies refuse of a campaign's values, and what they would take."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from campaigns import checking
from campaigns.campaign import Campaign
from campaigns.checking import Checked
from campaigns.conftest import TOPOLOGY, Write
from campaigns.measures import Wanted
from campaigns.reference import DOCUMENT
from campaigns.test_description import EXAMPLES
from contracts.errors import BadTopology
from contracts.installation import CHECKOUT
from testbed import virtual_run

VIRTUAL = "topology: x.yaml\nvirtual: true\n"


@pytest.fixture
def few_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of networks whose plans take a tenth of a second."""
    monkeypatch.setattr(checking, "ALL_TRIED", 1)
    monkeypatch.setattr(checking, "MOST_TRIED", 5)


def check(write: Write, text: str) -> Checked:
    return checking.check(Campaign.load(write(text)), lambda step: None)


def wrong(write: Write, text: str) -> list[str]:
    with pytest.raises(BadTopology) as error:
        check(write, text)
    return [str(one).replace(str(write("").parent), "").replace("/campaign.yaml:", "") for one in error.value.errors]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("parameters: {p: {path: netboxs.net.delay, values: [1 ms]}}\n", '3:24: there is no netboxs; did you mean "netboxes"?'),
        (
            "parameters: {p: {path: [netboxes.net.delay, netboxes.met.delay], values: [1 ms]}}\n",
            '3:45: there is no netboxes.met; did you mean "net"?',
        ),
        (
            "parameters: {p: {path: netboxes.net.delya, values: [1 ms, 2 ms]}}\n",
            '3:24: netboxes.net: there is no key "delya"; did you mean "delay"?',
        ),
        (
            "parameters: {p: {path: events.1.at, values: [1 s]}}\n",
            "3:24: there is no events.1; it is a list of 1; say a number from 0 to 0",
        ),
        ("parameters: {p: {path: events.-1.at, values: [1 s]}}\n", "3:24: there is no events.-1"),
        (
            "parameters: {p: {path: netboxes.net.delay, values: [1 ms, 2 ns, 5 m]}}\n",
            "3:65: netboxes.net.delay: 'm' is not a unit of time",
        ),
        (
            "parameters: {p: {path: netboxes.net.delay, from: 1 s, to: 100 s, steps: 3}}\n",
            "3:17: netboxes.net.delay: 50.5 s is outside",
        ),
        (
            "parameters: {p: {values: {a: {netboxes.net.delay: 1 ms}, b: {netboxes.net.delay: x}}}}\n",
            "3:82: netboxes.net.delay: 'x' is not a time",
        ),
        ("parameters: {p: {values: {a: {netboxes.nett.delay: 1 ms}}}}\n", '3:52: there is no netboxes.nett; did you mean "net"?'),
        ("parameters: {p: {path: traffic.flow.application, values: [udp-flow, command]}}\n", "3:69: /x.yaml:10:3: "),
        ("parameters: {p: {path: traffic.flow.to, values: [b, c]}}\n", '3:53: there is no host "c"; use a or b'),
        (
            "parameters: {p: {path: hosts.a.address, values: [10.0.0.1/24, 10.1.0.1/24]}}\n",
            "3:63: /x.yaml:3:49: b.eth0 is in 10.0.0.0/24",
        ),
        ("parameters: {p: {path: hosts.a.address, values: [10.1.0.1/24]}}\n", "3:50: /x.yaml:3:49: b.eth0 is in 10.0.0.0/24"),
        ("parameters: {p: {values: {none: {traffic: {}}, some: {centre: b}}}}\n", "3:33: /x.yaml:1:1: /x.yaml has no traffic"),
        ("measures: [flo.loss_ratio]\n", '3:12: there is no traffic "flo"; did you mean "flow"?'),
        ("measures: [loss_ratio]\n", "3:12: nothing says which traffic loss_ratio is of; write flow.loss_ratio"),
        ("measures: [flow.loss]\n", '3:12: there is no measure "loss"; did you mean loss_ratio?'),
        ("measures: [flow.delya_ms_p99]\n", '3:12: there is no measure "delya_ms_p99"; did you mean "delay_ms_p99"?'),
        ("measures: [flow.mos_e_model]\n", "3:12: flow is udp-flow, which has no mos_e_model; docs/results.md"),
        ("measures: [flow.forwards.loss_ratio]\n", '3:12: "forwards" is not a direction; did you mean "forward"?'),
        ("measures: [nett.lateness_us_p99]\n", '3:12: there is no netbox "nett"; did you mean "net"?'),
        ("measures: [net.c.queue_packets_max]\n", '3:12: net has no station "c"; use a or b'),
        ("measures: [net.c.station_sent_bytes]\n", '3:12: net has no station "c"; use a or b'),
        ("measures: [net.a.b.station_sent_bytes]\n", "3:12: station_sent_bytes of net has no a.b; write net.station_sent_bytes"),
        ("measures: [net.overhead_us_max]\n", "3:12: overhead_us_max is of the whole run; write overhead_us_max"),
        ("measures: [flow.a.b.loss_ratio]\n", "3:12: loss_ratio of flow has no a.b; write flow.loss_ratio"),
        ("repetitions: {until: {measure: flo.loss_ratio, half_width: 1}}\n", '3:32: there is no traffic "flo"'),
        ("warm_up: 60 s\n", "3:10: it leaves nothing of a run, which is 1 min long; say a shorter warm_up"),
        ("warm_up: -1 s\n", "3:10: "),
        (
            "warm_up: 10 s\nparameters: {p: {path: traffic.flow.duration, values: [5 s, 20 s, 10 s]}}\n",
            "3:10: it leaves nothing of a run with p 5 s, which is 5 s long; so it is at other points (1)",
        ),
    ],
)
def test_a_mistake_is_told_at_its_place_in_the_campaign(campaign_file: Write, text: str, expected: str) -> None:
    told = wrong(campaign_file, VIRTUAL + text)
    assert any(expected in one for one in told), told


def test_a_wrong_value_is_told_once_however_many_points_have_it(campaign_file: Write) -> None:
    values = "{p: {path: netboxes.net.delay, values: [x, 2 ms]}, q: {path: traffic.flow.rate, values: [1 Mbit/s, y]}}"
    told = wrong(campaign_file, f"{VIRTUAL}parameters: {values}\n")
    assert [one.partition(": ")[0] for one in told] == ["3:53", "3:112"]


def test_what_a_topology_itself_has_wrong_is_told_of_the_topology(campaign_file: Write) -> None:
    (campaign_file("").parent / "x.yaml").write_text(TOPOLOGY.replace("centre: b", "centre: c"))
    (told,) = wrong(campaign_file, VIRTUAL + "parameters: {p: {path: netboxes.net.delay, values: [1 ms, 2 ms]}}\n")
    assert told.startswith("/x.yaml:2:9: ")


def test_what_only_several_values_together_have_wrong_is_told_with_them(campaign_file: Write) -> None:
    ends = "p: {path: traffic.flow.from, values: [a, b]}, q: {path: traffic.flow.to, values: [b, a]}"
    told = wrong(campaign_file, f"{VIRTUAL}parameters: {{{ends}}}\n")
    assert told and all(one.startswith("3:") for one in told), told


def test_a_path_is_looked_for_in_each_of_several_topologies(campaign_file: Write) -> None:
    text = "topologies: {a: x.yaml, b: y.yaml}\nvirtual: true\nparameters: {p: {path: PATH, values: [1 ms]}}\n"
    (told,) = wrong(campaign_file, text.replace("PATH", "netboxes.net.delay"))
    assert told.startswith("3:24: topology b: there is no netboxes.net; ")
    checked = check(campaign_file, text.replace("PATH", "{a: netboxes.net.delay, b: netboxes.path.delay}"))
    assert [dict(point.parameters) for point in checked.points] == [
        {"topology": "a", "p": "1 ms"},
        {"topology": "b", "p": "1 ms"},
    ]


def test_what_virtual_time_refuses_is_told(campaign_file: Write) -> None:
    host = "{address: 10.0.0.1/24}"
    (campaign_file("").parent / "x.yaml").write_text(TOPOLOGY.replace(host, f"{host[:-1]}, start: ls}}"))
    assert any("host a starts a program" in one for one in wrong(campaign_file, VIRTUAL))
    check(campaign_file, "topology: x.yaml\nparameters: {p: {path: netboxes.net.delay, values: [1 ms]}}\n")


def test_runs_last_as_long_as_the_topologys_traffic_or_as_the_campaign_says(campaign_file: Write) -> None:
    values = "{p: {path: traffic.flow.duration, values: [2 s, 9 s]}, q: {path: traffic.flow.start, values: [1 s]}}"
    checked = check(campaign_file, f"{VIRTUAL}parameters: {values}\n")
    assert (checked.shortest_s(), checked.longest_s()) == (3, 10)
    assert check(campaign_file, f"{VIRTUAL}duration: 5 s\n").longest_s() == 5


def test_of_many_points_so_many_are_tried_that_each_value_is_in_one(campaign_file: Write) -> None:
    delay = "p: {path: netboxes.net.delay, from: 1 ms, to: 20 ms, steps: 20}"
    rate = "q: {path: traffic.flow.rate, from: 1 Mbit/s, to: 2 Mbit/s, steps: 20}"
    checked = check(campaign_file, f"{VIRTUAL}parameters: {{{delay}, {rate}}}\n")
    tried = [point.parameters for point in checked.points if point.number in checked.plans]
    assert len(checked.points) == 400 and len(tried) <= 40
    assert [len({point[name] for point in tried}) for name in ("p", "q")] == [20, 20]
    assert f"{len(tried)} of 400 points were tried" in " ".join(checked.notes())


def test_of_very_many_points_the_ends_are_tried_and_some_everywhere(campaign_file: Write, few_tried: None) -> None:
    delays = "parameters: {p: {path: netboxes.net.delay, from: 1 ms, to: TO, steps: 500}}\n"
    (told,) = wrong(campaign_file, VIRTUAL + delays.replace("TO", "10.01 s"))
    assert "10010 ms is outside" in told
    tried = check(campaign_file, VIRTUAL + delays.replace("TO", "10 s")).plans
    assert set(tried) == {0, 128, 256, 384, 499}


def test_measures_of_a_run_are_those_that_its_tables_have(campaign_file: Write, tmp_path: Path) -> None:
    names = [
        "flow.loss_ratio",
        "flow.return.delay_ms_mean",
        "flow.forward.received",
        "net.segment_delay_ms_p50",
        "net.a.queue_packets_max",
        "net.a.station_sent_bytes",
    ]
    text = f"{VIRTUAL}duration: 2 s\nmeasures: [{', '.join(names)}]\n"
    checked = check(campaign_file, text)
    (point,) = checked.points
    outcome = virtual_run.run(
        checked.campaign.topology(point),
        lab=None,
        duration_s=2.0,
        progress=lambda step: None,
        results=tmp_path,
        settings=checked.campaign.settings(point, 0),
    )
    loss, delay, forward, inside, waiting, sent = (Wanted.parse(name).of_run(outcome.folder) for name in names)
    (flow,) = outcome.metrics["flows"]
    assert flow["one_way_delay_ms"] is not None
    assert loss == {"flow.return.loss_ratio": 0.0}
    assert delay == {"flow.return.delay_ms_mean": flow["one_way_delay_ms"]["mean"]}
    assert forward == {}
    # 542 bytes at 10 Mbit/s and 1 ms.
    assert inside == {"net.return.segment_delay_ms_p50": pytest.approx(1.0 + 542 * 8 / 1e4, abs=0.02)}
    assert list(waiting) and all(name.startswith("net.a.") and name.endswith(".queue_packets_max") for name in waiting)
    assert sent == {"net.a.station_sent_bytes": pytest.approx(flow["packets"] * 542, rel=0.05)}


def test_a_measure_of_several_connections_is_their_mean() -> None:
    """The connections of a traffic have one name, and runs are told apart."""
    columns = {"run": ["0", "0", "1"], "traffic": ["net"] * 3, "direction": ["return"] * 3, "loss_ratio": [0.1, 0.3, 0.5]}
    found = Wanted.parse("net.loss_ratio").rows(pl.LazyFrame(columns), pl.LazyFrame({"value": []})).collect()
    assert found.to_dicts() == [
        {"run": "0", "name": "net.return.loss_ratio", "value": pytest.approx(0.2)},
        {"run": "1", "name": "net.return.loss_ratio", "value": pytest.approx(0.5)},
    ]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example.stem))
def test_the_examples_are_sound(example: Path, few_tried: None) -> None:
    campaign = Campaign.load(example)
    assert len(checking.check(campaign, lambda step: None).points) >= 3


@pytest.mark.parametrize("example", re.findall(r"```yaml\n(.*?)```", DOCUMENT.read_text(), flags=re.DOTALL))
def test_the_examples_of_the_document_are_sound(example: str, tmp_path: Path, few_tried: None) -> None:
    (tmp_path / "topologies").symlink_to(CHECKOUT / "topologies")
    (tmp_path / "campaigns").mkdir()
    (file := tmp_path / "campaigns/example.yaml").write_text(example)
    assert len(checking.check(Campaign.load(file), lambda step: None).points) >= 4
