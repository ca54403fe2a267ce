# SPDX-License-Identifier: GPL-2.0-or-later
"""File transfers by the TCP of 1999 over a multi-service link: what schemes of recovery are for."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from netboxes.endpoints.endpoints_under_test import HOST, PEER, bulk, host, interface, ipv4
from netboxes.engine.virtual import Emulation, Netbox, emulate
from netboxes.network.virtual_network import emulate_network
from netboxes.technology import technologies
from results.records import Fate

RENO = {"variant": "reno-1999"}
#: Bytes of a frame.
SEGMENT = {"pcs": 250, "wlan": 1000}
START_S = 1.0


def transfer(
    profile: str, level: int, scheme: str, size: int, duration_s: float, *, two_links: bool = False, **layer: Any
) -> dict[str, Emulation]:
    """From a host at a LAN of 10 Mbit/s and 1 ms, by the base, to the mobile: the source's LAN1. With two wireless links from
    another mobile, by its own base and the LAN: LAN2."""
    tcp = {**RENO, "mss": SEGMENT[profile]}
    receiver = {"hosts": {"h": {"interfaces": {"a": interface(PEER, "10.0.0.2/24")}}}}
    links = {
        "lan": ("link", {"stations": {"a": {}, "b": {}}, "rate": "10 Mbit/s", "delay": "1 ms"}),
        "air": (
            "multiservice",
            {
                "stations": {"base": {}, "mobile": {}},
                "profile": profile,
                "errors": {"level": level},
                "services": [{"class": "default", "scheme": scheme}],
                **layer,
            },
        ),
    }
    boxes = {
        "server": Netbox("endpoints", ("a",), host(bulk("sender", size=size, start_s=START_S, tcp=tcp))),
        "client": Netbox("endpoints", ("a",), {**receiver, "flows": [{"host": "h", **bulk("receiver", tcp=tcp)}]}),
    }
    if two_links:
        links["near"] = links["air"]
    for name, (technology, said) in links.items():
        values = technologies()[technology].model_validate(said).model_dump(mode="json")
        boxes[name] = Netbox(technology, tuple(values["stations"]), values)
    first = [(("server", "a"), ("lan", "a"))]
    if two_links:
        first = [(("server", "a"), ("near", "mobile")), (("near", "base"), ("lan", "a"))]
    wires = [*first, (("lan", "b"), ("air", "base")), (("air", "mobile"), ("client", "a"))]
    ran = emulate_network(boxes, wires, duration_s)
    assert ran["client"].statistics["segment"]["flows"][0]["received"] == size
    return ran


@pytest.mark.parametrize(
    ("profile", "level", "size", "expected_kbps"),
    [
        ("wlan", 3, 20_000_000, {"none": 485, "go-back-n": 1088, "sr-m2": 1851, "rlp": 1863, "snoop": 1757}),
        ("pcs", 1, 4_000_000, {"none": 49.5, "go-back-n": 50.9, "sr-m2": 60.9, "rlp": 61.1, "snoop": 55.2}),
    ],
)
def test_a_transfer_is_as_fast_as_in_another_simulation(
    profile: str, level: int, size: int, expected_kbps: dict[str, float]
) -> None:
    """An independent simulation of the same links, schemes and TCP: the source has no throughput in numbers."""
    for scheme, kbps in expected_kbps.items():
        ran = transfer(profile, level, scheme, size, 8 * size / (kbps * 1e3) * 1.4 + 50)
        records = ran["air"].records
        last_s = records[records["fate"] == Fate.DELIVERED]["out_ns"].max() / 1e9
        assert 8 * size / (last_s - START_S) / 1e3 == pytest.approx(kbps, rel=0.1), scheme


def test_snoop_helps_little_where_the_sender_has_a_wireless_link_too() -> None:
    """Snoop repairs from the base to the mobile; what the sender's own link loses, only the sender can send again. With two
    wireless links Snoop gains little (dissertation, 4.3.1)."""
    size, kbps = 2_000_000, {}
    for scheme in ("none", "snoop", "sr-m2"):
        ran = transfer("wlan", 3, scheme, size, 250.0, two_links=True)
        records = ran["air"].records
        kbps[scheme] = 8 * size / (records[records["fate"] == Fate.DELIVERED]["out_ns"].max() / 1e9 - START_S) / 1e3
    gain = {scheme: kbps[scheme] / kbps["none"] - 1 for scheme in ("snoop", "sr-m2")}
    assert 0 < gain["snoop"] < gain["sr-m2"] / 2, kbps


def test_snoop_holds_duplicate_acknowledgements_back_only_where_it_can_repair() -> None:
    """It repeats at the base; what it suppresses at its end is no loss of the network."""
    ran = transfer("wlan", 4, "snoop", 2_000_000, 120.0)
    stations = ran["air"].statistics["segment"]["stations"]
    base, mobile = (stations[name]["services"]["default"] for name in ("base", "mobile"))
    assert base["retransmissions"] > 50
    assert base["dropped"].get("suppressed", 0) + mobile["dropped"].get("suppressed", 0) > 50
    assert ran["server"].statistics["segment"]["flows"][0]["retransmissions"] < 20
    assert "retry_limit" not in {name for name, count in ran["air"].statistics["frames"]["lost"].items() if count}


def test_what_snoop_repeats_comes_to_the_mobile_each_time_also_when_it_has_it_already() -> None:
    """An acknowledgement that is lost comes again only if the segment does: a timeout of 0.1 + 4 · 0.25 s, ten times at most
    (ns-2 2.1b4, snoop.h). Nobody acknowledges here."""
    segment = ipv4(HOST, PEER, 6, struct.pack(">HHIIHHHH", 5201, 5201, 1, 1, 5 << 12 | 0x10, 65535, 0, 0) + bytes(100))
    link = {"stations": {"base": {}, "mobile": {}}, "profile": "wlan", "errors": 0.0}
    link["services"] = [{"class": "default", "scheme": "snoop"}]
    ran = emulate("multiservice", link, {"base": [(1.0, segment)]}, duration_s=30.0)
    times = [at for at, _ in ran.received["mobile"]]
    assert [frame for _, frame in ran.received["mobile"]] == [segment] * 11
    assert np.diff(times) == pytest.approx([1.1] * 10, abs=1e-6)
    assert ran.statistics["frames"]["delivered"] + ran.statistics["frames"]["emitted"] >= 11
    assert ran.statistics["segment"]["stations"]["mobile"]["services"]["default"]["duplicates"] == 10


def test_headers_of_tcp_count_with_real_accounting() -> None:
    """A segment of 1000 bytes is 1040 of IP, in two frames; a bare acknowledgement 40 and not more than that in both."""
    payload, real = (
        transfer("wlan", 1, "none", 1_000_000, 60.0, accounting=accounting, errors=0.0)["air"].statistics["segment"]["stations"]
        for accounting in ("payload", "real")
    )
    segments = 1000
    # Frames of ARP, the handshake and the end.
    others = 6 * 60
    assert payload["base"]["sent_bytes"] == pytest.approx(segments * 1001, abs=others)
    # RFC 4944, 5.3: 5 bytes of header in front of 992, 5 in front of 48; and a byte of service in each frame.
    assert real["base"]["sent_bytes"] == pytest.approx(segments * (1040 + 5 + 5 + 2), abs=others)
    assert payload["mobile"]["sent_bytes"] == pytest.approx(segments * 41, rel=0.01)
