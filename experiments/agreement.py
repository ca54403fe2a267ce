# SPDX-License-Identifier: GPL-2.0-or-later
"""How far real and virtual time may be apart, and how far they are."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.figures import Figures
from experiments.outcome import Expectation, number, share


@dataclass(frozen=True)
class Tolerance:
    """Real time differs by what the emulator was late, by where traffic and frame clocks met, and by what chance drew.

    Delays may differ by the limit of lateness that the topology states, and by a part of themselves besides.
    """

    lateness_ms: float
    goodput: float = 0.03
    #: Absolute, of the share that is lost.
    loss: float = 0.03
    delay: float = 0.10


def agree(what: str, real: Figures, virtual: Figures, tolerance: Tolerance) -> Expectation:
    """Goodput, loss and mean delay of the same traffic in both. Where nothing arrived, in one or in both, they do not agree."""
    goodput = abs(real.goodput_ip_kbps - virtual.goodput_ip_kbps) / virtual.goodput_ip_kbps
    loss = abs(real.loss_ratio - virtual.loss_ratio)
    there, here = virtual.delay_mean_ms, real.delay_mean_ms
    delay, most = abs(here - there), tolerance.lateness_ms + tolerance.delay * there
    required = f"{share(tolerance.goodput)}, {share(tolerance.loss)} of all, {number(most)} ms"
    return Expectation(
        f"{what}: real and virtual time agree in goodput, loss, mean delay",
        f"within {required}",
        f"apart by {share(goodput)}, {share(loss)}, {number(delay)} ms ({number(here)} and {number(there)})",
        goodput <= tolerance.goodput and loss <= tolerance.loss and delay <= most,
    )
