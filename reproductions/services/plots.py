# SPDX-License-Identifier: GPL-2.0-or-later
"""Plots of the source: a measure over one link in a topology, by level of errors and scheme, and what its text says of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from netboxes.multiservice.profiles import ProfileName
from netboxes.multiservice.validation import NAMES
from reproductions.cells import Cells
from reproductions.comparison import PERCENT, Comparison, Unit, Within, between, falls, near
from results.intervals import Interval

#: How far a gain may be from the source's, in proportion: a range of gains is read from plots.
_GAIN = 0.25


@dataclass(frozen=True)
class Quantity:
    """What a plot shows, of measures of a campaign."""

    measures: tuple[str, ...]
    unit: Unit
    of: Callable[..., float] = float


_KBPS = Unit(" kbit/s", digits=1)
FILE = Quantity(("file.transfer_goodput_kbps",), _KBPS)
#: Bytes of the file by all that the link layer of LAN1 sent in their direction (4.1.1).
LINK_GOODPUT = Quantity(("file.transfer_bytes", "air.base.station_sent_bytes"), Unit(digits=3), lambda file, sent: file / sent)
#: Bytes that arrived at TCP again, of all that arrived: a link layer and TCP had both repeated them.
ARRIVED_AGAIN = Quantity(("file.tcp_repeated_ratio",), PERCENT)
#: Without time to read, bytes of pages by the time of their loading are those by the time until the last one was there.
PAGES = Quantity(("web.page_goodput_kbps",), _KBPS)
TALK_CARRIED = Quantity(("talk.goodput_kbps",), _KBPS)
TALK_LOST = Quantity(("talk.loss_ratio",), PERCENT)
#: Mean and two standard deviations (5.3).
TALK_DELAY = Quantity(
    ("talk.delay_ms_mean", "talk.delay_ms_deviation"), Unit(" ms", digits=0), lambda mean, deviation: mean + 2 * deviation
)


@dataclass(frozen=True)
class Plot:
    """A quantity over one link, by level and scheme."""

    cells: Cells
    figure: str
    link: ProfileName
    topology: str
    quantity: Quantity
    #: What the source calls schemes, in the order in which it has them.
    words: Mapping[str, str]

    def at(self, scheme: str, level: int) -> dict[str, str | int]:
        return {"link": self.link, "level": level, "scheme": scheme}

    def value(self, scheme: str, level: int) -> Interval:
        return self.cells.derived(self.quantity.measures, self.quantity.of, **self.at(scheme, level))

    def gain(self, scheme: str, level: int, published: float, reason: str = "") -> Comparison:
        """Over Default, of a quantity that is one measure."""
        (measure,) = self.quantity.measures
        ours = self.cells.change_of_means(measure, self.at(scheme, level), self.at(next(iter(self.words)), level))
        what = self.what(f"gain by {self.words[scheme]}, level {level}")
        return near(what, published, ours, Within(share=_GAIN), Unit(" %", 100.0, 0), reason)

    def order(self, level: int, *schemes: str, reason: str = "") -> Comparison:
        """From the most."""
        words = " above ".join(self.words[scheme] for scheme in schemes)
        ours = [(self.words[scheme], self.value(scheme, level)) for scheme in schemes]
        return falls(self.what(f"level {level}, {words}"), "in this order", ours, self.quantity.unit, reason)

    def best(self, level: int, scheme: str, reason: str = "") -> Comparison:
        """More than each of the others that the plot has."""
        others = [(self.words[other], self.value(other, level)) for other in self.words if other != scheme]
        ours = [(self.words[scheme], self.value(scheme, level)), max(others, key=lambda other: other[1].mean)]
        return falls(self.what(f"level {level}, {self.words[scheme]} most"), "best", ours, self.quantity.unit, reason)

    def same(
        self, scheme: str, other: str, level: int, share: float, words: str = "nearly equal", reason: str = ""
    ) -> Comparison:
        """As much as the other, within a share of it."""
        return self._against(scheme, other, level, (-share, share), words, reason)

    def not_below(self, scheme: str, other: str, level: int, share: float, reason: str = "") -> Comparison:
        """As much as the other or more, but for a share of it."""
        return self._against(scheme, other, level, (-share, math.inf), "as much or more", reason)

    def _against(self, scheme: str, other: str, level: int, bounds: tuple[float, float], words: str, reason: str) -> Comparison:
        quantity, at, against = self.quantity, self.at(scheme, level), self.at(other, level)
        ours = self.cells.derived_change(quantity.measures, quantity.of, at, against)
        what = self.what(f"{self.words[scheme]} against {self.words[other]}, level {level}")
        return between(what, words, ours, bounds, PERCENT, reason)

    def with_errors(self, scheme: str, *levels: int, words: str, reason: str = "") -> Comparison:
        """Falls from the first of these levels to the last."""
        ours = [(f"level {level}", self.value(scheme, level)) for level in levels]
        what = self.what(f"with the level of errors, {self.words[scheme]}")
        return falls(what, words, ours, self.quantity.unit, reason)

    def near(self, scheme: str, level: int, published: float, share: float, reason: str = "") -> Comparison:
        what = self.what(f"level {level}, {self.words[scheme]}")
        return near(what, published, self.value(scheme, level), Within(share=share), self.quantity.unit, reason)

    def below(self, scheme: str, level: int, most: float, words: str, reason: str = "") -> Comparison:
        what = self.what(f"level {level}, {self.words[scheme]}")
        return between(what, words, self.value(scheme, level), (-math.inf, most), self.quantity.unit, reason)

    def what(self, words: str) -> str:
        """The name of a figure of it."""
        return f"{self.figure}, {NAMES[self.link]}/{self.topology}: {words}"


def explained(comparisons: Iterable[Comparison], reasons: Mapping[str, Collection[str]]) -> Iterator[Comparison]:
    """With the reason of each that is known not to be reproduced; `reasons` has the figures that each explains."""
    why = {figure: reason for reason, figures in reasons.items() for figure in figures}
    for one in comparisons:
        yield replace(one, reason=why.get(one.what, one.reason))
