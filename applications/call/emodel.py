# SPDX-License-Identifier: GPL-2.0-or-later
"""The E-model, ITU-T G.107 (06/2015): the rating R of a telephone connection, and the mean opinion score of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log2, log10, sqrt


@dataclass(frozen=True)
class Connection:
    """The parameters of G.107, Table 2, with their defaults; names as there. Levels in dB, delays in ms, losses in per cent."""

    slr: float = 8.0
    rlr: float = 2.0
    stmr: float = 15.0
    lstr: float = 18.0
    ds: float = 3.0
    telr: float = 65.0
    wepl: float = 110.0
    #: Mean one-way delay of the echo path, round-trip delay in a four-wire loop, absolute delay from mouth to ear.
    t: float = 0.0
    tr: float = 0.0
    ta: float = 0.0
    qdu: float = 1.0
    ie: float = 0.0
    bpl: float = 4.3
    ppl: float = 0.0
    burst_r: float = 1.0
    nc: float = -70.0
    nfor: float = -64.0
    ps: float = 35.0
    pr: float = 35.0
    advantage: float = 0.0
    #: Delay sensitivity of the talkers (clause 7.4): 1 and 100 ms for all applications unless one knows better.
    s_t: float = 1.0
    m_t: float = 100.0


def rating(line: Connection) -> float:
    """R = Ro - Is - Id - Ie,eff + A (clause 7.1)."""
    noise = _noise(line)
    ro = 15.0 - 1.5 * (line.slr + noise)
    return ro - _simultaneous(line, ro, noise) - _delay(line, ro, noise) - _equipment(line) + line.advantage


def mean_opinion_score(r: float) -> float:
    """Annex B, equation B-4."""
    if r <= 0.0:
        return 1.0
    if r >= 100.0:
        return 4.5
    return max(1.0, 1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6)


def delay_impairment(ta: float, s_t: float = 1.0, m_t: float = 100.0) -> float:
    """Idd: too long an absolute delay, even without any echo (clause 7.4)."""
    if ta <= m_t:
        return 0.0
    x = log2(ta / m_t)
    k = 6.0 * s_t
    return 25.0 * (_norm(x, k) - 3.0 * _norm(x / 3.0, k) + 2.0)


def _noise(line: Connection) -> float:
    """No: all circuit and room noise, in dBm0p (clause 7.2)."""
    olr = line.slr + line.rlr
    send = line.ps - line.slr - line.ds - 100.0 + 0.004 * (line.ps - olr - line.ds - 14.0) ** 2
    pre = line.pr + 10.0 * log10(1.0 + _power(10.0 - line.lstr))
    receive = line.rlr - 121.0 + pre + 0.008 * (pre - 35.0) ** 2
    floor = line.nfor + line.rlr
    return 10.0 * log10(sum(_power(level) for level in (line.nc, send, receive, floor)))


def _simultaneous(line: Connection, ro: float, noise: float) -> float:
    """Is: too loud, side tone, quantizing (clause 7.3)."""
    x = (line.slr + line.rlr + 0.2 * (64.0 + noise - line.rlr)) / 8.0
    too_loud = 20.0 * (_norm(x, 8.0) - x)
    side = -10.0 * log10(_power(-line.stmr) + exp(-line.t / 4.0) * _power(-line.telr))
    side_tone = (
        12.0 * _norm((side - 13.0) / 6.0, 8.0)
        - 28.0 * _norm((side + 1.0) / 19.4, 35.0)
        - 13.0 * _norm((side - 3.0) / 33.0, 13.0)
        + 29.0
    )
    q = 37.0 - 15.0 * log10(line.qdu)
    g = 1.07 + 0.258 * q + 0.0602 * q**2
    y, z = (ro - 100.0) / 15.0 + 46.0 / 8.4 - g / 9.0, 46.0 / 30.0 - g / 40.0
    return too_loud + side_tone + 15.0 * log10(1.0 + _power(10.0 * y) + _power(10.0 * z))


def _delay(line: Connection, ro: float, noise: float) -> float:
    """Id: talker echo, listener echo, absolute delay (clause 7.4, for 9 dB <= STMR <= 20 dB)."""
    terv = line.telr - 40.0 * log10((1.0 + line.t / 10.0) / (1.0 + line.t / 150.0)) + 6.0 * exp(-0.3 * line.t**2)
    talker = -1.5 * (noise - line.rlr) - (80.0 + 2.5 * (terv - 14.0))
    idte = (talker / 2.0 + sqrt(talker**2 / 4.0 + 100.0) - 1.0) * (1.0 - exp(-line.t))
    listener = ro - 10.5 * (line.wepl + 7.0) / sqrt(sqrt(line.tr + 1.0))
    idle = listener / 2.0 + sqrt(listener**2 / 4.0 + 169.0)
    return idte + idle + delay_impairment(line.ta, line.s_t, line.m_t)


def _equipment(line: Connection) -> float:
    """Ie,eff: the codec, and what packet loss does to it (clause 7.5)."""
    return line.ie + (95.0 - line.ie) * line.ppl / (line.ppl / line.burst_r + line.bpl)


def _norm(x: float, order: float) -> float:
    """The smooth corner that the model is made of: 1 below, x above."""
    return float((1.0 + x**order) ** (1.0 / order))


def _power(decibels: float) -> float:
    return float(10.0 ** (decibels / 10.0))
