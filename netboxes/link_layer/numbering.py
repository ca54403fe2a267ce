# SPDX-License-Identifier: GPL-2.0-or-later
"""What schemes have above a technology where nobody says it: windows and rings for many frames under way, repeats first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from netboxes.link_layer.link import ARQ_HEADER, RLP_HEADER, Link

#: Of sequence numbers at most, and frames that they allow at once: half of them.
_MOST_BITS = 16
_MOST_FRAMES = 2 ** (_MOST_BITS - 1)
#: A frame that is lost as often as this still holds up no new ones.
_TIMERS_IN_A_WINDOW = 4
#: By how much a ring outlasts the attempts of RLP.
_SPARE = 2


@dataclass(frozen=True)
class LongLink(Link):
    """A link whose windows are as long as it takes to repeat a frame, where those of Xylomenos (1999) with 8 bits are shorter."""

    def defaults(self) -> dict[str, dict[str, float | int]]:
        usual = super().defaults()
        for scheme, settings in usual.items():
            if scheme.startswith(("sr", "rlp")):
                # As of 3GPP TS 36.322, 5.1.3.1.1: control PDUs, then what is repeated, then new PDUs.
                settings["repeats_first"] = True
            if "window" in settings:
                frames = _TIMERS_IN_A_WINDOW * settings["timer"] / self.frame_time(ARQ_HEADER)
                settings.update(_numbers("window", settings, frames))
            elif "ring" in settings:
                frames = _SPARE * (3 * settings["timer"] + self.delay) / self.frame_time(RLP_HEADER)
                settings.update(_numbers("ring", settings, frames))
            # What is under way may be repeated at once when its timers expire, and is not to push new frames out.
            settings["queue"] = max(int(settings["queue"]), math.ceil(usual["sr-m2"]["timer"] / self.frame_time(ARQ_HEADER)))
        return usual


def _numbers(key: str, settings: dict[str, float | int], frames: float) -> dict[str, Any]:
    longer = min(_MOST_FRAMES, max(int(settings[key]), math.ceil(frames)))
    return {key: longer, "sequence_bits": max(int(settings["sequence_bits"]), math.ceil(math.log2(2 * longer)))}
