# SPDX-License-Identifier: GPL-2.0-or-later
"""Conferencing with an ARQ that never gives up (Xylomenos 1999, 5.2.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from reproductions.comparison import PERCENT, Comparison, Unit, between, falls
from reproductions.experiment import Compared
from reproductions.services.conferences import LEVELS, Cell, ConferenceExperiment, Conferences, Scheme
from testbed.documents.campaign import CampaignStanding

_SECONDS = Unit(" s", 1e-3)
#: Of retransmissions: 150 times the round trip of the link and its frames.
_LONG = "40 s"
#: By their delay, from the most.
_BY_DELAY: dict[str, Scheme] = {"SR/M2": "sr-m2", "RLP/OOS": "rlp-oos"}
_TIMERS = (
    "with the timer of the technology, two delays and 24 frames (0.9 s), the window of 127 frames hardly ever fills, and "
    "SR/M2 loses nothing. The rows with a timer of 40 s have the source's loss. The source says of timers that they are "
    "relaxed, and longer than a round trip (0.26 s)"
)


def _cell(scheme: Scheme, level: int, timer: str | None = None) -> Cell:
    return Cell("cellular", "LAN1", scheme, level, timer)


def compare(runs: Conferences) -> Iterator[Comparison]:
    """What the source says of both plots."""
    for timer, words, reason in ((None, "SR/M2", _TIMERS), (_LONG, f"SR/M2 with a timer of {_LONG}", "")):
        for level in LEVELS[1:]:
            lost = [(words, runs.loss(_cell("sr-m2", level, timer))), ("Default", runs.loss(_cell("none", level)))]
            yield falls(f"F5.2: lost at level {level}, {words} above Default", "worse than Default", lost, PERCENT, reason)
    first = [("Default", runs.loss(_cell("none", LEVELS[0]))), ("SR/M2", runs.loss(_cell("sr-m2", LEVELS[0])))]
    yield falls(f"F5.2: lost at level {LEVELS[0]}, Default above SR/M2", "not worse than Default", first, PERCENT)
    what = f"F5.3: delay at level {LEVELS[-1]}, SR/M2"
    delay = runs.delay_ms(_cell("sr-m2", LEVELS[-1]))
    yield between(what, "tens to hundreds of seconds", delay, (1e4, 1e6), _SECONDS, _TIMERS)
    order = [(word, runs.delay_ms(_cell(scheme, LEVELS[-1]))) for word, scheme in _BY_DELAY.items()]
    yield falls("5.2.2: delay at level 4, SR/M2 above RLP/OOS", "far more", order, _SECONDS)


@dataclass(frozen=True)
class FullRecoveryExperiment(ConferenceExperiment):
    """Of one link in one topology."""

    def carry(
        self, results: Path, tell: Callable[[CampaignStanding], None], *, full: bool = False, few: int | None = None
    ) -> Compared:
        cells = [_cell(scheme, level) for scheme in ("none", "rlp-oos", "sr-m2") for level in LEVELS]
        long = [_cell("sr-m2", level, _LONG) for level in LEVELS]
        seeds, runs = self.held([*cells, *long], full=full, few=few)
        return Compared(f"{seeds} runs of 2000 s for each point.", list(compare(runs)), runs.record())


FULL_RECOVERY = FullRecoveryExperiment(
    id="msll F5.2-5.3",
    title="conferencing with an ARQ that never gives up",
    text="Conferencing over the cellular link and LAN1 with SR/M2 and 127 buffers. The source does not say its timers: here they "
    "are those of [the technology](../netboxes/multiservice/README.md), and 40 s to show what the source's loss would need.",
)
