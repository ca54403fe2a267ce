# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of a multi-service link, and what follows from a profile."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from netboxes.link_layer.link import Link
from netboxes.multiservice.parameters import Parameters
from netboxes.multiservice.profiles import PROFILES, ProfileName
from testbed.description.live import parsed, read_value
from testbed.description.topology import Netbox

LINK: dict[str, Any] = {"stations": {"base": {}, "mobile": {}}}


def dumped(link: dict[str, Any]) -> dict[str, Any]:
    return Parameters.model_validate(LINK | link).model_dump(mode="json")


@pytest.mark.parametrize(
    ("profile", "rate", "delay_s", "frame"), [("cellular", 14.4e3, 0.1, 50), ("pcs", 64e3, 0.05, 250), ("wlan", 2e6, 0.003, 1000)]
)
def test_profiles_are_his_links(profile: str, rate: float, delay_s: float, frame: int) -> None:
    """Xylomenos 1999, tables 3.1 to 3.3."""
    link = dumped({"profile": profile})
    assert (link["rate"], link["delay"], link["frame"]) == (rate, delay_s, frame)


@pytest.mark.parametrize(
    ("profile", "level", "errors"),
    [
        ("cellular", 3, {"model": "independent", "probability": 0.05}),
        (
            "pcs",
            2,
            {
                "model": "two-state",
                "good": 10.0,
                "bad": 0.2,
                "bit_error_rate_in_good": 1e-6,
                "bit_error_rate_in_bad": 1e-2,
            },
        ),
        ("wlan", 1, {"model": "byte-intervals", "interval": 131072.0, "distribution": "exponential"}),
    ],
)
def test_error_levels_are_those_of_the_profile(profile: str, level: int, errors: dict[str, Any]) -> None:
    link = dumped({"profile": profile, "errors": {"level": level}})
    assert link["errors"] == {"model": "level", "level": level}
    assert link["levels"][level - 1] == errors


@pytest.mark.parametrize(
    ("profile", "arq_ms", "rlp_ms", "once_ms"), [("cellular", 907, 893, 662), ("pcs", 1112, 1108, 2116), ("wlan", 102, 102, 70)]
)
def test_timers_are_two_delays_and_some_frames(profile: ProfileName, arq_ms: float, rlp_ms: float, once_ms: float) -> None:
    """As calibrated beside the figures of the study: of selective repeat, and of RLP that asks three times and once."""
    own = PROFILES[profile]
    defaults = Link(own.rate, own.delay, own.frame, own).defaults()
    timers = (defaults["sr-m2"]["timer"], defaults["rlp"]["timer"], defaults["rlp-oos"]["timer_once"])
    assert [1e3 * timer for timer in timers] == pytest.approx([arq_ms, rlp_ms, once_ms], abs=0.5)


def test_what_is_said_goes_before_the_profile() -> None:
    link = dumped({"profile": "wlan", "rate": "11 Mbit/s", "stations": {"a": {"role": "mobile"}, "b": {"rate": "1 Mbit/s"}}})
    assert (link["rate"], link["delay"], link["base"]) == (11e6, 0.003, "b")
    assert link["defaults"]["sr"]["timer"] == pytest.approx(0.006 + 24 * 8 * 1003 / 11e6)


def test_what_changes_live_is_said_as_in_yaml() -> None:
    assert read_value(Parameters, *parsed("errors={level: 4}")) == {"model": "level", "level": 4}
    assert read_value(Parameters, *parsed("base.errors=0.1")) == {"model": "independent", "probability": 0.1}
    (service,) = read_value(Parameters, *parsed("services=[{class: stream, scheme: rlp, timer: 900 ms}]"))
    assert {key: value for key, value in service.items() if value is not None} == {
        "class": "stream",
        "scheme": "rlp",
        "share": 1.0,
        "timer": 0.9,
    }


def services(*said: dict[str, Any], profile: str = "cellular") -> dict[str, Any]:
    return {"profile": profile, "services": [{"class": "stream", **service} for service in said]}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "without a `profile` a link needs `rate`, `delay`, `frame`"),
        ({"profile": "pcs", "stations": {"a": {}, "b": {}, "c": {}}}, "a link has two stations, not 3"),
        ({"profile": "pcs", "stations": {"a": {"role": "base"}, "b": {"role": "base"}}}, "both stations have the role base"),
        ({"rate": "1 Mbit/s", "delay": "1 ms", "frame": "100 B", "errors": {"level": 1}}, "error level 1 is a profile's"),
        ({"profile": "pcs", "errors": {"level": 5}}, "less than or equal to 4"),
        ({"profile": "pcs", "errors": {"level": 3, "probability": 0.1}}, "leave probability or level out"),
        (services({"scheme": "rlp", "window": 10}), "rlp has no window; it has timer, attempts, ring, keepalive"),
        (services({"scheme": "none", "timer": "1 s"}), "none has no timer; it has no settings"),
        (services({"scheme": "sr", "window": 129}), "window 129 is above 128, half of the 256 sequence numbers"),
        (services({"scheme": "rlp", "ring": 200}), "ring 200 is above 128"),
        (services({"scheme": "sr-m2", "timer": "20 ms"}), "a timer of 20 ms is below the 29.44 ms that a frame takes"),
        (services({"scheme": "rlp", "timer": "1.3 s"}), "3 attempts of 1.3 s take longer than the 3569 ms"),
        (services({"scheme": "sr"}, {"scheme": "rlp"}), "two services for class 'stream'"),
        (
            {
                "profile": "pcs",
                "services": [{"class": "a", "scheme": "sr"}],
                "stations": {"x": {"services": [{"class": "a"}]}, "y": {}},
            },
            "the ends differ: x has a: none and y has a: sr (sequence_bits 8, repeats_first false)",
        ),
        (
            {
                "profile": "pcs",
                "services": [{"class": "a", "scheme": "xor"}],
                "stations": {"x": {"services": [{"class": "a", "scheme": "xor", "block": 4}]}, "y": {}},
            },
            "the ends differ: x has a: xor (block 4) and y has a: xor (block 8)",
        ),
    ],
)
def test_bad_parameters_are_refused_with_what_is_permitted(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        dumped(wrong)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("protocol", "message"),
    [("tcp", None), (6, None), (None, None), (50, "in which TCP is encrypted (ESP, RFC 4303)"), ("udp", "is of protocol udp")],
)
def test_snoop_is_refused_where_it_cannot_read_tcp(protocol: str | int | None, message: str | None) -> None:
    rule = {"dscp": "af11"} if protocol is None else {"protocol": protocol}
    netbox = {
        "technology": "multiservice",
        **LINK,
        "profile": "wlan",
        "classes": {"stream": rule},
        "services": [{"class": "stream", "scheme": "snoop"}],
    }
    if message is None:
        assert Netbox.model_validate(netbox).technology == "multiservice"
        return
    with pytest.raises(ValidationError) as refused:
        Netbox.model_validate(netbox)
    assert message in str(refused.value)


def test_longer_sequence_numbers_permit_longer_windows() -> None:
    assert dumped(services({"scheme": "sr", "window": 2000, "sequence_bits": 12}))["services"][0]["window"] == 2000
