# SPDX-License-Identifier: GPL-2.0-or-later
"""A link layer above a link, a Wi-Fi cell and a satellite in virtual time: what it recovers, what it leaves, what it costs."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Any

import numpy as np
import pytest

from netboxes.endpoints.endpoints_under_test import HOST, PEER, ipv4
from netboxes.engine.virtual import BROADCAST, Change, Emulation, EmulationFailed, TimedFrame, emulate, udp
from netboxes.link_layer.link_layer import LinkLayer

DATA, VOICE = 10, 46
CLASSES = [{"name": "data", "match": {"dscp": [DATA]}}, {"name": "voice", "match": {"dscp": [VOICE]}}]
LINK = {"stations": {"a": {}, "b": {}}, "rate": "10 Mbit/s", "delay": "10 ms", "overhead": "0 B"}
LAYER = {"rate": "9 Mbit/s", "delay": "12 ms"}
#: So far that a frame which is not repeated fades now and then.
CELL = {
    "stations": {"ap": {"role": "access-point"}, "near": {"role": "station"}, "far": {"role": "station"}},
    "distance": "60 m",
    "fading": "nakagami",
    "rate_control": "constant",
    "rate": "24 Mbit/s",
    "retry_limit": 1,
}
SATELLITE = {
    "stations": {"hub": {"role": "gateway"}, "terminal": {"role": "terminal"}},
    "return_rate": "2 Mbit/s",
    "forward_rate": "10 Mbit/s",
    "packet_error_rate": 0.05,
}
#: Bytes of IP and UDP headers, and of the byte that names a packet's protocol (RFC 4944, 5.1).
HEADERS, DISPATCH = 28, 1


def packets(
    count: int, every_s: float, *, dscp: int = DATA, payload: int = 1000, ends: tuple[int, int] = (0, 1), from_s: float = 1.0
) -> list[TimedFrame]:
    ports = (40000 + dscp, 5004 + dscp)
    return [(from_s + n * every_s, udp(*ends, payload, dscp=dscp, identification=n, ports=ports)) for n in range(count)]


def over(
    technology: str, parameters: dict[str, Any], frames: dict[str, list[TimedFrame]], layer: dict[str, Any], **options: Any
) -> Emulation:
    return emulate(technology, parameters, frames, classes=CLASSES, link_layer=layer, **options)


def numbers(ran: Emulation, station: str, dscp: int = DATA) -> list[int]:
    return [int.from_bytes(data[42:46], "big") for _, data in ran.received[station] if data[15] >> 2 == dscp]


def delays_s(ran: Emulation, station: str, sent: Sequence[TimedFrame], dscp: int) -> list[float]:
    times = [at for at, data in ran.received[station] if data[15] >> 2 == dscp]
    return [at - sent[number][0] for at, number in zip(times, numbers(ran, station, dscp), strict=True)]


def service(ran: Emulation, station: str, name: str) -> dict[str, Any]:
    counts: dict[str, Any] = ran.statistics["segment"]["stations"][station]["services"][name]
    return counts


def data_by(scheme: str, **settings: Any) -> dict[str, Any]:
    return {**LAYER, "services": [{"class": "data", "scheme": scheme, **settings}]}


def within(share: float, expected: float, count: int) -> bool:
    """Within three standard deviations of a binomial share."""
    return abs(share - expected) < 3 * sqrt(expected * (1 - expected) / count)


@pytest.mark.parametrize(("scheme", "loss"), [("sr-m1", 0.05), ("sr-m2", 0.1)])
def test_selective_repeat_has_all_packets_arrive_in_order(scheme: str, loss: float) -> None:
    ran = over("link", {**LINK, "loss": loss}, {"a": packets(3000, 2e-3)}, data_by(scheme))
    assert numbers(ran, "b") == list(range(3000))
    of_a = ran.statistics["segment"]["stations"]["a"]["link_layer"]
    assert within(of_a["frames_lost"]["on_air"] / of_a["frames_sent"], loss, of_a["frames_sent"])
    # What is lost is sent again; that more is, is the scheme's doubt.
    assert service(ran, "a", "data")["retransmissions"] >= of_a["frames_lost"]["on_air"] - 3


def test_rlp_that_asks_once_leaves_the_share_of_the_closed_form() -> None:
    """p(1 - (1 - p)^2): a frame is lost, and then its NAK or what the NAK asks for."""
    count, p = 20_000, 0.1
    ran = over("link", {**LINK, "loss": p}, {"a": packets(count, 1e-3, payload=500)}, data_by("rlp-oos", attempts=1))
    assert within(1 - len(numbers(ran, "b")) / count, p * (1 - (1 - p) ** 2), count)


def test_parity_repairs_the_one_loss_of_a_block() -> None:
    """A packet is lost that another frame of its block of 8 + 1 is lost with: p(1 - (1 - p)^8)."""
    count, p = 20_000, 0.05
    ran = over("link", {**LINK, "loss": p}, {"a": packets(count, 1e-3, payload=500)}, data_by("xor", block=8))
    assert within(1 - len(numbers(ran, "b")) / count, p * (1 - (1 - p) ** 8), count // 4)  # losses of a block go together


def test_a_service_chooses_its_scheme_by_the_share_of_frames_that_the_link_loses() -> None:
    """Nothing on a clean link, selective repeat while a twentieth is lost, and nothing again; what is sent then arrives."""
    choices = [{"scheme": "none"}, {"scheme": "sr-m2", "above": 0.01}, {"scheme": "rlp", "above": 0.3}]
    lossy_s, clean_s = 5, 15
    sent = packets(12_000, 2e-3)
    ran = over(
        "link",
        LINK,
        {"a": sent},
        data_by("by-loss", choices=choices),
        events=[
            (lossy_s, "loss", {"model": "independent", "probability": 0.05}),
            (clean_s, "loss", {"model": "independent", "probability": 0.0}),
        ],
        interval_s=1.0,
    )
    told = {
        round(line["at_s"]): [line["statistics"]["stations"][end]["services"]["data"]["scheme"] for end in "ab"]
        for line in ran.journal
        if "statistics" in line
    }
    assert [told[at_s] for at_s in (4, 8, 14, 18)] == [["none"] * 2, ["sr-m2"] * 2, ["sr-m2"] * 2, ["none"] * 2]
    lost = sorted(set(range(len(sent))) - set(numbers(ran, "b")))
    sent_s = [sent[number][0] for number in lost]
    # An interval that is lossy for a part of it may not be enough.
    assert len(lost) > 20 and lossy_s <= sent_s[0] and sent_s[-1] < lossy_s + 2.1
    assert len(numbers(ran, "b")) + len(lost) == len(sent), "nothing comes twice"


def test_a_class_without_a_service_is_neither_repeated_nor_held_up() -> None:
    voice = packets(2000, 10e-3, dscp=VOICE, payload=160)
    ran = over("link", {**LINK, "loss": 0.1}, {"a": packets(2000, 10e-3, payload=500) + voice}, data_by("sr-m2"))
    assert numbers(ran, "b") == list(range(2000))
    assert within(1 - len(numbers(ran, "b", VOICE)) / 2000, 0.1, 2000)
    # No longer than the way, with its own frame and one of the data in front of it at the pace of the layer.
    frame_s = 8 * (500 + HEADERS + DISPATCH + 5) / 9e6
    assert max(delays_s(ran, "b", voice, VOICE)) < 10e-3 + 3 * frame_s
    assert max(delays_s(ran, "b", packets(2000, 10e-3), DATA)) > 2 * 12e-3


def test_frames_go_at_the_pace_of_the_layer_with_its_header_and_nothing_else() -> None:
    ran = over("link", LINK, {"a": packets(20, 0.0)}, {"rate": "5 Mbit/s", "delay": "10 ms", "services": []})
    times = [at for at, _ in ran.received["b"]]
    frame = 8 * (1000 + HEADERS + DISPATCH + 1)  # the raw link has one byte of header
    assert np.diff(times) == pytest.approx(np.full(19, frame / 5e6), abs=1e-9)
    assert times[0] - 1 == pytest.approx(frame / 10e6 + 10e-3, abs=1e-9)
    # Bytes come out as they went in: the header of the link layer is never seen outside.
    assert [data for _, data in ran.received["b"]] == [data for _, data in packets(20, 0.0)]


@pytest.mark.parametrize("scheme", ["sr", "sr-m1", "sr-m2", "rlp"])
def test_a_saturated_service_carries_what_the_layer_does_but_what_is_lost(scheme: str) -> None:
    """1 - p. Its queue holds 92 ms, timers are 46 ms: what is repeated, and acknowledgements, go before what waits."""
    count, p = 9000, 0.01
    back = packets(2000, 3e-3, payload=40, ends=(1, 0))
    ran = over("link", {**LINK, "loss": p}, {"a": packets(count, 0.7e-3), "b": back}, data_by(scheme, queue=100))
    frame_s = 8 * (1000 + HEADERS + DISPATCH + 3) / 9e6
    from_s, until_s = 1.5, 7.0
    carried = sum(from_s < at < until_s for at, _ in ran.received["b"])
    assert carried == pytest.approx((1 - p) * (until_s - from_s) / frame_s, rel=0.02)
    assert numbers(ran, "b") == sorted(numbers(ran, "b"))
    lost = ran.statistics["segment"]["stations"]["a"]["link_layer"]["frames_lost"]["on_air"]
    assert service(ran, "a", "data")["retransmissions"] < 3 * lost
    assert numbers(ran, "a") == list(range(2000))


@pytest.mark.parametrize(("rate", "late"), [("10 Mbit/s", (0.0, 0.0)), ("5 Mbit/s", (0.5, 1.0))])
def test_frames_that_wait_in_a_technology_slower_than_its_layer_are_told(rate: str, late: tuple[float, float]) -> None:
    ran = over("link", {**LINK, "rate": rate}, {"a": packets(2000, 1e-3)}, data_by("sr-m2"))
    of_a = ran.statistics["segment"]["stations"]["a"]["link_layer"]
    assert late[0] <= of_a["frames_late"] / of_a["frames_arrived"] <= late[1]


def test_longer_packets_go_in_pieces_and_arrive_whole() -> None:
    layer = {**data_by("sr-m2"), "frame": "200 B"}
    ran = over("link", {**LINK, "loss": 0.05}, {"a": packets(500, 4e-3)}, layer)
    assert numbers(ran, "b") == list(range(500))
    # RFC 4944, 5.3: 1028 bytes, of which the first piece has 192 and further ones have 192 each.
    assert service(ran, "a", "data")["offered_packets"] == 500 * 6


@pytest.mark.parametrize(
    "disturbance",
    [{"duplication": 0.1}, {"reordering": {"probability": 0.05, "gap": 1, "by": "3 ms"}}, {"corruption": 1e-5}],
)
def test_what_a_technology_repeats_reorders_or_damages_arrives_once_in_order_and_whole(disturbance: dict[str, Any]) -> None:
    sent = packets(2000, 2e-3)
    ran = over("link", {**LINK, **disturbance}, {"a": sent}, data_by("sr-m2"))
    assert [data for _, data in ran.received["b"]] == [data for _, data in sent]


def test_a_mark_of_congestion_of_a_frame_is_its_packets() -> None:
    capable = [(at, data[:15] + bytes([data[15] | 2]) + data[16:]) for at, data in packets(400, 0.5e-3)]
    slow = {**LINK, "rate": "4 Mbit/s", "queue": {"discipline": "codel", "ecn": True, "packets": 1000}}
    ran = over("link", slow, {"a": capable}, data_by("none"))
    marked = [data for _, data in ran.received["b"] if data[15] & 3 == 3]
    assert marked
    assert ran.statistics["frames"]["marked"] == len(marked)


def test_each_pair_of_stations_of_a_cell_has_its_own_services() -> None:
    hello = {name: packets(1, 1, dscp=VOICE, ends=(of, 0), from_s=4) for name, of in (("near", 1), ("far", 2))}
    frames = {"ap": [*packets(2000, 3e-3, from_s=5), *packets(500, 12e-3, ends=(0, 2), from_s=5)], **hello}
    layer = {"rate": "10 Mbit/s", "delay": "5 ms", "services": [{"class": "data", "scheme": "sr-m2"}]}
    bare = emulate("wifi", CELL, frames, classes=CLASSES)
    assert len(numbers(bare, "near")) < 1990
    ran = over("wifi", CELL, frames, layer)
    assert numbers(ran, "near") == list(range(2000))
    assert numbers(ran, "far") == list(range(500))
    assert service(ran, "ap", "data to near")["offered_packets"] == 2000
    assert service(ran, "ap", "data to far")["offered_packets"] == 500


def test_what_is_for_several_stations_goes_as_it_is() -> None:
    all_of_them = [(at, BROADCAST + data[6:]) for at, data in packets(200, 10e-3, from_s=5)]
    layer = {"rate": "10 Mbit/s", "delay": "5 ms", "services": [{"class": "data", "scheme": "sr-m2"}]}
    ran = over("wifi", {**CELL, "distance": "20 m"}, {"ap": all_of_them}, layer)
    assert len(ran.received["near"]) == len(ran.received["far"]) > 150
    assert ran.statistics["segment"]["stations"]["ap"]["link_layer"]["frames_sent"] == 0


def test_a_satellite_link_is_recovered_a_round_trip_later() -> None:
    frames = packets(2000, 3e-3)
    layer = {"rate": "8 Mbit/s", "delay": "270 ms", "services": [{"class": "data", "scheme": "sr-m2"}]}
    ran = over("satellite", SATELLITE, {"hub": frames}, layer)
    assert numbers(ran, "terminal") == list(range(2000))
    assert max(delays_s(ran, "terminal", frames, DATA)) > 3 * 0.254


@pytest.mark.parametrize(("before", "after"), [("sr-m2", "rlp"), ("rlp", "none"), ("none", "sr-m2"), ("go-back-n", "xor")])
def test_services_change_with_their_frames_under_way(before: str, after: str) -> None:
    becomes = LinkLayer.model_validate(data_by(after)).model_dump(mode="json")["services"]
    changes: list[Change] = [(2.0, "services", becomes)]
    ran = over("link", LINK, {"a": packets(1000, 2e-3)}, data_by(before), events=changes)
    assert sorted(numbers(ran, "b")) == list(range(1000))
    assert service(ran, "a", "data")["scheme"] == after


def test_a_segment_that_snoop_repeats_comes_each_time_also_when_it_has_come() -> None:
    """A timeout of 0.1 + 4 · 0.25 s, ten times at most (ns-2 2.1b4, snoop.h). Nobody acknowledges here."""
    segment = ipv4(HOST, PEER, 6, struct.pack(">HHIIHHHH", 5201, 5201, 1, 1, 5 << 12 | 0x10, 65535, 0, 0) + bytes(100))
    snoop = {**LAYER, "services": [{"class": "default", "scheme": "snoop"}]}
    ran = over("link", LINK, {"a": [(1.0, segment)]}, snoop, duration_s=30.0)
    assert [frame for _, frame in ran.received["b"]] == [segment] * 11
    assert np.diff([at for at, _ in ran.received["b"]]) == pytest.approx([1.1] * 10, abs=1e-6)


def test_services_go_and_come_while_frames_of_theirs_wait() -> None:
    """At the pace of the layer half of the packets wait when the services change."""
    two = [{"class": "voice", "scheme": "rlp", "queue": 500}, {"class": "data", "scheme": "sr-m2", "queue": 500}]
    layer = {"rate": "1 Mbit/s", "delay": "12 ms", "services": two}
    changes: list[Change] = [
        (1.5, "services", LinkLayer.model_validate({**layer, "services": []}).model_dump(mode="json")["services"]),
        (2.0, "services", LinkLayer.model_validate(layer).model_dump(mode="json")["services"]),
    ]
    sent = [*packets(100, 1e-3), *packets(100, 1e-3, dscp=VOICE)]
    ran = over("link", LINK, {"a": sent}, layer, events=changes)
    delivered, lost = ran.statistics["frames"]["delivered"], sum(ran.statistics["frames"]["lost"].values())
    assert (delivered + lost, lost) == (200, ran.statistics["frames"]["lost"]["queue_full"])
    assert {*numbers(ran, "b"), *numbers(ran, "b", VOICE)} <= set(range(100))
    assert len(set(numbers(ran, "b"))) == len(numbers(ran, "b"))
    assert {service(ran, "a", name)["scheme"] for name in ("data", "voice")} == {"sr-m2", "rlp"}


def test_a_service_for_a_class_that_is_not_declared_is_refused_by_the_netbox_too() -> None:
    layer = {**LAYER, "services": [{"class": "video"}]}
    with pytest.raises(EmulationFailed) as refused:
        over("link", LINK, {"a": packets(1, 1)}, layer)
    assert "a service is for class 'video', which the netbox does not declare; there are data voice default" in str(refused.value)


def test_a_run_is_the_same_with_the_same_seed() -> None:
    def arrivals() -> Iterable[TimedFrame]:
        return over("link", {**LINK, "loss": 0.1}, {"a": packets(300, 2e-3)}, data_by("rlp"), seed=7).received["b"]

    assert arrivals() == arrivals()
