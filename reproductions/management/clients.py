# SPDX-License-Identifier: GPL-2.0-or-later
"""C2ML: transfers that begin together, with budgets and without (Grazia's dissertation, 2.2.4)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from reproductions.campaign_experiment import CampaignExperiment
from reproductions.cells import Cells
from reproductions.comparison import Comparison, Unit, Within, between, falls, near
from results.intervals import Interval

_S, _DELAY = Unit(" s", digits=0), Unit(" s", digits=3)
#: 5 MB in segments of 500 bytes over 2 Mbit/s, s: of payload, and with 52 bytes of headers.
_LEAST_S = 5e6 * 552 / 500 * 8 / 2e6
_PROPAGATION_S = 0.3
_MSS = 500


class _Published(NamedTuple):
    """Of tables 2.1 to 2.6, with C2ML and without: the average packet delay and the end of the last transfer, s."""

    delay_s: float
    end_s: float
    bare_delay_s: float
    bare_end_s: float


_PUBLISHED = {
    ("cubic", 2): _Published(0.300, 47, 0.373, 99),
    ("cubic", 8): _Published(0.301, 188, 1.936, 223),
    ("newreno", 2): _Published(0.300, 47, 0.300, 116),
    ("newreno", 8): _Published(0.301, 188, 0.762, 211),
    ("bic", 2): _Published(0.300, 47, 0.340, 222),
    ("bic", 8): _Published(0.301, 188, 1.592, 900),
    ("noordwijk", 2): _Published(0.309, 46, 0.757, 691),
    ("noordwijk", 8): _Published(0.307, 181, 3.580, 709),
    ("hybla", 2): _Published(0.303, 49, 0.748, 101),
    ("highspeed", 2): _Published(0.301, 47, 0.300, 100),
    ("highspeed", 8): _Published(0.301, 188, 1.030, 271),
}
_NAMES = {
    "cubic": "Cubic",
    "newreno": "NewReno",
    "bic": "Bic",
    "noordwijk": "Noordwijk",
    "hybla": "Hybla",
    "highspeed": "HighSpeed",
}


def _compare(cells: Cells) -> Iterator[Comparison]:
    def end(middleware: str, variant: str, clients: int) -> Interval:
        measures = [f"client-{client}.transfer_completed_s" for client in range(1, clients + 1)]
        return cells.derived(measures, max, middleware=middleware, senders=f"{variant}-{clients}")

    def delay(middleware: str, variant: str, clients: int) -> Interval:
        """The source's APD: the gateway's queue in segments, by the rate, and the propagation delay."""
        return cells.derived(
            ["satellite.lan.queue_packets_mean"],
            lambda packets: packets * _MSS * 8 / 2e6 + _PROPAGATION_S,
            middleware=middleware,
            senders=f"{variant}-{clients}",
        )

    for (variant, clients), published in _PUBLISHED.items():
        what = f"{_NAMES[variant]}, {clients} clients"
        table = f"Tab 2.{[*_NAMES].index(variant) + 1}"
        ours = end("c2ml", variant, clients)
        yield near(f"{table}: end with C2ML, {what}", published.end_s, ours, Within(share=0.12), _S)
        yield between(
            f"{table}: delay with C2ML, {what}",
            f"{published.delay_s:.3f} s",
            delay("c2ml", variant, clients),
            (0.3, 0.31),
            _DELAY,
        )
        bare = [("without", delay("none", variant, clients)), ("with", delay("c2ml", variant, clients))]
        words = f"{published.bare_delay_s:.3f} s to {published.delay_s:.3f} s"
        yield falls(f"{table}: C2ML has the shorter delay, {what}", words, bare, _DELAY)
        order = [("without", end("none", variant, clients)), ("with", ours)]
        reason = "" if variant in ("noordwijk", "hybla") else _SLOW_START
        words = f"{published.bare_end_s:.0f} s to {published.end_s:.0f} s"
        yield falls(f"{table}: C2ML ends first, {what}", words, order, _S, reason)


_SLOW_START = (
    "the source's senders begin with a slow-start threshold of 5000 bytes, their initial window, and grow by a segment in each "
    "round trip; ours fill the line, and its queue of 4 MB, by slow start, and lose nothing, so that nobody can end sooner"
)


FILES = CampaignExperiment(
    id="ppdr S1h",
    title="transfers of 5 MB with C2ML",
    text="Clients begin together over 2 Mbit/s and 300 ms one way, with a queue of 4 MB; an allocator gives each an equal "
    f"budget. The line takes {_LEAST_S:.0f} s for each transfer. Eight clients with Hybla "
    "are left out: without C2ML they would take hours to compute, since ns-3 searches a list of all segments on their way.",
    campaign=Path(__file__).with_name("c2ml-files.yaml"),
    compare=_compare,
    full_repetitions=5,
)
