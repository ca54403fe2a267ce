# SPDX-License-Identifier: GPL-2.0-or-later
"""QRM: what attackers leave to the others, by how many clients and attackers there are (Grazia's dissertation, 3.1.5.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from reproductions.campaign_experiment import CampaignExperiment
from reproductions.cells import Cells
from reproductions.comparison import Comparison, Unit, Within, between, falls, near
from results.intervals import Interval

_SHARE, _RATIO, _PACKETS = Unit(digits=3), Unit(" times"), Unit(" packets", digits=0)
_RATE_BPS: Final = 20e6
_TIME_S: Final = 60.0
#: Theorem 2: what the link sends in a round trip of 702 ms, in packets of 1052 bytes.
_MOST_PACKETS: Final = _RATE_BPS * 0.702 / 8 / 1052
_CLIENTS: Final = (2, 4, 8, 16, 32)
_ATTACKERS: Final = (1, 2, 4, 8, 16)
_AQMS: Final = {"droptail": "DropTail", "red": "RED", "codel": "CoDel", "green": "GREEN"}


def _compare(cells: Cells) -> Iterator[Comparison]:
    yield from _by_clients(cells)
    yield from _by_attackers(cells)
    yield from _queues(cells)


def _by_clients(cells: Cells) -> Iterator[Comparison]:
    for clients in _CLIENTS:
        ours = _worst(cells, "qrm", clients)
        for aqm, name in _AQMS.items():
            order = [("QRM", ours), (name, _worst(cells, aqm, clients))]
            yield falls(f"F3.18: wcTxData of {clients} clients, QRM above {name}", "highest", order, _SHARE)
        spreads = {name: _spread(cells, aqm, clients) for aqm, name in _AQMS.items()}
        least = min(spreads, key=lambda name: spreads[name].mean)
        order = [(least, spreads[least]), ("QRM", _spread(cells, "qrm", clients))]
        yield falls(f"F3.17: spread of TxData of {clients} clients, QRM below all", "least", order, _SHARE)
        order = [("RED", _mean(cells, "red", clients)), ("CoDel", _mean(cells, "codel", clients))]
        yield falls(f"F3.17: mean TxData of {clients} clients, RED above CoDel", "above", order, _SHARE)


def _by_attackers(cells: Cells) -> Iterator[Comparison]:
    for attackers in _ATTACKERS:
        ours = _worst(cells, "qrm", 32, attackers)
        yield near(f"F3.19: wcTxData with {_of(attackers)}, QRM", 0.9, ours, Within(by=0.05), _SHARE)
        for aqm, name in _AQMS.items() if attackers > 1 else ():
            order = [("QRM", ours), (name, _worst(cells, aqm, 32, attackers))]
            yield falls(f"F3.19: wcTxData with {_of(attackers)}, QRM above {name}", "above", order, _SHARE)
    for aqm in ("codel", "red", "green"):
        order = [(_of(attackers), _worst(cells, aqm, 32, attackers)) for attackers in (1, 4, 16)]
        reason = _ONE_RUN if aqm == "codel" else ""
        yield falls(f"F3.19: wcTxData with more attackers, {_AQMS[aqm]}", "falls", order, _SHARE, reason)


def _queues(cells: Cells) -> Iterator[Comparison]:
    def by_clients(aqm: str, which: str, counts: Sequence[int]) -> list[tuple[str, Interval]]:
        return [(f"{clients} clients", _queue(cells, aqm, which, clients)) for clients in counts]

    for aqm in ("droptail", "red", "green"):
        order = by_clients(aqm, "mean", (32, 8, 2))
        reason = _HELD if aqm == "green" else ""
        yield falls(f"F3.20: mean queue with more clients, {_AQMS[aqm]}", "grows", order, _PACKETS, reason)
    growth = cells.derived_change(
        ["satellite.lan.queue_packets_mean"],
        lambda packets: packets,
        {"aqm": "codel", "clients": "32-1"},
        {"aqm": "codel", "clients": "2-1"},
    )
    yield between("F3.20: mean queue of 32 clients above that of 2, CoDel", "flat", growth, (-0.5, 1.0), _RATIO)
    for which, word, reason in (("mean", "mean", ""), ("max", "longest", _AT_ONCE)):
        order = by_clients("qrm", which, (2, 8, 32))
        yield falls(f"F3.20: {word} queue with more clients, QRM", "falls", order, _PACKETS, reason)
    for clients, attackers in [*((clients, 1) for clients in _CLIENTS), *((32, attackers) for attackers in _ATTACKERS[1:])]:
        longest = _queue(cells, "qrm", "max", clients, attackers)
        what = f"F3.20, F3.21: longest queue of {clients} clients with {_of(attackers)}, QRM"
        yield between(what, "below Theorem 2", longest, (0.0, _MOST_PACKETS), _PACKETS)
    for aqm, name in _AQMS.items():
        order = [(_of(attackers), _queue(cells, aqm, "mean", 32, attackers)) for attackers in (16, 4, 1)]
        yield falls(f"F3.21: mean queue with more attackers, {name}", "grows", order, _PACKETS)


def _of(attackers: int) -> str:
    return "1 attacker" if attackers == 1 else f"{attackers} attackers"


def _sent(first: int, clients: int) -> list[str]:
    return [f"client-{client}.transfer_bytes" for client in range(first, clients + 1)]


def _worst(cells: Cells, aqm: str, clients: int, attackers: int = 1) -> Interval:
    """The source's wcTxData: what the worst client that is no attacker sent, by the share of the link."""
    share = _RATE_BPS * _TIME_S / 8 / clients
    return cells.derived(
        _sent(attackers + 1, clients), lambda *sent: min(sent) / share, aqm=aqm, clients=f"{clients}-{attackers}"
    )


def _mean(cells: Cells, aqm: str, clients: int) -> Interval:
    """Of all clients, by the share of the link."""
    total = _RATE_BPS * _TIME_S / 8
    return cells.derived(_sent(1, clients), lambda *sent: sum(sent) / total, aqm=aqm, clients=f"{clients}-1")


def _spread(cells: Cells, aqm: str, clients: int) -> Interval:
    """From the least to the most that one of all clients sent, by the share of the link."""
    share = _RATE_BPS * _TIME_S / 8 / clients
    return cells.derived(_sent(1, clients), lambda *sent: (max(sent) - min(sent)) / share, aqm=aqm, clients=f"{clients}-1")


def _queue(cells: Cells, aqm: str, which: str, clients: int, attackers: int = 1) -> Interval:
    return cells.mean(f"satellite.lan.queue_packets_{which}", aqm=aqm, clients=f"{clients}-{attackers}")


_ONE_RUN = (
    "it is less with 4 and with 16 attackers than with one, and hardly differs between the two; there is one run of each, and "
    "whether chance decides is not understood yet"
)
_HELD = (
    "GREEN drops by the square of the number of flows: with 2 and 4 clients nothing, so that all is as with DropTail; with 32 "
    "its drops held the attacker, who had 3.3 shares of the link in place of 11.7. There is one run of each, and chance may have "
    "decided when the attacker lost its first packet"
)
_AT_ONCE = (
    "all clients begin at once, and their windows double at the same times: those of 16 and of 32 send 640 packets together, of "
    "which 639 wait with RED and GREEN as well; the source does not say when its clients begin"
)
ATTACKERS = CampaignExperiment(
    id="ppdr S4.2, S4.3",
    title="one attacker of 2 to 32 clients, and 1 to 16 of 32",
    text="Clients have budgets of an allocator (C2ML); attackers are clients that do not keep to theirs. TxData are the bytes "
    "of data, wcTxData those of the worst client that is no attacker, by its share of the link; with the headers "
    "nobody can have more than 0.951.",
    campaign=Path(__file__).with_name("qrm-attackers.yaml"),
    compare=_compare,
    full_repetitions=5,
)
