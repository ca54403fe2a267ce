# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded sound for measuring: read by ffmpeg, resampled, aligned."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from applications.media.decoding import convert
from results.statistics import Values
from system.sandbox import Limits

#: ffmpeg takes a second for half an hour of speech.
_TIME_S, _BYTES_PER_S = 60.0, 1 << 20


def samples(path: Path, rate: int) -> Values:
    """One channel of 16-bit samples at `rate` per second, as floats in -32768 … 32767. Raises MediaFailed."""
    size = path.stat().st_size if path.exists() else 0
    # Twice its size is what telephone speech of 8000 samples a second becomes at 16000: more is no speech.
    limits = Limits(_TIME_S + size / _BYTES_PER_S, output_bytes=2 * size + (1 << 20))
    raw = convert(path, ["-ac", "1", "-ar", str(rate), "-f", "s16le", "pipe:1"], limits)
    return np.frombuffer(raw, "<i2").astype(float)


def lag(reference: Values, heard: Values, limit: int) -> int:
    """By how many samples `heard` comes after `reference`, where they fit best; at most `limit` either way."""
    size = 1 << (reference.size + heard.size - 1).bit_length()
    product = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(reference, size)), size)
    limit = min(limit, size // 2 - 1)
    lags = np.concatenate((np.arange(limit + 1), np.arange(-limit, 0)))
    return int(lags[np.argmax(product[lags])])


def resampled(signal: Values, rate: int, wanted: int) -> Values:
    """The signal at another sampling rate, by its spectrum: exact for what both rates can carry, apart from its very ends."""
    size = round(signal.size * wanted / rate)
    if size == 0:
        return np.zeros(0)
    return np.fft.irfft(np.fft.rfft(signal)[: size // 2 + 1], size) * (size / signal.size)
