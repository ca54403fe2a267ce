# SPDX-License-Identifier: GPL-2.0-or-later
"""The E-model, ITU-T G.107 (06/2015): the rating R of a telephone connection, and the mean opinion score of it.

Of the model's parameters only delay, loss and codec differ between calls. There is no echo, for the agents speak from files, and
all others (loudness, noise, side tone, quantizing) have the defaults of G.107, Table 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from typing_extensions import TypedDict

from applications.call.application import VoiceCodec
from results.statistics import Values

#: Ro - Is - Id without delay and with the default parameters, by clauses 7.2 to 7.4, which G.107 rounds to 93.2.
_UNIMPAIRED = 93.20620772327571


class PlannedVoice(TypedDict):
    """What the E-model says of a call from its delay and loss."""

    mos_e_model: float | None
    r: float | None
    mouth_to_ear_ms: float | None
    late_ratio: float | None
    codec: str
    impairment: str
    reason: str | None


@dataclass(frozen=True)
class Impairment:
    """Ie and Bpl of a codec (G.107 clause 7.5), and where they come from."""

    ie: float
    bpl: float
    source: str


_NO_CONCEALMENT = 4.3
IMPAIRMENTS: dict[str, Impairment] = {
    "pcma": Impairment(0.0, _NO_CONCEALMENT, "ITU-T G.113 Appendix I, G.711 without packet loss concealment"),
    # G.113 rates wide-band codecs on the scale of G.107.1 only. On the narrow-band scale they are no worse than G.711, and their
    # robustness is no less than G.711's without concealment: both are lower bounds of the quality.
    "g722": Impairment(0.0, _NO_CONCEALMENT, "as G.711: a lower bound for a wide-band codec on the narrow-band scale"),
    "opus": Impairment(0.0, _NO_CONCEALMENT, "as G.711: a lower bound, for ITU-T G.113 has no values for Opus"),
}


def planned(codec: VoiceCodec, delays_ms: Values, lost_ratio: float) -> PlannedVoice:
    """R and MOS of the E-model for one direction.

    The delay from mouth to ear is a packet's speech, the encoder's look-ahead, the network's mean delay, and the playout buffer.
    Packets that come later than the fastest one by more than the playout buffer count as lost, because they miss their turn.
    """
    impairment = IMPAIRMENTS[codec["name"]]
    origin = f"Ie {impairment.ie:g}, Bpl {impairment.bpl:g}: {impairment.source}"
    if delays_ms.size == 0:
        return {
            "mos_e_model": None,
            "r": None,
            "mouth_to_ear_ms": None,
            "late_ratio": None,
            "codec": codec["name"],
            "impairment": origin,
            "reason": "no packet arrived",
        }
    late = float(np.mean(delays_ms > delays_ms.min() + codec["playout_ms"]))
    lost = lost_ratio + (1.0 - lost_ratio) * late
    mouth_to_ear = codec["frame_ms"] + codec["lookahead_ms"] + float(delays_ms.mean()) + codec["playout_ms"]
    r = rating(mouth_to_ear, 100.0 * lost, impairment)
    return {
        "mos_e_model": mean_opinion_score(r),
        "r": r,
        "mouth_to_ear_ms": mouth_to_ear,
        "late_ratio": late,
        "codec": codec["name"],
        "impairment": origin,
        "reason": None,
    }


def rating(delay_ms: float, lost_percent: float, codec: Impairment) -> float:
    """R = Ro - Is - Id - Ie,eff (clause 7.1): by the delay from mouth to ear, and by packets lost at random (clause 7.5)."""
    return _UNIMPAIRED - delay_impairment(delay_ms) - codec.ie - (95.0 - codec.ie) * lost_percent / (lost_percent + codec.bpl)


def delay_impairment(delay_ms: float) -> float:
    """Idd: too long an absolute delay, even without any echo (clause 7.4; sT = 1 and mT = 100 ms, as for all applications)."""
    x = math.log2(max(delay_ms, 100.0) / 100.0)
    return 25.0 * (math.pow(1.0 + x**6, 1 / 6) - 3.0 * math.pow(1.0 + (x / 3.0) ** 6, 1 / 6) + 2.0)


def mean_opinion_score(r: float) -> float:
    """Annex B, equation B-4."""
    r = min(max(r, 0.0), 100.0)
    return max(1.0, 1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6)
