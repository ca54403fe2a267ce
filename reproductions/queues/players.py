# SPDX-License-Identifier: GPL-2.0-or-later
"""Players of video in an LTE cell, as the campaigns of Dai 2018, chapter 6, measured them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reproductions.cells import Cells
from reproductions.comparison import Comparison, Unit, between
from reproductions.queues.over_flows import jain, mean
from results.intervals import Interval

#: How the source names them: behind CoDel in the eNodeB, or with a back-off at this much video in their buffers.
PLAYERS = {"codel": "CoDel", "back-off-3": "3 s", "back-off-5": "5 s"}
BACK_OFFS = ("back-off-3", "back-off-5")
#: Jain's index of what the source calls fair: the line of its own section 5.4.
FAIR = (0.95, 1.0)
CELLS = {"cqi-15": "CQI 15", "cqi-8": "CQI 8", "cqi-15-fast": "CQI 15 and 100 Mbit/s"}


class Crowd:
    """So many players of a cell; `where`: what the campaign's parameters say besides the players."""

    def __init__(self, cells: Cells, ues: int, where: Mapping[str, Any]) -> None:
        self._cells, self._ues, self._where = cells, ues, where

    def delay(self, player: str) -> Interval:
        """Of packets from the server to a player, ms."""
        return self._cells.derived(self._of("delay_ms_mean"), mean, **self._at(player))

    def goodput(self, player: str) -> Interval:
        """Of a player, kbit/s."""
        return self._cells.derived(self._of("goodput_kbps"), mean, **self._at(player))

    def fairness(self, player: str) -> Interval:
        """Jain's index of goodput."""
        return self._cells.derived(self._of("goodput_kbps"), jain, **self._at(player))

    def stalled(self, player: str) -> Interval:
        """Of a player, s."""
        return self._cells.derived(self._of("stalled_s"), mean, **self._at(player))

    def change(self, measure: str, player: str) -> Interval:
        """Of the mean against that with CoDel, as a share."""
        return self._cells.derived_change(self._of(measure), mean, self._at(player), self._at("codel"))

    def goodput_change(self, player: str, against: Crowd) -> Interval:
        """Of the mean against that of as many elsewhere, as a share."""
        return self._cells.derived_change(self._of("goodput_kbps"), mean, self._at(player), against._at(player))

    def _of(self, measure: str) -> list[str]:
        return [f"video-{number}.{measure}" for number in range(1, self._ues + 1)]

    def _at(self, player: str) -> dict[str, Any]:
        return {**self._where, "players": f"{player}-{self._ues}"}


def fair(figure: str, cell: str, crowds: Mapping[tuple[str, int], Crowd]) -> Iterator[Comparison]:
    """That all players of each crowd of a cell have about the same; crowds by cell and number of UEs."""
    for (where, ues), crowd in crowds.items():
        if where == cell:
            for player, name in PLAYERS.items():
                what = f"{figure}: Jain's index of {ues} UEs at {CELLS[cell]}, {name}"
                yield between(what, "fair", crowd.fairness(player), FAIR, Unit(digits=3))
