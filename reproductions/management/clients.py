# SPDX-License-Identifier: GPL-2.0-or-later
"""C2ML: transfers that begin together, with budgets and without (Grazia's dissertation, 2.2.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import log2
from pathlib import Path
from typing import Final, NamedTuple

from reproductions.campaign_experiment import CampaignExperiment
from reproductions.cells import Cells, NotMeasured
from reproductions.comparison import Comparison, Unit, Within, between, falls, near
from results.intervals import Interval

_S, _DELAY, _KB, _TIMES = Unit(" s", digits=0), Unit(" s", digits=3), Unit(" kB", 1e-3, 1), Unit(" times")
#: 5 MB in segments of 500 bytes over 2 Mbit/s, s: of payload, and with 52 bytes of headers.
_LEAST_S: Final = 5e6 * 552 / 500 * 8 / 2e6
_PROPAGATION_S: Final = 0.3
_MSS: Final = 500
#: By which the source's delay of a packet follows from packets that wait before it.
_SEGMENT_S: Final = _MSS * 8 / 2e6
_MEAN, _LONGEST = "satellite.lan.queue_packets_mean", "satellite.lan.queue_packets_max"


class _Published(NamedTuple):
    """Of a number of clients in tables 2.1 to 2.6, s: average packet delay, its peak variation, the end of the last transfer."""

    bare_delay: float
    bare_variation: float
    bare_end: float
    delay: float
    variation: float
    end: float


TABLES: Final[Mapping[str, Mapping[int, _Published]]] = {
    "cubic": {
        2: _Published(0.373, 0.447, 99, 0.300, 0.037, 47),
        4: _Published(0.818, 1.420, 124, 0.301, 0.039, 93),
        8: _Published(1.936, 3.408, 223, 0.301, 0.059, 188),
        16: _Published(4.207, 7.326, 397, 0.300, 0.039, 382),
    },
    "newreno": {
        2: _Published(0.300, 0.002, 116, 0.300, 0.037, 47),
        4: _Published(0.339, 0.209, 123, 0.301, 0.039, 93),
        8: _Published(0.762, 0.965, 211, 0.301, 0.059, 188),
        16: _Published(1.796, 2.482, 384, 0.300, 0.037, 382),
    },
    "bic": {
        2: _Published(0.340, 0.375, 222, 0.300, 0.037, 47),
        4: _Published(0.659, 1.291, 864, 0.301, 0.039, 93),
        8: _Published(1.592, 3.100, 900, 0.301, 0.059, 188),
        16: _Published(3.587, 6.764, 900, 0.300, 0.039, 382),
    },
    "noordwijk": {
        2: _Published(0.757, 0.492, 691, 0.309, 0.020, 46),
        4: _Published(1.679, 1.680, 665, 0.304, 0.018, 91),
        8: _Published(3.580, 4.477, 709, 0.307, 0.068, 181),
        16: _Published(2.639, 8.715, 900, 0.315, 0.178, 360),
    },
    "hybla": {
        2: _Published(0.748, 0.490, 101, 0.303, 0.203, 49),
        4: _Published(1.738, 1.514, 168, 0.311, 0.299, 93),
        8: _Published(3.727, 3.561, 378, 0.360, 0.209, 179),
        16: _Published(6.187, 7.020, 690, 0.620, 0.363, 376),
    },
    "highspeed": {
        2: _Published(0.300, 0.004, 100, 0.301, 0.039, 47),
        4: _Published(0.432, 0.502, 191, 0.301, 0.039, 93),
        8: _Published(1.030, 1.555, 271, 0.301, 0.059, 188),
        16: _Published(2.369, 3.637, 393, 0.300, 0.037, 382),
    },
}
_NAMES: Final = {
    "cubic": "Cubic",
    "newreno": "NewReno",
    "bic": "Bic",
    "noordwijk": "Noordwijk",
    "hybla": "Hybla",
    "highspeed": "HighSpeed",
}
#: Not computed without C2ML: each acknowledgement goes through all segments under way in ns-3's send buffer, and these have
#: thousands for as long as the run takes.
_UNCOMPUTED: Final = frozenset({("noordwijk", 2), ("noordwijk", 4)})
#: The source ends a run then, and ours do, too.
_CAP_S: Final = 900.0


class _Runs:
    """The transfers of a TCP and a number of clients."""

    def __init__(self, cells: Cells, variant: str, clients: int) -> None:
        self._cells, self._senders, self._clients = cells, f"{variant}-{clients}", clients

    def end(self) -> Interval:
        measures = [f"client-{client}.transfer_completed_s" for client in range(1, self._clients + 1)]
        return self._cells.derived(measures, max, senders=self._senders)

    def bare_end(self, begin: str = "bare") -> Interval:
        """The end of the run where a transfer goes on."""
        try:
            return self._cells.mean("transfers.transfer_completed_s", senders=f"{begin}-{self._senders}")
        except NotMeasured:
            return self._cells.derived([_MEAN], lambda _: _CAP_S, senders=f"{begin}-{self._senders}")

    def delay(self, begin: str = "") -> Interval:
        """The source's APD: the gateway's queue in segments, by the rate, and the propagation delay."""
        return self._by_queue(_MEAN, begin, lambda packets: packets * _SEGMENT_S + _PROPAGATION_S)

    def variation(self, begin: str = "") -> Interval:
        """The source's PDV: the longest delay less the shortest one, that of an empty queue."""
        return self._by_queue(_LONGEST, begin, lambda packets: packets * _SEGMENT_S)

    def _by_queue(self, measure: str, begin: str, of: Callable[[float], float]) -> Interval:
        senders = f"{begin}-{self._senders}" if begin else self._senders
        return self._cells.derived([measure], of, senders=senders)


def _compare(cells: Cells) -> Iterator[Comparison]:
    for number, (variant, by_clients) in enumerate(TABLES.items(), 1):
        for clients, published in by_clients.items():
            runs, what = _Runs(cells, variant, clients), f"{_NAMES[variant]}, {clients} clients"
            reason = "" if variant == "hybla" and clients > 2 else _TWENTY if variant == "noordwijk" else _FIRST_BURSTS
            yield from _with_budgets(f"Tab 2.{number}", what, runs, published, reason)
            if (variant, clients) not in _UNCOMPUTED:
                reason = _FULL if (variant, clients) in _FILL_THE_LINE else ""
                yield from _against_bare(f"Tab 2.{number}", what, runs, published, reason)
    end, published_end = _Runs(cells, "newreno", 16).bare_end(), TABLES["newreno"][16].bare_end
    yield near("Tab 2.2: end without C2ML, NewReno, 16 clients", published_end, end, Within(share=0.1), _S)
    for variant in ("cubic", "newreno"):
        runs = _Runs(cells, variant, 2)
        order = [("without", runs.bare_end("slow-start")), ("with", runs.end())]
        table = f"Tab 2.{[*TABLES].index(variant) + 1}"
        what = f"{table}: C2ML ends first, {_NAMES[variant]}, 2 clients, where those without begin with slow start"
        yield falls(what, "first", order, _S, _SLOW_START)
    yield from _queues(cells)


def _with_budgets(table: str, what: str, runs: _Runs, published: _Published, varying: str) -> Iterator[Comparison]:
    yield near(f"{table}: end with C2ML, {what}", published.end, runs.end(), Within(share=0.12), _S)
    bounds = (_PROPAGATION_S, max(0.31, published.delay))
    yield between(f"{table}: delay with C2ML, {what}", f"{published.delay:.3f} s", runs.delay(), bounds, _DELAY)
    ours = runs.variation()
    yield near(f"{table}: variation of delay with C2ML, {what}", published.variation, ours, Within(factor=2), _DELAY, varying)


def _against_bare(table: str, what: str, runs: _Runs, published: _Published, ending: str) -> Iterator[Comparison]:
    words = f"{published.bare_delay:.3f} s to {published.delay:.3f} s"
    if published.bare_delay <= published.delay:
        alike = runs.delay("bare")
        yield between(f"{table}: delay without C2ML, {what}", f"{published.bare_delay:.3f} s", alike, (0.3, 0.31), _DELAY)
    else:
        order = [("without", runs.delay("bare")), ("with", runs.delay())]
        yield falls(f"{table}: C2ML has the shorter delay, {what}", words, order, _DELAY)
    variations = [("without", runs.variation("bare")), ("with", runs.variation())]
    if published.bare_variation < published.variation:
        reason = _FASTER if what.startswith("HighSpeed") else ""
        words = f"{published.variation:.3f} s to {published.bare_variation:.3f} s"
        yield falls(f"{table}: C2ML has the larger variation, {what}", words, variations[::-1], _DELAY, reason)
    else:
        words = f"{published.bare_variation:.3f} s to {published.variation:.3f} s"
        yield falls(f"{table}: C2ML has the smaller variation, {what}", words, variations, _DELAY)
    words = f"{published.bare_end:.0f} s to {published.end:.0f} s"
    yield falls(f"{table}: C2ML ends first, {what}", words, [("without", runs.bare_end()), ("with", runs.end())], _S, ending)


def _queues(cells: Cells) -> Iterator[Comparison]:
    ours = cells.derived([_LONGEST], lambda packets: packets * _MSS, senders="noordwijk-16")
    yield between("F2.23: longest queue with C2ML, Noordwijk, 16 clients", "n·BURST: 24 kB", ours, (0.0, 24e3), _KB, _TWENTY)
    for figure, variant in ((20, "cubic"), (21, "newreno"), (22, "bic")):
        most = 16
        growth = cells.derived_change(
            [_LONGEST], lambda packets: packets, {"senders": f"{variant}-{most}"}, {"senders": f"{variant}-2"}
        )
        what = f"F2.{figure}: longest queue of {most} clients above that of 2 with C2ML, {_NAMES[variant]}"
        yield between(what, "grows less than log n", growth, (-1.0, log2(most) - 1.0), _TIMES)


_FIRST_BURSTS = (
    "a queue of less than a packet in the mean is longest for a moment, when windows double in slow start; the source looks "
    "every 100 ms, ours is the longest of all. Whether that is all of it is not understood yet"
)
_TWENTY = (
    "a first burst has 20 segments here, as without C2ML, and 5 in the source: those of all clients together are the longest "
    "queue, but for a few packets that are sent meanwhile"
)
_FASTER = "without C2ML it ends after 70 s in place of 100 s, so that its window grows faster; why is not understood yet"
_FULL = (
    "without C2ML the transfers keep the line full until the last of them ends, at most 2 % after the line could have carried "
    "all; with it windows of whole segments leave 2 % of it unused. Why the source's transfers end later is not known"
)
#: Without C2ML.
_FILL_THE_LINE: Final = frozenset({("cubic", 16), ("newreno", 16), ("bic", 8), ("bic", 16), ("hybla", 2), ("highspeed", 16)})
_SLOW_START = (
    "they fill the line, and its queue of 4 MB, by slow start, and lose nothing, so that nobody can end sooner; the source's "
    "begin with a slow-start threshold of 5000 bytes, their initial window, and grow by a segment in each round trip"
)


FILES = CampaignExperiment(
    id="ppdr S1g, S1h",
    title="transfers of 5 MB with C2ML",
    text="Clients begin together over 2 Mbit/s and 300 ms one way, with a queue of 4 MB; an allocator gives each an equal "
    f"budget. The line takes {_LEAST_S:.0f} s for each transfer. Without C2ML they begin with a slow-start threshold of 5 kB, "
    "the source's initial window; two clients do so with slow start as well, as today's senders. A "
    f"run ends after {_CAP_S:.0f} s, as the source's; a transfer that goes on then ends there. Two "
    "and four clients with Noordwijk and without C2ML are left out: they would take too long to compute.",
    campaign=Path(__file__).with_name("c2ml-files.yaml"),
    compare=_compare,
    full_repetitions=5,
)
