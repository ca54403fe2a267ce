# SPDX-License-Identifier: GPL-2.0-or-later
"""The concatenated code of WirelessMAN-OFDM (IEEE 802.16-2009, 8.3.3.2), simulated bit by bit.

The all-zero word is sent on a Gaussian channel and decoded by soft-decision Viterbi: code and channel are symmetric, so that it
fares as any other word does. The outer code then repairs so many bytes of a block, wherever they are.

python -m netboxes.wimax.convolutional_code [PROFILE…]

prints the table of block_error.cc and the SNRs below; takes some minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

from netboxes.wimax.arithmetic import PROFILES, Profile

#: Generators of the mother code of rate 1/2 and constraint length 7 (8.3.3.2.2).
GENERATORS = (0o171, 0o133)
STATES = 64
#: Which of the two bits of each step are sent (Table 214 of 2004), by information bits in a period of the pattern.
PUNCTURING: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {
    1: ((1,), (1,)),
    2: ((1, 0), (1, 1)),
    3: ((1, 0, 1), (1, 1, 0)),
    5: ((1, 0, 1, 0, 1), (1, 1, 0, 1, 0)),
}
#: Es/N0 of a coded bit in dB at which one bit in a million is wrong after decoding, by the fit below: extrapolated from blocks of
#: which down to one in some thousand was lost, and good to 0.2 dB.
ANCHORS_DB = {
    "BPSK 1/2": 1.85,
    "QPSK 1/2": 2.68,
    "QPSK 3/4": 5.29,
    "16-QAM 1/2": 1.96,
    "16-QAM 3/4": 4.82,
    "64-QAM 2/3": 3.43,
    "64-QAM 3/4": 4.61,
}
#: Paths of the mother code by their distances 10, 12, 14, 16, 18, and the bits that are wrong in all of them together (Haccoun
#: and Bégin 1989).
DISTANCES, PATHS, WRONG_BITS = (10, 12, 14, 16, 18), (11, 38, 193, 1331, 7275), (36, 211, 1404, 11633, 77433)

#: Lost blocks that are waited for at each SNR, and how many are simulated at most.
ENOUGH, MOST = 150, 40_000

#: Words that are decoded together: so many fit into a processor's cache.
WORDS = 500


def _branches() -> NDArray[np.int64]:
    """Of the ways on from each even state with a zero bit: which of the four pairs of coded bits they send.

    Both generators have their first and their last tap: a bit of one, or the odd state beside it, sends the opposite.
    """
    registers = 2 * np.arange(STATES // 2)
    first, second = (np.vectorize(lambda bits: int(bits).bit_count() & 1)(registers & taps) for taps in GENERATORS)
    return np.asarray(2 * first + second, np.int64)


_BRANCHES = _branches()


def lost_blocks(profile: Profile, snr_db: float, blocks: int, chance: np.random.Generator) -> tuple[int, float]:
    """How many of so many Reed-Solomon blocks are not repaired at that Es/N0 of a coded bit, and wrong bits in one of them."""
    length, repaired = profile.outer
    wrong = _decode(8 * length, profile.period, snr_db, blocks, chance)
    lost = wrong.reshape(length, 8, blocks).any(axis=1).sum(axis=0) > repaired
    return int(lost.sum()), float(wrong.sum(axis=0)[lost].mean()) if lost.any() else 0.0


def _decode(bits: int, period: int, snr_db: float, words: int, chance: np.random.Generator) -> NDArray[np.bool_]:
    """Decoded words, bit by word: true where a bit is wrong."""
    steps = bits + 8
    sent = np.array([[pattern[step % period] for pattern in PUNCTURING[period]] for step in range(steps)], np.float32)
    deviation = np.sqrt(0.5 * 10 ** (-snr_db / 10))
    metric = np.full((STATES, words), -1e9, np.float32)
    metric[0] = 0.0
    following = np.empty_like(metric)
    chosen = np.empty((steps, STATES, words), np.bool_)
    for step in range(steps):
        x, y = sent[step][:, None] * (1 + deviation * chance.standard_normal((2, words), np.float32))
        gain = np.stack([x + y, x - y, y - x, -x - y])[_BRANCHES]
        even, odd = metric[0::2], metric[1::2]
        for bit, sign in ((slice(0, STATES // 2), gain), (slice(STATES // 2, STATES), -gain)):
            by_even, by_odd = even + sign, odd - sign
            np.greater(by_odd, by_even, out=chosen[step, bit])
            np.maximum(by_even, by_odd, out=following[bit])
        metric, following = following, metric
    # The tail byte brings the coder back to state zero (8.3.3.2.1).
    state = np.zeros(words, np.int64)
    decoded = np.empty((steps, words), np.bool_)
    word = np.arange(words)
    for step in reversed(range(steps)):
        decoded[step] = state >> 5
        state = (state & 31) << 1 | chosen[step, state, word]
    return decoded[:bits]


def closed_form(snr: float) -> tuple[float, float]:
    """Union bounds for BPSK 1/2, which has no outer code: lost blocks of 12 bytes, and wrong bits; Es/N0 not in dB."""
    chances = [erfc(sqrt(distance * snr)) / 2 for distance in DISTANCES]
    paths, bits = (sum(n * chance for n, chance in zip(counts, chances, strict=True)) for counts in (PATHS, WRONG_BITS))
    return 1 - (1 - paths) ** 96, bits


def fit(profile: Profile) -> tuple[float, list[float]]:
    """Where one bit in a million is wrong (dB), and the parabola about it, constant first: see block_error.cc."""
    chance = np.random.default_rng(profile.outer)
    points: list[tuple[float, int, int, float]] = []
    snr = -2.0
    while not points or points[-1][2] >= 10:
        blocks = lost = 0
        wrong = 0.0
        while lost < ENOUGH and blocks < MOST:
            lost_now, bits = lost_blocks(profile, snr, WORDS, chance)
            blocks, lost, wrong = blocks + WORDS, lost + lost_now, wrong + lost_now * bits
        if lost < 0.95 * blocks:
            points.append((snr, blocks, lost, wrong / max(lost, 1)))
        snr += 0.25
    at, blocks_of, lost_of, wrong_of = (np.array(column, float) for column in zip(*points[:-1], strict=True))
    share = lost_of / blocks_of
    # The scatter of ln(-ln(1 - P)) that a binomial gives it.
    scatter = np.sqrt(share / blocks_of / (1 - share)) / -np.log1p(-share)
    curve = np.poly1d(np.polyfit(at, _height(share), 2, w=1 / scatter))
    # A block that is lost has so many wrong bits: where one bit in a million is wrong, this share of them is lost.
    block = 8e-6 * profile.outer[0] / float(wrong_of[-3:].mean())
    beyond = np.arange(at[0], at[-1] + 4, 1e-3)
    anchor = float(beyond[np.argmax(curve(beyond) < _height(np.array(block)))])
    return anchor, [float(value) for value in curve(np.poly1d([1.0, anchor])).coeffs[::-1]]


def _height(share: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.log(-np.log1p(-share)))


def main(names: Sequence[str]) -> None:
    for profile in PROFILES:
        if not names or profile.name in names:
            anchor, (constant, linear, quadratic) = fit(profile)
            print(f"    {{{constant:.4f}, {linear:.4f}, {quadratic:.4f}}}, // {profile.name}: {anchor:.2f} dB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
