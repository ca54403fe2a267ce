# SPDX-License-Identifier: GPL-2.0-or-later
"""C2ML: how clients share a satellite, with budgets and without (Grazia's dissertation, 2.2.2 to 2.2.4, and 3.1.2)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Final

from reproductions.campaign_experiment import CampaignExperiment
from reproductions.cells import Cells
from reproductions.comparison import PERCENT, Comparison, Unit, Within, between, falls, near

_INDEX, _S, _MBPS, _PACKETS = Unit(digits=3), Unit(" s", digits=0), Unit(" Mbit/s", 1e-3), Unit(" packets", digits=0)
_WORST: Final = "satellite.fairness_worst"
#: By the queue, in words.
_BUFFERS: Final = {"75 kB": "standard", "4 MB": "large"}
#: How long each of three transfers takes that share at once and equally, s: 5 MB, of 500 in packets of 552 bytes, over 1 Mbit/s,
#: one begun every 10 s.
_ALONE_S: Final = 5e6 * 552 / 500 * 8 / 1e6
_EQUAL_S: Final = {"first": 3 * _ALONE_S - 25, "second": 3 * _ALONE_S - 15, "third": 3 * _ALONE_S - 20}
_TOOK: Final = [f"client-{client}.transfer_completed_s" for client in (1, 2, 3)]
_TCPS: Final = {
    "noordwijk": "Noordwijk",
    "cubic": "Cubic",
    "newreno": "NewReno",
    "hybla": "Hybla",
    "highspeed": "HighSpeed",
    "bic": "Bic",
}


def _fairness(cells: Cells) -> Iterator[Comparison]:
    for buffer, word in _BUFFERS.items():
        figure = "F2.18" if word == "large" else "F2.19"
        for clients in (2, 4, 8, 16):
            at = {"buffer": buffer, "clients": str(clients)}
            ours = cells.mean(_WORST, middleware="c2ml", **at)
            what = f"{clients} clients, {word} queue"
            yield between(f"{figure}: worst of Jain's indices with C2ML, {what}", "near 1", ours, (0.9, 1.0), _INDEX)
            order = [("with", ours), ("without", cells.mean(_WORST, middleware="none", **at))]
            reason = _ALIKE if clients == 2 or (clients, word) == (4, "large") else ""
            yield falls(f"{figure}: worst of Jain's indices, C2ML above none, {what}", "above", order, _INDEX, reason)


_ALIKE = (
    "nobody loses a packet, so that those who begin together grow together, by a segment in each round trip; with budgets they "
    "send their windows at once, and a second has one window of some and two of others"
)
FAIRNESS = CampaignExperiment(
    id="ppdr S1f",
    title="fairness of backlogged transfers with C2ML",
    text="1 Mbit/s and 300 ms one way, with a queue of a bandwidth-delay product (75 kB) and one of 4 MB. The source leaves open "
    "the TCP (here NewReno: CUBIC, which was tried first, took too long to compute), and over how long a rate is taken (here a "
    "second). It has 5 minutes.",
    campaign=Path(__file__).with_name("c2ml-fairness.yaml"),
    compare=_fairness,
    full_repetitions=5,
)


def _apart(*took_s: float) -> float:
    """How far the transfers are from equal shares, as the worst relative difference of how long one took."""
    return max(abs(took / equal - 1) for took, equal in zip(took_s, _EQUAL_S.values(), strict=True))


def _arrivals(cells: Cells) -> Iterator[Comparison]:
    bounds = (_ALONE_S, 0.9 * _EQUAL_S["first"])
    for senders, words, reason in (("newreno-large", "", _LINEAR), ("newreno-slow-start", " that begins with slow start", "")):
        ours = cells.mean(_TOOK[0], middleware="none", senders=senders)
        what = f"F2.8: the first NewReno transfer{words}, large queue"
        yield between(what, "the first two starve the third", ours, bounds, _S, reason)
    for figure, variant in (("F2.14", "newreno"), ("F2.16", "cubic"), ("F2.17", "noordwijk")):
        for measure, (word, equal_s) in zip(_TOOK, _EQUAL_S.items(), strict=True):
            what = f"{figure}: the {word} {_TCPS[variant]} transfer with C2ML"
            reason = "" if variant == "noordwijk" else _CHANGES
            ours = cells.mean(measure, middleware="c2ml", senders=variant)
            yield near(what, equal_s, ours, Within(share=0.05), _S, reason)
    for figures, variant in (("F2.10, F2.16", "cubic"), ("F2.11, F2.17", "noordwijk")):
        apart = {word: cells.derived(_TOOK, _apart, middleware=word, senders=variant) for word in ("none", "c2ml")}
        order = [("without", apart["none"]), ("with", apart["c2ml"])]
        yield falls(f"{figures}: how far from equal shares, {_TCPS[variant]}, C2ML below none", "below", order, _INDEX)
    ends = {word: cells.derived(_TOOK, max, middleware=word, senders="noordwijk") for word in ("none", "c2ml")}
    order = [("without", ends["none"]), ("with", ends["c2ml"])]
    yield falls("F2.11, F2.17: the slowest Noordwijk transfer, C2ML before none", "breaks without", order, _S)


_LINEAR = (
    "with a slow-start threshold of its initial window the first has 27 of the 136 segments that the line holds when the second "
    "begins, by a segment in each round trip; none of them fills the line and its queue"
)
_CHANGES = (
    "windows keep to budgets by the smallest round trip: with budgets that never change the three took 4 % longer than the line "
    "takes for them. Why they lose as much again while budgets change is not understood yet"
)
ARRIVALS = CampaignExperiment(
    id="ppdr S1a, S1c, S1d",
    title="transfers that begin one after the other",
    text="5 MB each over 1 Mbit/s, one begun every 10 s. Published are curves; the figures here are how long transfers take that "
    "share at once and equally.",
    campaign=Path(__file__).with_name("c2ml-arrivals.yaml"),
    compare=_arrivals,
    full_repetitions=5,
)


def _distances(cells: Cells) -> Iterator[Comparison]:
    goodputs = [f"client-{client}.transfer_goodput_kbps" for client in (1, 2, 3)]
    share = 1e3 / 3 * 500 / 552
    for measure, round_trip in zip(goodputs, ("0.6", "0.8", "1"), strict=True):
        ours = cells.mean(measure, middleware="c2ml")
        yield near(f"F2.15: goodput with C2ML, {round_trip} s of round trip", share, ours, Within(share=0.1), _MBPS)
    apart = {word: cells.derived(goodputs, _ratio, middleware=word) for word in ("none", "c2ml")}
    order = [("without", apart["none"]), ("with", apart["c2ml"])]
    yield falls("F2.15: most above least, C2ML below none", "fair with C2ML", order, _INDEX)


def _ratio(*goodputs: float) -> float:
    return max(goodputs) / min(goodputs)


DISTANCES = CampaignExperiment(
    id="ppdr S1e",
    title="transfers with different round trips",
    text="Three backlogged NewReno transfers over 1 Mbit/s, with a queue of 75 kB, for 5 minutes, of which the first does not "
    "count. The source does not give the round trips; here they are 0.6, 0.8 and 1 s.",
    campaign=Path(__file__).with_name("c2ml-distances.yaml"),
    compare=_distances,
    full_repetitions=5,
)


def _six(cells: Cells) -> Iterator[Comparison]:
    for buffer, word in (("150 kB", "standard"), ("4 MB", "large")):
        index = {middleware: cells.mean(_WORST, middleware=middleware, buffer=buffer) for middleware in ("none", "c2ml")}
        what = f"F2.29: worst of Jain's indices of six TCPs, C2ML above none, {word} queue"
        yield falls(what, "above", [("with", index["c2ml"]), ("without", index["none"])], _INDEX)
    for variant, name in _TCPS.items():
        ours = cells.mean(f"{variant}.transfer_goodput_kbps", middleware="c2ml", buffer="150 kB")
        yield near(f"F2.28: goodput of {name} with C2ML, standard queue", 2e3 / 6 * 500 / 552, ours, Within(share=0.1), _MBPS)


SIX = CampaignExperiment(
    id="ppdr S1b, S1k",
    title="six TCPs that share a satellite",
    text="One backlogged transfer of each over 2 Mbit/s, one begun every 3 s; the warm-up has all begin.",
    campaign=Path(__file__).with_name("c2ml-six.yaml"),
    compare=_six,
    full_repetitions=5,
    is_only_full=True,
)


_FULL: Final = (
    "CUBIC fills the link without C2ML, too: all transfers together take what the link takes for them, 68 s at 12.5 Mbit/s and "
    "212 s at 4. Means can be half as long only where senders leave half of the link unused"
)
_ALIKE_IN_THE_MEAN: Final = {("none", "12.5"), ("ten", "4"), ("ten", "6.5")}
#: By the background of the campaign: table, what is beside the transfers, means without C2ML and with it, in s.
_BACKGROUNDS: Final = {"none": ("Tab 2.7", "", 117.2, 61.6), "ten": ("Tab 2.8", " beside ten long ones", 365.9, 64.9)}


def _users(cells: Cells) -> Iterator[Comparison]:
    took = [f"file-{number}.transfer_completed_s" for number in range(1, 65)]
    for background, (table, beside, without_s, with_s) in _BACKGROUNDS.items():
        longer = without_s / with_s - 1
        for rate in ("4", "6.5", "12.5"):
            at, against = ({"link": f"{middleware}-{rate}", "background": background} for middleware in ("none", "c2ml"))
            order = [("without", cells.derived(took, _mean, **at)), ("with", cells.derived(took, _mean, **against))]
            words = f"{without_s} s to {with_s} s"
            what = f"{table}: mean of 64 transfers of 1.5 MB{beside}, C2ML before none, {rate} Mbit/s"
            yield falls(what, words, order, _S, _FULL if (background, rate) in _ALIKE_IN_THE_MEAN else "")
            ours = cells.derived_change(took, _mean, at, against)
            what = f"{table}: longer mean of 64 transfers{beside} without C2ML, {rate} Mbit/s"
            yield near(what, longer, ours, Within(by=0.15 * (1 + longer)), PERCENT, _FULL)


def _mean(*values: float) -> float:
    return fmean(values)


USERS = CampaignExperiment(
    id="ppdr S1i, S1j",
    title="short transfers by 32 users with C2ML",
    text="64 transfers of 1.5 MB that begin within 30 s, each by a random user, alone and beside ten that never end. The source "
    "leaves open the TCP (here CUBIC), the delay (300 ms) and the rate. 5 and 10 MB, and 64 and 128 users, are left out.",
    campaign=Path(__file__).with_name("c2ml-users.yaml"),
    compare=_users,
    full_repetitions=5,
    is_only_full=True,
)


def _backlogged(cells: Cells) -> Iterator[Comparison]:
    goodputs = [f"client-{client}.transfer_goodput_kbps" for client in range(1, 6)]
    share = 4e3 * 1000 / 1052
    for word, of in (("least", min), ("most", max)):
        ours = cells.derived(goodputs, of, middleware="c2ml")
        yield near(f"F3.3: goodput of who has the {word} of five clients, C2ML", share, ours, Within(share=0.05), _MBPS)
    index = {middleware: cells.mean(_WORST, middleware=middleware) for middleware in ("c2ml", "none")}
    order = [("with", index["c2ml"]), ("without", index["none"])]
    yield falls("F3.3: worst of Jain's indices, C2ML above none", "above", order, _INDEX)
    queues = {word: cells.mean("satellite.lan.queue_packets_mean", middleware=word) for word in ("none", "c2ml")}
    order = [("without", queues["none"]), ("with", queues["c2ml"])]
    yield falls("F3.3: mean queue, C2ML below none", "below", order, _PACKETS)


BACKLOGGED = CampaignExperiment(
    id="ppdr S3",
    title="five backlogged transfers with C2ML",
    text="20 Mbit/s and 702 ms, as S4, without an attacker. Transfers begin with a slow-start threshold of their initial window, "
    "10 kB, as the source's in S1.",
    campaign=Path(__file__).with_name("c2ml-backlogged.yaml"),
    compare=_backlogged,
    full_repetitions=5,
)
