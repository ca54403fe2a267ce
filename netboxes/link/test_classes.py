# SPDX-License-Identifier: GPL-2.0-or-later
"""Queues with lines by traffic class in front of a link, in virtual time; their own tests: netboxes/queueing/test_by_class.cc."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from contracts.installation import CHECKOUT
from netboxes.engine.virtual import Change, Emulation, EmulationFailed, TimedFrame, emulate, udp
from netboxes.link.parameters import Parameters
from results.records import Fate
from testbed.description.live import parsed, read_value

#: In the order in which the netbox declares them.
DSCP = {"voice": 46, "video": 34, "default": 0}
NAMES = ["voice", "video"]
CLASSES = [{"name": name, "match": {"dscp": [DSCP[name]]}} for name in NAMES]
PAYLOAD = 958
#: Each class offers 2 of the link's 3 Mbit/s, in frames of 1000 bytes.
SENT_S = 4.0
RATE = "3 Mbit/s"


def all_classes() -> list[TimedFrame]:
    return sorted(
        (1 + number * 4e-3, udp(0, 1, PAYLOAD, dscp=dscp, identification=number))
        for dscp in DSCP.values()
        for number in range(int(SENT_S / 4e-3))
    )


def over_link(queue: Any, frames: Sequence[TimedFrame], events: Sequence[Change] = ()) -> Emulation:
    link = {"stations": {"left": {}, "right": {}}, "rate": RATE, "queue": queue}
    return emulate("link", link, {"left": frames}, classes=CLASSES, events=events)


def shares(ran: Emulation, from_s: float, until_s: float) -> list[float]:
    """Of the frames that arrived in that time: by class."""
    arrived = ran.records[ran.records["fate"] == Fate.DELIVERED]
    within = arrived[(arrived["out_ns"] >= from_s * 1e9) & (arrived["out_ns"] < until_s * 1e9)]
    return [float((within["class"] == number).mean()) for number in range(len(DSCP))]


def value(text: str) -> Any:
    return read_value(Parameters, *parsed(f"queue={text}"), None, NAMES)


@pytest.mark.parametrize("scheduler", ["drr", "scfq", "wf2q+", "qfq", "qfq+"])
def test_greedy_classes_share_the_rate_by_their_weights(scheduler: str) -> None:
    """Voice, which has more than it sends, has all of that; the others share the rest 3 to 1 (max-min)."""
    ran = over_link({"discipline": scheduler, "weights": {"voice": 20, "video": 3}, "packets": 50}, all_classes())
    assert shares(ran, 1.5, 4.9) == pytest.approx([2 / 3, 1 / 4, 1 / 12], abs=0.02)
    assert ran.statistics["segment"]["stations"]["left"]["lost"]["queue_full"] > 0


def test_other_weights_hold_at_once_and_nothing_that_waits_is_lost() -> None:
    weights = {"discipline": "wf2q+", "packets": 2000, "weights": {"voice": 1, "video": 1}}
    others = (
        "{discipline: wf2q+, packets: 2000, weights: {voice: 1, video: 8, default: 1}, inner: {discipline: codel, target: 10 s}}"
    )
    ran = over_link(weights, all_classes(), [(3.0, "queue", value(others))])
    assert shares(ran, 1.5, 3.0) == pytest.approx([1 / 3] * 3, abs=0.01)
    # Voice and video have some 250 frames left of their first seconds, and come faster than they go.
    assert shares(ran, 3.0, 4.0) == pytest.approx([0.1, 0.8, 0.1], abs=0.01)
    assert len(ran.records) == len(all_classes()) == (ran.records["fate"] == Fate.DELIVERED).sum()


def test_each_class_has_statistics_of_its_own() -> None:
    weights = {"voice": 20, "video": 3}
    ran = over_link({"discipline": "drr", "weights": weights, "packets": 40, "classes": {"default": "codel"}}, all_classes())
    queue = ran.statistics["segment"]["stations"]["left"]["queue"]
    assert [own["class"] for own in queue["classes"]] == list(DSCP)
    assert {key for own in queue["classes"] for key in own} == {*queue, "class"} - {"classes"}
    for cause, count in queue["dropped"].items():
        assert sum(own["dropped"][cause] for own in queue["classes"]) == count
    voice, video, others = queue["classes"]
    assert voice["dropped"] == {"full": 0, "early": 0, "expired": 0}
    assert video["length"]["max"] == 40 and video["dropped"]["full"] > 300
    assert others["dropped"]["early"] > 0
    assert voice["length"]["max"] < 10


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{discipline: drr, inner: 20, packets: 50}", {"discipline": "fifo", "packets": 20, "bytes": None}),
        ("{discipline: drr, inner: codel, packets: 50}", {"discipline": "codel", "packets": 50, "target": 0.005}),
        (
            "{discipline: drr, inner: codel, classes: {video: {bytes: 9 kB}}}",
            {"packets": None, "bytes": 9000},
        ),
        ("{discipline: drr, inner: codel, classes: {voice: 9}}", {"discipline": "codel", "packets": 1000, "target": 0.005}),
        ("priority", {"discipline": "fifo", "packets": 1000, "bytes": None}),
    ],
)
def test_what_is_not_said_of_a_class_is_said_of_all_or_of_the_queue(text: str, line: dict[str, Any]) -> None:
    lines = value(text)["lines"]
    assert [own["class"] for own in lines] == list(DSCP)
    assert {key: lines[1]["queue"][key] for key in line} == line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{discipline: drr, weights: {vioce: 4}}", 'queue.weights.vioce: the netbox has no class "vioce"; did you mean "voice"?'),
        ("{discipline: drr, weights: {voice: 0}}", "queue.weights.voice: 0 is less than 1; use 1 or more"),
        ("{discipline: pie, weights: {voice: 4}}", "queue.weights: pie has no lines by traffic class that weigh; use drr"),
        ("{discipline: drr, inner: {inner: fifo}}", "queue.inner.inner: nesting too deep: the queue of a class has no"),
        ("{rate: 0 bit/s}", "queue.rate: 0 bit/s is outside 1 kbit/s … 100 Gbit/s"),
        ("{rate: -5 Mbit/s}", "queue.rate: -5 Mbit/s is outside 1 kbit/s … 100 Gbit/s"),
        ("{overhead: 24 B}", "queue: `overhead` is what `rate` counts for each packet besides its bytes; say a `rate`, or leave"),
        ("{discipline: drr, inner: {rate: 1 Mbit/s}}", "queue.inner.rate: the rate is that of the whole queue; say it there"),
        ("{discipline: cake, isolation: by-colour}", "queue.isolation: 'by-colour' is not known here; use flows, dual-srchost,"),
    ],
)
def test_a_live_change_that_is_wrong_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(ValueError) as refused:
        value(text)
    assert str(refused.value).startswith(message)


def test_what_the_page_on_queues_says_can_be_said() -> None:
    page = (CHECKOUT / "netboxes/queueing/README.md").read_text()
    texts = re.findall(r"^queue: (.+?)(?: +#.*)?$", page, re.MULTILINE) + re.findall(r"'queue=(.+?)'", page)
    assert len(texts) == 10
    for text in texts:
        value(text)


GOOD = {"class": "default", "weight": 1, "queue": {"discipline": "fifo"}}
DRR = {"discipline": "drr", "flows": 1024, "quantum": 1514}


@pytest.mark.parametrize(
    ("queue", "message"),
    [
        (DRR | {"lines": [GOOD | {"weight": 0}]}, "its lines[0].weight is a whole number from 1 to 1024"),
        (DRR | {"lines": []}, "its lines is a list of 1 or more"),
        (DRR | {"lines": [GOOD | {"class": None}]}, "its lines.0.class is the name of a traffic class"),
        (DRR | {"lines": [GOOD | {"queue": DRR | {"lines": [GOOD]}}]}, "nesting too deep; the queue of a class has no classes"),
        ({"discipline": "priority"}, "priority needs lines, one for each traffic class"),
        (
            DRR | {"lines": [GOOD | {"queue": {"discipline": "fifo", "rate": 1e6}}]},
            "the rate is that of the whole queue; say it there",
        ),
    ],
)
def test_a_netbox_refuses_lines_that_are_wrong(queue: dict[str, Any], message: str) -> None:
    with pytest.raises(EmulationFailed) as refused:
        over_link(100, all_classes()[:2], [(2.0, "queue", queue)])
    assert message in str(refused.value)
