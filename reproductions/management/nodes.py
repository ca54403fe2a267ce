# SPDX-License-Identifier: GPL-2.0-or-later
"""QRM: what becomes of clients that keep to their budget beside one that does not (Grazia's dissertation, 3.1.5)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reproductions.campaign_experiment import CampaignExperiment
from reproductions.cells import Cells
from reproductions.comparison import Comparison, Unit, Within, between, falls, near
from results.intervals import Interval

_MBPS, _MS, _TIMES, _PACKETS = Unit(" Mbit/s", 1e-3), Unit(" ms", digits=0), Unit(" times"), Unit(" packets", digits=0)
#: A fifth of the link, of which 1000 of 1052 bytes are payload, kbit/s.
_BUDGET = 4e3 * 1000 / 1052
_ATTACKER = "client-5.transfer_goodput_kbps"
_OTHERS = [f"client-{client}.transfer_goodput_kbps" for client in range(1, 5)]
_RTT, _QUEUE = "client-1.tcp_rtt_ms_max", "satellite.gateway.queue_packets_mean"
#: What 20 Mbit/s send in a round trip of 702 ms, and in 702 ms and the time of a full queue, ms.
_BDP_PACKETS, _FULL_MS = 20e6 * 0.702 / 8 / 1052, 702 + 1805e3 * 8 / 20e3


def _compare(cells: Cells) -> Iterator[Comparison]:
    def each(aqm: str, attackers: str) -> Interval:
        """Of the clients that keep to their budget, the mean."""
        return cells.derived(_OTHERS, lambda *kbps: sum(kbps) / len(kbps), aqm=aqm, attackers=attackers)

    for aqm, name in (("droptail", "DropTail"), ("qrm", "QRM")):
        yield near(f"F3.7: each client without an attacker, {name}", _BUDGET, each(aqm, "0"), Within(share=0.05), _MBPS)
    yield near("F3.15: each other client with an attacker, QRM", _BUDGET, each("qrm", "1"), Within(share=0.05), _MBPS)
    attacker = cells.mean(_ATTACKER, aqm="qrm", attackers="1")
    yield between("F3.15: the attacker, QRM", "its share", attacker, (0.0, 1.05 * _BUDGET), _MBPS)
    change = cells.derived(_OTHERS, lambda *kbps: sum(kbps) / len(kbps) / _BUDGET, aqm="droptail", attackers="1")
    yield between("F3.7: each other client with an attacker, DropTail", "about half", change, (0.35, 0.65), _TIMES)
    for aqm, name in (("droptail", "DropTail"), ("codel", "CoDel"), ("red", "RED"), ("green", "GREEN")):
        order = [("QRM", each("qrm", "1")), (name, each(aqm, "1"))]
        yield falls(f"F3.9-3.15: each other client, QRM above {name}", "above", order, _MBPS)
    peak = cells.mean(_RTT, aqm="qrm", attackers="1")
    yield near("F3.16: longest round trip with an attacker, QRM", 800.0, peak, Within(share=0.05), _MS)
    peak = cells.mean(_RTT, aqm="droptail", attackers="1")
    yield near("F3.8: longest round trip with an attacker, DropTail", _FULL_MS, peak, Within(share=0.05), _MS)
    queues = [(name, cells.mean(_QUEUE, aqm=aqm, attackers="1")) for aqm, name in (("droptail", "DropTail"), ("qrm", "QRM"))]
    yield falls("F3.8, F3.16: mean queue with an attacker", "full again and again; below Theorem 2", queues, _PACKETS)
    yield between("F3.16: mean queue with an attacker, QRM", "below Theorem 2", queues[1][1], (0.0, _BDP_PACKETS), _PACKETS)


NODES = CampaignExperiment(
    id="ppdr S4",
    title="a client that exceeds its budget",
    text="Five clients behind 20 Mbit/s and 702 ms; four keep to a fifth by their window, the fifth may send what it can. The "
    "source has C2ML set the windows. DropTail's longest round trip is printed as 1.8 s, which a queue of 1805 kB does not "
    "make; the figure here is that of a full queue.",
    campaign=Path(__file__).with_name("qrm.yaml"),
    compare=_compare,
    full_repetitions=5,
)
