# SPDX-License-Identifier: GPL-2.0-or-later
"""Marks of each technology's queues take the place of drops (RFC 3168, 5; RFC 8289, 4): a sender slows down as for losses, and
nothing is sent again."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from netboxes.endpoints.endpoints_under_test import HOST, PEER, bulk, interface
from netboxes.engine.virtual import Netbox
from netboxes.network.virtual_network import emulate_network
from netboxes.technology import technologies
from results.records import Fate

SETTLED_S, UNTIL_S = 3.0, 12.0
#: By technology what is said besides its queue; the first station is the sender's. A packet of `pmr` takes over a second.
SEGMENTS: dict[str, dict[str, Any]] = {
    "link": {"stations": {"x": {}, "y": {}}, "rate": "4 Mbit/s", "delay": "5 ms"},
    "ethernet": {"stations": {"x": {}, "y": {}}, "rate": "10 Mbit/s"},
    "wifi": {"stations": {"x": {"role": "access-point"}, "y": {"role": "station"}}, "standard": "802.11b", "distance": "10 m"},
    "satellite": {
        "stations": {"x": {"role": "gateway"}, "y": {"role": "terminal"}},
        "forward_rate": "4 Mbit/s",
        "return_rate": "1 Mbit/s",
        "delay": "30 ms",
    },
    "wimax": {"stations": {"x": {"role": "base"}, "y": {"role": "subscriber"}}, "distance": "1 km"},
    "lte": {"stations": {"x": {"role": "gateway"}, "y": {"role": "ue"}}, "distance": "1 km", "resource_blocks": 6},
    "pan": {"stations": {"x": {"role": "coordinator"}, "y": {}}, "distance": "10 m"},
    "multiservice": {"stations": {"x": {}, "y": {}}, "profile": "wlan", "pacing": "packet"},
}


class Transfer(NamedTuple):
    """A greedy CUBIC's."""

    marked: int
    lost: dict[str, int]
    acknowledged: int
    retransmissions: int
    #: In the segment, in the mean once it has settled, s.
    delay_s: float


def transfer(technology: str, *, ecn: bool) -> Transfer:
    queue = {"discipline": "codel", "packets": 1000, "target": "20 ms", "ecn": ecn}
    settings = technologies()[technology].model_validate({**SEGMENTS[technology], "queue": queue})
    boxes = {"air": Netbox(technology, ("x", "y"), settings.model_dump(mode="json"))}
    tcp = {"variant": "cubic", "ecn": True}
    ends = {"left": (HOST, bulk("sender", until_s=UNTIL_S, tcp=tcp)), "right": (PEER, bulk("receiver", tcp=tcp))}
    for name, (number, flow) in ends.items():
        own = {"interfaces": {"eth": interface(number, f"10.0.0.{number}/24")}}
        boxes[name] = Netbox("endpoints", ("eth",), {"hosts": {name: own}, "flows": [{"host": name, **flow}]})
    came_out = emulate_network(boxes, [(("left", "eth"), ("air", "x")), (("air", "y"), ("right", "eth"))], UNTIL_S + 1)
    records, frames = came_out["air"].records, came_out["air"].statistics["frames"]
    (sender,) = came_out["left"].statistics["segment"]["flows"]
    data = records[(records["station_in"] == 0) & (records["length"] > 1000) & (records["fate"] == Fate.DELIVERED)]
    data = data[(data["in_ns"] > SETTLED_S * 1e9) & (data["in_ns"] < UNTIL_S * 1e9)]
    return Transfer(
        frames["marked"],
        frames["lost"],
        sender["acknowledged"],
        sender["retransmissions"],
        float(np.mean(data["out_ns"] - data["in_ns"])) / 1e9,
    )


@pytest.mark.parametrize("technology", SEGMENTS)
def test_a_sender_slows_down_for_marks_as_for_drops(technology: str) -> None:
    """CUBIC takes 0.7 of its window for either (RFC 9438, 4.6), so the same queue has about the same length."""
    marks, drops = transfer(technology, ecn=True), transfer(technology, ecn=False)
    assert marks.marked > 0
    assert marks.lost["queue_early"] == 0 < drops.lost["queue_early"]
    assert marks.retransmissions <= sum(marks.lost.values())
    assert drops.marked == 0
    assert drops.retransmissions >= drops.lost["queue_early"]
    assert marks.acknowledged > 0.95 * drops.acknowledged
    assert marks.delay_s < 1.35 * drops.delay_s
