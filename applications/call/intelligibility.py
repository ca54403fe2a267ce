# SPDX-License-Identifier: GPL-2.0-or-later
"""STOI, the short-time objective intelligibility measure: how much of the speech is understood, from 0 to 1.

C. H. Taal, R. C. Hendriks, R. Heusdens, J. Jensen, "An algorithm for intelligibility prediction of time-frequency weighted noisy
speech", IEEE Trans. Audio, Speech, Language Processing 19(7), 2011. Constants are those of its section II.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from results.statistics import Values

#: Samples per second that both signals must have.
RATE = 10_000
_FRAME, _HOP, _FFT = 256, 128, 512
_BANDS, _LOWEST_HZ = 15, 150.0
#: Frames in one short-time segment: 384 ms.
_SEGMENT = 30
#: Frames quieter than the loudest by more than this hold no speech.
_SILENCE_DB = 40.0
_CLIPPING = 1.0 + 10.0 ** (15.0 / 20.0)

_WINDOW = np.hanning(_FRAME + 2)[1:-1]


def stoi(clean: Values, heard: Values) -> float | None:
    """The measure for two aligned signals of equal length at RATE; None when there is less than one segment of speech."""
    if clean.size < _FRAME:
        return None
    spoken, received = _without_silence(clean, heard)
    x, y = _band_levels(spoken), _band_levels(received)
    if x.shape[1] < _SEGMENT:
        return None
    # bands x segments x frames of a segment
    segments_x, segments_y = (np.lib.stride_tricks.sliding_window_view(levels, _SEGMENT, axis=1) for levels in (x, y))
    scale = np.linalg.norm(segments_x, axis=2, keepdims=True) / (np.linalg.norm(segments_y, axis=2, keepdims=True) + 1e-12)
    limited = np.minimum(segments_y * scale, segments_x * _CLIPPING)
    return float(np.mean(_correlation(segments_x, limited)))


def _correlation(x: Values, y: Values) -> Values:
    x, y = x - x.mean(axis=2, keepdims=True), y - y.mean(axis=2, keepdims=True)
    correlation: Values = (x * y).sum(axis=2) / (np.linalg.norm(x, axis=2) * np.linalg.norm(y, axis=2) + 1e-12)
    return correlation


def _frames(signal: Values) -> Values:
    return np.lib.stride_tricks.sliding_window_view(signal, _FRAME)[::_HOP] * _WINDOW


def _without_silence(clean: Values, heard: Values) -> tuple[Values, Values]:
    """Both signals without the frames in which the clean one is silent, put together again by overlap and addition."""
    x, y = _frames(clean), _frames(heard)
    levels = 20.0 * np.log10(np.linalg.norm(x, axis=1) + 1e-12)
    loud = levels > levels.max() - _SILENCE_DB
    return _joined(x[loud]), _joined(y[loud])


def _joined(frames: Values) -> Values:
    whole = np.zeros((len(frames) - 1) * _HOP + _FRAME)
    for at, frame in enumerate(frames):
        whole[at * _HOP : at * _HOP + _FRAME] += frame
    return whole


def _band_levels(signal: Values) -> Values:
    """Root of the energy in each third-octave band and frame."""
    power = np.abs(np.fft.rfft(_frames(signal), _FFT)) ** 2
    levels: Values = np.sqrt(_bands() @ power.T)
    return levels


def _bands() -> NDArray[np.float64]:
    """Which bin of the spectrum belongs to which band: edges a sixth of an octave either side of the centres."""
    bins = np.arange(_FFT // 2 + 1) * RATE / _FFT
    centres = _LOWEST_HZ * 2.0 ** (np.arange(_BANDS) / 3.0)
    low, high = (np.abs(bins[None, :] - (centres * 2.0 ** (sign / 6.0))[:, None]).argmin(axis=1) for sign in (-1, 1))
    numbers = np.arange(bins.size)[None, :]
    inside: NDArray[np.float64] = ((numbers >= low[:, None]) & (numbers < high[:, None])).astype(float)
    return inside
