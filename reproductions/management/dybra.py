# SPDX-License-Identifier: GPL-2.0-or-later
"""DyBRA: what clients with slow access cannot use goes to the others (Grazia's dissertation, 2.3.3)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reproductions.campaign_experiment import CampaignExperiment
from reproductions.cells import Cells
from reproductions.comparison import Comparison, Unit, Within, between, falls, near
from results.intervals import Interval

_MB, _PACKETS, _TIMES = Unit(" MB"), Unit(" packets", digits=0), Unit(" times", digits=1)
_TRANSFERS = [f"client-{client}.transfer_bytes" for client in range(1, 11)]
#: The source counts at the link: 1052 bytes of each packet with 1000 of data.
_HEADERS = 1052 / 1000


def _compare(cells: Cells) -> Iterator[Comparison]:
    def total(budgets: str) -> Interval:
        return cells.derived(_TRANSFERS, lambda *sent: sum(sent) / 1e6 * _HEADERS, budgets=budgets)

    yield near("2.3.3: sent in 60 s with DyBRA", 143.88, total("dybra"), Within(share=0.07), _MB)
    order = [("DyBRA", total("dybra")), ("equal budgets", total("unweighted"))]
    yield falls("2.3.3: DyBRA above C2ML alone", "C2ML loses throughput from 15 to 45 s", order, _MB)
    yield near("2.3.3: sent in 60 s by TCP alone", 75.93, total("literal"), Within(share=0.1), _MB, _OTHER_TCPS)
    ours = total("none")
    yield near("2.3.3: sent in 60 s by TCP alone that begins with slow start", 75.93, ours, Within(share=0.1), _MB, _OTHER_TCPS)
    queues = [
        ("TCP alone", cells.mean("satellite.lan.queue_packets_mean", budgets="none")),
        ("DyBRA", cells.mean("satellite.lan.queue_packets_mean", budgets="dybra")),
    ]
    yield falls("F2.34: mean queue, DyBRA below TCP alone", "mostly negligible", queues, _PACKETS)
    longest = [
        ("as printed", cells.mean("satellite.lan.queue_packets_max", budgets="printed")),
        ("corrected", cells.mean("satellite.lan.queue_packets_max", budgets="dybra")),
    ]
    yield falls("E2 as printed assigns 32 of 20 Mbit/s: longest queue", "above", longest, _PACKETS)


_OTHER_TCPS = (
    "a slow-start threshold of the initial window, as the source's senders have, makes 5 MB of the difference; what makes the "
    "rest is not understood yet"
)


_NEXT_TO_NONE = (
    "with DyBRA next to nothing waits behind 2 and 4 clients, a packet in the mean at most, so that the ratio is larger and the "
    "queue can only grow with more of them; what the source's queue of few clients consists of, it does not say"
)


def _by_clients(cells: Cells) -> Iterator[Comparison]:
    def queue(budgets: str, clients: str) -> Interval:
        return cells.mean("satellite.lan.queue_packets_mean", budgets=budgets, clients=clients)

    for clients in ("2", "4", "10"):
        change = cells.change(
            "satellite.lan.queue_packets_mean",
            {"budgets": "none", "clients": clients},
            {"budgets": "dybra", "clients": clients},
        )
        what = f"F2.37: mean queue of {clients} clients, Cubic alone above DyBRA"
        reason = "" if clients == "10" else _NEXT_TO_NONE
        yield between(what, "one to two orders of magnitude", change, (9.0, 99.0), _TIMES, reason)
    order = [(f"{clients} clients", queue("dybra", clients)) for clients in ("2", "4", "10")]
    yield falls("F2.37: mean queue with more clients, DyBRA", "falls", order, _PACKETS, _NEXT_TO_NONE)
    order = [(f"{clients} clients", queue("none", clients)) for clients in ("10", "4", "2")]
    yield falls("F2.37: mean queue with more clients, Cubic alone", "grows", order, _PACKETS)


DYBRA = CampaignExperiment(
    id="ppdr S2",
    title="clients whose access becomes slow",
    text="Ten clients behind 20 Mbit/s and 350 ms one way, pairs of NewReno, Westwood, HighSpeed, Cubic and Noordwijk; the "
    "second of each pair has 0.5 Mbit/s from 15 to 45 s, which its access link tells it. 150 MB is what the line carries. TCP "
    "alone begins with a slow-start threshold of its initial window, as the source's, and with slow start.",
    campaign=Path(__file__).with_name("dybra-access.yaml"),
    compare=_compare,
    full_repetitions=5,
)
MORE_OR_FEWER = CampaignExperiment(
    id="ppdr S2, F2.37",
    title="2 to 10 clients of which half become slow",
    text="As S2, with CUBIC in all of them. The source's figure has no numbers that we could read.",
    campaign=Path(__file__).with_name("dybra-clients.yaml"),
    compare=_by_clients,
    full_repetitions=5,
    is_only_full=True,
)
