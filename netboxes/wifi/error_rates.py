# SPDX-License-Identifier: GPL-2.0-or-later
"""Frame errors of the OFDM PHY by signal-to-noise ratio, in closed form, and what they leave of a rate."""

from __future__ import annotations

import math

from netboxes.wifi.standard_arithmetic import OFDM, ofdm, ofdm_ack, psdu

#: Rate in Mbit/s: levels of the constellation, code rate (Table 17-4).
MODULATION = {
    6: (2, (1, 2)), 9: (2, (3, 4)), 12: (4, (1, 2)), 18: (4, (3, 4)),
    24: (16, (1, 2)), 36: (16, (3, 4)), 48: (64, (2, 3)), 54: (64, (3, 4)),
}  # fmt: skip
#: Free distance, step and weights of the 133, 171 code and its punctured ones (J. Conan, IEEE Trans. Communications 32(9), 1984;
#: D. Haccoun and G. Bégin, IEEE Trans. Communications 37(11), 1989).
_WEIGHTS = {
    (1, 2): (10, 2, (36, 211, 1404, 11633, 77433, 502690, 3322763, 21292910, 134365911)),
    (2, 3): (6, 1, (3, 70, 285, 1276, 6160, 27128, 117019, 498860, 2103891, 8784123)),
    (3, 4): (5, 1, (42, 201, 1492, 10469, 62935, 379644, 2253373, 13073811, 75152755, 428005675)),
}
#: aRxPHYStartDelay of a 20 MHz channel (Table 17-21).
RX_START_DELAY = 20.0
ATTEMPTS = 7


def frame_error_rate(rate: int, snr: float, octets: int) -> float:
    """By the union bound for hard decisions: G. Pei and T. Henderson, "Validation of OFDM error rate model in ns-3", 2010.

    snr: in dB, over the whole channel.
    """
    levels, code = MODULATION[rate]
    p = _symbol_bit_error(levels, 10 ** (snr / 10))
    root = math.sqrt(4 * p * (1 - p))
    distance, step, weights = _WEIGHTS[code]
    bound = sum(weight * root ** (distance + step * index) for index, weight in enumerate(weights)) / (2 * code[0])
    return 1.0 - (1.0 - min(1.0, bound)) ** (8 * octets)


def _symbol_bit_error(levels: int, snr: float) -> float:
    """Of a Gray-coded BPSK, or of one axis of a quadrature constellation (J. Proakis, Digital Communications, 5.2)."""
    if levels == 2:
        return 0.5 * math.erfc(math.sqrt(snr))
    side = math.sqrt(levels)
    share = 2 * (1 - 1 / side) / math.log2(levels)
    return share * math.erfc(math.sqrt(1.5 * snr / (levels - 1)))


def goodput(rate: int, snr: float, length: int) -> float:
    """bit/s of one saturated station of 802.11a at a constant rate, which sends a frame up to ATTEMPTS times, with a backoff that
    doubles (10.3.3) after each wait of SIFS, slot and PHY start delay for an acknowledgement that does not come (10.3.2.11)."""
    errors = frame_error_rate(rate, snr, psdu(length))
    took, chance = 0.0, 1.0
    for attempt in range(ATTEMPTS):
        window = min((OFDM.cw_min + 1) << attempt, OFDM.cw_max + 1) - 1
        answered = (1 - errors) * (OFDM.sifs + ofdm_ack(rate))
        silence = errors * (OFDM.sifs + OFDM.slot + RX_START_DELAY)
        took += chance * (OFDM.difs + OFDM.backoff(window) + ofdm(rate, psdu(length)) + answered + silence)
        chance *= errors
    return (1 - chance) * length * 8 / took * 1e6
