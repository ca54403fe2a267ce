# SPDX-License-Identifier: GPL-2.0-or-later
"""Queue disciplines above the MAC, each by what it is known for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from netboxes.engine.virtual import emulate, fragments, udp
from netboxes.wifi.cell_under_test import CELL, flow, hello, lost

SPARSE = {"name": "sparse", "match": {"ports": [[6666, 6666]]}}


def waits(discipline: str, qos: bool = False) -> tuple[float, float, dict[str, int]]:
    """Median delays in ms of a sparse flow and of one that offers 7 Mbit/s to a channel of 6 Mbit/s gross, and the losses."""
    cell: dict[str, Any] = CELL | {"rate_control": "constant", "rate": "6 Mbit/s", "distance": "30 m", "qos": qos}
    if discipline != "fifo":
        cell |= {"queue_discipline": discipline, "device_queue": 4}
    sparse = [(1.005 + 0.02 * i, udp(0, 1, 100, identification=i, ports=(5555, 6666))) for i in range(200)]
    frames = {"responder": flow(0, 1, 1500, 7e6, 4.0) + sparse, "commander": hello(1)}
    emulation = emulate("wifi", cell | {"queue_lifetime": "5 s"}, frames, classes=[SPARSE], duration_s=8.0)
    records = emulation.records[emulation.records["fate"] == 0]
    delays = (records["out_ns"] - records["in_ns"]) / 1e6
    bulk = (records["class"] != 0) & (records["length"] > 1000)
    assert emulation.statistics["frames"]["inside"] == 0
    return float(np.median(delays[records["class"] == 0])), float(np.median(delays[bulk])), lost(emulation)


@pytest.mark.parametrize("qos", [False, True])
def test_fair_queueing_lets_a_sparse_flow_pass(qos: bool) -> None:
    sparse, bulk, losses = waits("fq-codel", qos)
    assert sparse < 15.0 and bulk > 5 * sparse and set(losses) == {"queue_expired"}


def test_codel_and_pie_keep_the_queue_short() -> None:
    fifo, codel, pie = (waits(discipline) for discipline in ("fifo", "codel", "pie"))
    assert codel[1] < 0.6 * fifo[1] and pie[1] < 0.5 * fifo[1]
    assert "queue_expired" in codel[2] and "queue_expired" in pie[2] and set(fifo[2]) <= {"queue_full"}


def test_fair_queueing_keeps_the_fragments_of_a_packet_in_order() -> None:
    """Later ones have no ports to be told apart by."""
    cell: dict[str, Any] = CELL | {"rate_control": "constant", "rate": "6 Mbit/s", "distance": "30 m"}
    cell |= {"queue_discipline": "fq-codel", "device_queue": 4}
    sent = [piece for number in range(40) for piece in fragments(udp(0, 1, 800, identification=number), 400)]
    emulation = emulate("wifi", cell, {"responder": [(1.0, piece) for piece in sent], "commander": hello(1)})
    received = [frame for _, frame in emulation.received["commander"]]
    assert received == [piece for piece in sent if piece in received] and len(received) > 40
