# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of a network in virtual time: what they change and when, by the frames that arrive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from netboxes.engine.virtual import Emulation, EmulationFailed, Netbox, udp
from netboxes.network.virtual_network import emulate_network
from netboxes.technology import technologies

#: Of all links together.
DELAY_S = 0.03
#: Frames are sent so often, for so long.
GAP_S, UNTIL_S = 0.01, 4.0

Events = Sequence[Mapping[str, Any]]


def carried(events: Events, conditions: Events = (), seconds: float = 5.0) -> dict[str, Emulation]:
    """Three links of 10 ms behind one another."""
    frames = [(number * GAP_S, udp(1, 2, 100, identification=number)) for number in range(round(UNTIL_S / GAP_S))]
    link = technologies()["link"].model_validate({"stations": {"a": {}, "b": {}}, "delay": "10 ms"}).model_dump(mode="json")
    boxes = {
        "one": Netbox("link", ("a", "b"), link, {"a": frames}),
        "two": Netbox("link", ("a", "b"), link),
        "three": Netbox("link", ("a", "b"), link),
    }
    wires = [(("one", "b"), ("two", "a")), (("two", "b"), ("three", "a"))]
    return emulate_network(boxes, wires, seconds, events=events, conditions=conditions)


def gaps(ran: Mapping[str, Emulation]) -> list[tuple[float, float]]:
    """From when to when nothing was sent that arrived, to 10 ms."""
    sent = [time - DELAY_S for time, _ in ran["three"].received["b"]] + [UNTIL_S]
    return [(round(a + GAP_S, 2), round(b, 2)) for a, b in zip([-GAP_S, *sent], sent, strict=False) if b - a > 1.5 * GAP_S]


def test_an_unplugged_wire_carries_nothing() -> None:
    ran = carried([{"at_s": 1, "wire": 0, "up": False}, {"at_s": 1.5, "wire": 0, "up": True}])
    # What was in the first link then meets the gap as well.
    assert gaps(ran) == [(0.99, 1.49)]
    (port,) = [port for port in ran["one"].statistics["ports"] if port["name"] == "b"]
    assert (port["sent"], port["send_drops"]) == (350, 50)


def test_a_netbox_without_power_carries_nothing_and_begins_anew() -> None:
    """Ready at once, as a link is: it carries again with its power, with the parameters of its beginning."""
    events = [
        {"at_s": 0.5, "netbox": "two", "parameter": "delay", "value": 0.01},
        {"at_s": 0.9, "netbox": "two", "parameter": "up", "value": False},
        {"at_s": 1, "node": "two", "power": False},
        {"at_s": 1.5, "node": "two", "power": True},
    ]
    ran = carried(events)
    assert gaps(ran) == [(0.89, 1.49)]
    assert ran["two"].statistics["frames"]["delivered"] == len([time for time, _ in ran["three"].received["b"] if time > 1.5])
    assert ran["two"].journal[0] == {"began_ns": 1_500_000_000}
    assert ran["two"].events("set") == []


def test_what_waits_for_a_word_of_a_netbox_is_made_when_it_is_said() -> None:
    events = [
        {"at_s": 1, "netbox": "one", "parameter": "up", "value": False},
        {"at_s": 0.3, "when": 0, "netbox": "one", "parameter": "up", "value": True},
    ]
    ran = carried(events, [{"netbox": "one", "station": "b", "happens": "link_down", "within_s": 2}])
    assert gaps(ran) == [(1.0, 1.3)]


def test_what_waits_for_silence_and_for_another_event_is_made_after_them() -> None:
    """Looked at every 50 ms, as in a lab: 0.5 s after the last frame, or one look later."""
    events: Events = [
        {"at_s": 1, "wire": 0, "up": False},
        {"at_s": 0, "when": 0, "wire": 0, "up": True},
        {"at_s": 0.2, "when": 1, "netbox": "two", "parameter": "up", "value": False},
    ]
    conditions: Events = [{"netbox": "two", "station": "b", "silent_s": 0.5}, {"after": [1]}]
    ((begin, end), (lost, until)) = gaps(carried(events, conditions))
    assert begin == 0.99
    assert 1.5 <= end <= 1.6
    assert lost == pytest.approx(end + 0.2, abs=0.02)
    assert until == UNTIL_S


def test_what_does_not_come_true_in_time_ends_the_run_with_its_words() -> None:
    condition = {"words": "when one says link_down", "netbox": "one", "happens": "link_down", "within_s": 2}
    with pytest.raises(EmulationFailed, match=r"event when one says link_down: not within 2\.0 s; what it waits for"):
        carried([{"at_s": 0, "when": 0, "wire": 0, "up": False}], [condition])


BAD: Sequence[tuple[dict[str, Any], str]] = [
    ({"at_s": 1, "wire": 2, "up": False}, r"events\[0\]\.wire: is 2, not a number below 2"),
    ({"at_s": 1, "when": 0, "wire": 0, "up": False}, r"events\[0\]\.when: is 0, not a number below 0"),
    ({"at_s": 1, "wire": 0, "up": 1}, r"events\[0\]\.up: is 1, not true or false"),
    ({"at_s": 1, "node": "four", "power": False}, r"event at 1\.0 s: there is no netbox four"),
    ({"at_s": 1, "netbox": "one", "parameter": "delay", "value": -1}, r"event at 1\.0 s: .*delay"),
    ({"at_s": 1, "router": "one", "handler": "rate", "value": "1"}, r"event at 1\.0 s: there is no Click router one"),
]


@pytest.mark.parametrize(("event", "message"), BAD)
def test_a_wrong_event_is_told_with_its_place(event: dict[str, Any], message: str) -> None:
    with pytest.raises(EmulationFailed, match=message):
        carried([event])


#: Of each technology that can be, two stations that have to find each other again.
REBOOTED = {
    "wifi": {"stations": {"b": {"role": "access-point"}, "a": {"role": "station"}}, "standard": "802.11a", "distance": "50 m"},
    "wimax": {"stations": {"a": {"role": "subscriber"}, "b": {"role": "base"}}, "distance": "2.5 km", "tx_power": "30 dBm"},
    "satellite": {
        "stations": {"a": {"role": "terminal"}, "b": {"role": "gateway"}},
        **{"delay": "50 ms", "return_rate": "2 Mbit/s", "forward_rate": "10 Mbit/s"},
    },
    "pan": {"stations": {"a": {"role": "device"}, "b": {"role": "coordinator"}}, "distance": "10 m"},
    "pmr": {"stations": {"a": {}, "b": {"role": "base"}}, "distance": "1 km"},
    "ethernet": {"stations": {"a": {}, "b": {}}, "medium": "shared"},
    "multiservice": {"stations": {"a": {}, "b": {}}, "profile": "wlan", "services": [{"class": "default", "scheme": "sr-m2"}]},
}


def test_all_technologies_of_media_are_among_them() -> None:
    media = {name for name, technology in technologies().items() if technology.STARTS_ANEW and technology.TYPICAL is not None}
    assert media == {*REBOOTED, "link"}


@pytest.mark.parametrize("technology", REBOOTED)
def test_each_technology_begins_anew_in_a_network_that_goes_on(technology: str) -> None:
    """Beside a twin that keeps its power, and is what it would be alone."""
    values = technologies()[technology].model_validate(REBOOTED[technology]).model_dump(mode="json")
    stations = tuple(values["stations"])
    frames = [(5 + number * 0.25, udp(1, 2, 50, identification=number)) for number in range(80)]
    boxes = {name: Netbox(technology, stations, values, {"a": frames}, seed=seed) for name, seed in (("off", 1), ("twin", 2))}
    plain = technologies()["link"].model_validate({"stations": {"a": {}, "b": {}}}).model_dump(mode="json")
    boxes["off"] = Netbox(technology, stations, values, seed=1)
    boxes["in"] = Netbox("link", ("a", "b"), plain, {"a": frames})
    power = [{"at_s": 5.1, "node": "off", "power": False}, {"at_s": 7.1, "node": "off", "power": True}]
    wires = [(("in", "b"), ("off", "a")), (("off", "b"), ("out", "a"))]
    ran = emulate_network({**boxes, "out": Netbox("link", ("a", "b"), plain)}, wires, 26.0, events=power)
    arrived = [time for time, _ in ran["out"].received["b"]]
    assert [time for time in arrived if 10.2 < time < 12.1] == []
    assert len([time for time in arrived if time > 18]) > 20
    alone = emulate_network({"twin": boxes["twin"]}, [], 26.0)
    assert ran["twin"].received == alone["twin"].received
