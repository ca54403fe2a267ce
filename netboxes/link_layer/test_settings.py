# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of a link layer in a topology file, what it becomes, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pydantic import ValidationError

from netboxes.link_layer.link_layer import LinkLayer
from netboxes.live_limits import live_limits
from netboxes.technology import technologies
from testbed.description.targets import NetboxTarget
from testbed.description.topology import Netbox

LAYER: dict[str, Any] = {"rate": "10 Mbit/s", "delay": "12 ms"}
STREAM = {"class": "stream", "scheme": "sr-m2"}
LINK: dict[str, Any] = {
    "technology": "link",
    "stations": {"a": {}, "b": {}},
    "classes": {"stream": {"dscp": "af11"}, "tunnel": {"protocol": 50}},
}


def by_loss(*choices: dict[str, Any], name: str = "stream") -> list[dict[str, Any]]:
    return [{"class": name, "scheme": "by-loss", "choices": [*choices]}]


def of_netbox(**layer: Any) -> dict[str, Any]:
    return {**LINK, "link_layer": {**LAYER, **layer}}


@pytest.mark.parametrize(
    ("netbox", "message"),
    [
        (of_netbox(services=[{"class": "video"}]), "video"),
        (of_netbox(services=[STREAM, STREAM]), "two services for class 'stream'; a class has one: remove the other"),
        (of_netbox(services=[{**STREAM, "window": 200}]), "window 200 is above 128, half of the 256 sequence numbers"),
        (of_netbox(services=[{**STREAM, "timer": "1 ms"}]), "a timer of 1 ms is below the 1203 us that a frame takes"),
        (
            of_netbox(services=[{"class": "stream", "scheme": "rlp", "timer": "2 s"}]),
            "so that numbers come again before one is given up",
        ),
        (of_netbox(services=[{"class": "tunnel", "scheme": "snoop"}]), "in which TCP is encrypted (ESP, RFC 4303)"),
        (of_netbox(services=[{"class": "stream", "scheme": "by-loss"}]), "by-loss has `choices`, and no other scheme has"),
        (of_netbox(services=[{**STREAM, "choices": [{}, {"above": 0.1}]}]), "by-loss has `choices`, and no other scheme has"),
        (of_netbox(services=by_loss({})), "at least 2"),
        (of_netbox(services=by_loss({}, {"scheme": "by-loss", "above": 0.1})), "a choice is a scheme itself; name one"),
        (of_netbox(services=by_loss({}, {"scheme": "sr-m2"})), "choices are in ascending order of `above`"),
        (of_netbox(services=by_loss({"above": 0.01}, {"scheme": "sr-m2", "above": 0.02})), "the first one is taken from 0 on"),
        (of_netbox(services=by_loss({}, {"scheme": "sr-m2", "above": 0.1, "timer": "1 ms"})), "a timer of 1 ms is below"),
        (of_netbox(services=by_loss({}, {"scheme": "snoop", "above": 0.1}, name="tunnel")), "in which TCP is encrypted (ESP"),
        (of_netbox(base="c"), 'there is no station "c"'),
        ({**LINK, "link_layer": {"rate": "10 Mbit/s"}}, "delay"),
        (
            {
                "technology": "multiservice",
                "profile": "wlan",
                "stations": {"a": {}, "b": {}},
                "link_layer": LAYER,
            },
            "multiservice has a link layer of its own; say its services without link_layer",
        ),
        ({"technology": "sink", "stations": {"a": {}, "b": {}}, "link_layer": LAYER}, "these are ends of the network"),
    ],
)
def test_a_layer_that_cannot_be_is_refused(netbox: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Netbox.model_validate(netbox)
    assert message in str(refused.value)


def test_multiservice_keeps_its_own_services() -> None:
    netbox = {"technology": "multiservice", "profile": "wlan", "stations": {"a": {}, "b": {}}, "services": [{"class": "default"}]}
    assert Netbox.model_validate(netbox).parameters.values()["services"][0]["class"] == "default"


def test_windows_rings_and_queues_follow_from_how_many_frames_are_under_way() -> None:
    """4 timers of two delays and 24 frames; twice 3 such timers and a delay; 1501 bytes and a header at 10 Mbit/s."""
    defaults = LinkLayer.model_validate({"rate": "10 Mbit/s", "delay": "270 ms"}).model_dump(mode="json")["defaults"]
    arq_s, rlp_s = (8 * (1501 + header) / 10e6 for header in (3, 2))
    window = 4 * (0.54 / arq_s + 24)
    assert window - 1 < defaults["sr-m2"]["window"] - 1 <= window
    assert defaults["sr-m2"]["sequence_bits"] == 12
    assert {settings["queue"] for settings in defaults.values()} == {math.ceil(window / 4)}
    ring = 2 * (3 * (0.54 / rlp_s + 24) + 0.27 / rlp_s)
    assert ring - 1 < defaults["rlp"]["ring"] - 1 <= ring
    assert defaults["rlp"]["sequence_bits"] == 13


def test_where_few_frames_are_under_way_they_are_as_in_the_source() -> None:
    """The cellular link (table 3.1): 14.4 kbit/s, 100 ms and 50 bytes."""
    cellular = {"rate": "14.4 kbit/s", "delay": "100 ms", "frame": "50 B"}
    defaults = LinkLayer.model_validate(cellular).model_dump(mode="json")["defaults"]
    assert (defaults["sr-m2"]["window"], defaults["sr-m2"]["sequence_bits"], defaults["sr-m2"]["queue"]) == (127, 8, 50)
    assert defaults["rlp"]["sequence_bits"] == 9


def test_services_are_live_where_there_is_a_layer() -> None:
    link = technologies()["link"]
    assert "services" not in live_limits(link)["segment"]
    assert (
        live_limits(link, has_link_layer=True)["segment"]["services"]
        == live_limits(technologies()["multiservice"])["segment"]["services"]
    )
    with_layer, without = (NetboxTarget("link", ("a", "b"), {}, ("stream",), has) for has in (True, False))
    change = with_layer.live("line", "services", [STREAM])
    assert (change.parameter, change.value[0]["scheme"]) == ("services", "sr-m2")
    with pytest.raises(ValueError, match="services: line has no link layer that could have them; say link_layer in its file"):
        without.live("line", "services", [STREAM])
