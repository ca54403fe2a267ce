# SPDX-License-Identifier: GPL-2.0-or-later
"""What contention leaves of a channel, by models of the literature. Times in us."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from netboxes.wifi.standard_arithmetic import OFDM, Category, Phy


@dataclass(frozen=True)
class Contenders:
    """Stations of one kind that always have something to send, and all hear each other."""

    count: int
    cw_min: int
    cw_max: int
    #: What a success brings, and how long it keeps the channel busy from its begin to the end of its last acknowledgement.
    payload_bits: float
    success: float
    #: How long a collision keeps it busy.
    collision: float
    #: Slots that they wait longer after a busy period than those who wait the least.
    later: int = 0

    @classmethod
    def of(cls, category: Category, count: int, payload_bits: float, success: float, collision: float) -> Contenders:
        return cls(count, category.cw_min, category.cw_max, payload_bits, success, collision, category.aifsn - 2)

    def attempts(self, collisions: float) -> float:
        """The chance that one of them sends in a slot, when an attempt collides with this chance (Bianchi 2000, (7))."""
        window = self.cw_min + 1
        stages = round(math.log2((self.cw_max + 1) / window))
        backed_off = sum((2 * collisions) ** stage for stage in range(stages))
        return 2 / (1 + window + collisions * window * backed_off)


def shares(contenders: Sequence[Contenders], phy: Phy = OFDM) -> list[float]:
    """bit/s of each kind together.

    With one kind it is the saturation throughput of G. Bianchi, "Performance analysis of the IEEE 802.11 distributed coordination
    function", IEEE JSAC 18(3), 2000, (7), (9), (13). Kinds that wait for different AIFS do not contend in the first slots after a
    busy period, which are then rarer the later they are, as in J. W. Robinson and T. S. Randhawa, "Saturation throughput analysis
    of IEEE 802.11e enhanced distributed coordination function", IEEE JSAC 22(5), 2004.
    """
    tries = [kind.attempts(0.3) for kind in contenders]
    for _ in range(500):
        visits, idle = _slots(contenders, tries)
        collisions = [1 - _others_silent(number, kind, tries, visits, idle) for number, kind in enumerate(contenders)]
        wanted = [kind.attempts(chance) for kind, chance in zip(contenders, collisions, strict=True)]
        tries = [0.7 * old + 0.3 * new for old, new in zip(tries, wanted, strict=True)]
    visits, idle = _slots(contenders, tries)
    successes = [
        sum(visits[kind.later :]) * kind.count * tries[number] * _others_silent(number, kind, tries, visits, idle)
        for number, kind in enumerate(contenders)
    ]
    silent = sum(visit * quiet for visit, quiet in zip(visits, idle, strict=True))
    collided = sum(visits) - silent - sum(successes)
    took = silent * phy.slot + collided * (max(kind.collision for kind in contenders) + phy.difs)
    took += sum(count * (kind.success + phy.difs) for kind, count in zip(contenders, successes, strict=True))
    return [count * kind.payload_bits / took * 1e6 for kind, count in zip(contenders, successes, strict=True)]


def _slots(contenders: Sequence[Contenders], tries: Sequence[float]) -> tuple[list[float], list[float]]:
    """How often the network comes to each slot after a busy period, and the chance that nobody sends in it.

    From the last of them on all contend: it stands for all that follow.
    """
    visits, idle = [1.0], []
    for slot in range(max(kind.later for kind in contenders) + 1):
        quiet = 1.0
        for kind, chance in zip(contenders, tries, strict=True):
            quiet *= (1 - chance) ** kind.count if slot >= kind.later else 1.0
        idle.append(quiet)
        visits.append(visits[-1] * quiet)
    visits.pop()
    visits[-1] /= 1 - idle[-1]
    return visits, idle


def _others_silent(
    number: int, kind: Contenders, tries: Sequence[float], visits: Sequence[float], idle: Sequence[float]
) -> float:
    """The chance that all others are silent in a slot in which one of this kind may send."""
    quiet = sum(visit * silent for visit, silent in zip(visits[kind.later :], idle[kind.later :], strict=True))
    return quiet / sum(visits[kind.later :]) / (1 - tries[number])


def hidden_loss(rate: float, frame: float, sifs: float = OFDM.sifs) -> float:
    """The share of frames that a hidden station destroys, when it sends `rate` frames of the same length a us at times that have
    nothing to do with ours, and nobody repeats a frame.

    Pure ALOHA's vulnerable period of two frames (N. Abramson, 1970; of hidden stations F. Tobagi and L. Kleinrock, IEEE Trans.
    Communications 23(12), 1975), and the time in which the receiver turns round to acknowledge the other one's frame and
    is deaf to ours.
    """
    return 1 - math.exp(-rate * (2 * frame + sifs))
