# SPDX-License-Identifier: GPL-2.0-or-later
"""The play-out buffer of a player, by its clock. netboxes/endpoints/play_buffer.cc is the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

State = Literal["playing", "stalled"]


class PlayBuffer:
    """Plays what it has, and stands still while it has nothing. Times are seconds, and never go back.

    It plays from `first` seconds of media on, and again from `again` on after it stood still. `tell` is called with what it
    begins to do, and when.
    """

    def __init__(self, first: float, again: float, tell: Callable[[State, float], None]) -> None:
        self._needed, self._again, self._tell = first, again, tell
        #: Seconds of media that wait to be played.
        self.level = 0.0
        self._now = 0.0
        self._playing = False

    def advance(self, now: float) -> None:
        """To a time."""
        if self._playing:
            played = now - self._now
            if played > self.level:
                self._playing, self._needed = False, self._again
                self._tell("stalled", self._now + self.level)
                self.level = 0.0
            else:
                self.level -= played
        self._now = now

    def fill(self, now: float, media: float) -> None:
        """So many seconds of media have come."""
        self.advance(now)
        self.level += media
        if not self._playing and self.level >= self._needed:
            self._playing = True
            self._tell("playing", now)
