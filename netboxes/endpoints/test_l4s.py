# SPDX-License-Identifier: GPL-2.0-or-later
"""A scalable sender (RFC 8257) and a classic one at a link with coupled queues (RFC 9332): like rates, and one hardly waits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from netboxes.endpoints.endpoints_under_test import HOST, PEER, bulk, interface
from netboxes.engine.virtual import Netbox
from netboxes.network.virtual_network import emulate_network
from netboxes.technology import technologies
from results.records import Fate

RATE = 40e6
#: One way, s.
DELAY = 0.005
SETTLED_S, UNTIL_S = 5.0, 15.0
#: Of a full frame on the wire, and a little for what is being sent when it comes.
SENDING_S = 2 * 1514 * 8 / RATE


def share(queue: dict[str, Any], classic: dict[str, Any], scalable: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """By class of traffic: goodput in bit/s, and the mean time in the queue in s, when both senders have settled."""
    line = {"rate": f"{RATE:.0f} bit/s", "delay": f"{DELAY} s", "queue": queue}
    model = technologies()["link"].model_validate({"stations": {"x": {}, "y": {}}, **line})
    classes = [{"name": name, "match": {"protocol": "tcp", "ports": [[port, port]]}} for name, port in PORTS.items()]
    boxes = {"link": Netbox("link", ("x", "y"), model.model_dump(mode="json"), classes=classes)}
    tcp = {"classic": classic, "scalable": scalable}
    flows = {
        "left": [bulk("sender", until_s=UNTIL_S, tcp=tcp[name], **{"name": name, "port": port}) for name, port in PORTS.items()],
        "right": [bulk("receiver", tcp=tcp[name], **{"name": name, "port": port}) for name, port in PORTS.items()],
    }
    for name, number in (("left", HOST), ("right", PEER)):
        own = interface(number, f"10.0.0.{number}/24")
        ends = [{"host": name, **end} for end in flows[name]]
        boxes[name] = Netbox("endpoints", ("eth",), {"hosts": {name: {"interfaces": {"eth": own}}}, "flows": ends})
    wires = [(("left", "eth"), ("link", "x")), (("link", "y"), ("right", "eth"))]
    records = emulate_network(boxes, wires, UNTIL_S + 1)["link"].records
    found = {}
    for number, name in enumerate(PORTS):
        own = records[(records["class"] == number) & (records["station_in"] == 0) & (records["fate"] == Fate.DELIVERED)]
        own = own[(own["length"] > 1000) & (own["in_ns"] > SETTLED_S * 1e9) & (own["in_ns"] < UNTIL_S * 1e9)]
        waited = (own["out_ns"].astype(float) - own["in_ns"]) / 1e9 - DELAY
        found[name] = (8.0 * int(np.sum(own["length"])) / (UNTIL_S - SETTLED_S), float(np.mean(waited)))
    return found


PORTS = {"classic": 5001, "scalable": 5002}


@pytest.mark.parametrize("variant", ["cubic", "linux-reno"])
def test_both_have_like_rates_and_the_scalable_one_hardly_a_queue(variant: str) -> None:
    """RFC 9332, 1.2 and 2.1: rates within a factor of two, a queue below a millisecond or two beside one of some 15 ms."""
    found = share({"discipline": "dualpi2", "packets": 1000}, {"variant": variant}, {"variant": "dctcp", "l4s": True})
    (classic, classic_s), (scalable, scalable_s) = found["classic"], found["scalable"]
    assert classic + scalable > 0.85 * RATE
    assert 0.5 < scalable / classic < 2
    assert scalable_s < 0.002 + SENDING_S
    assert 0.006 < classic_s < 0.025


def test_a_scalable_sender_alone_fills_the_link_without_a_queue() -> None:
    """RFC 9332: the step at 1 ms keeps the queue there; a tenth for marks of whole windows."""
    found = share(
        {"discipline": "dualpi2", "packets": 1000}, {"variant": "dctcp", "l4s": True}, {"variant": "dctcp", "l4s": True}
    )
    assert sum(rate for rate, _ in found.values()) > 0.85 * RATE
    assert all(waited < 0.002 + SENDING_S for _, waited in found.values())


def test_marks_of_codel_take_the_place_of_drops() -> None:
    """RFC 8289: a sender with ECN slows down as for a loss, and nothing is sent again."""
    found = share(
        {"discipline": "codel", "packets": 1000, "ecn": True},
        {"variant": "cubic", "ecn": True},
        {"variant": "cubic", "ecn": True},
    )
    assert sum(rate for rate, _ in found.values()) > 0.85 * RATE
    assert all(waited < 0.012 for _, waited in found.values())
