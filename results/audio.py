# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded sound for measuring and for the report: resampled, aligned, compressed, by ffmpeg."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

from results.statistics import Values
from testbed.errors import NetBoxITError


class MediaFailed(NetBoxITError):
    """A recording of a run could not be read."""


def ffmpeg(arguments: list[str]) -> bytes:
    """Runs ffmpeg and returns what it wrote to its standard output. Raises MediaFailed with what it said."""
    command = ["ffmpeg", "-v", "error", "-nostdin", "-threads", "1", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError as missing:
        raise MediaFailed("recordings need ffmpeg, which is not installed; `make setup` installs it") from missing
    if done.returncode:
        raise MediaFailed(
            f"{' '.join(command)} failed with status {done.returncode}: {done.stderr.decode(errors='replace').strip()}"
        )
    return done.stdout


def samples(path: Path, rate: int) -> Values:
    """One channel of 16-bit samples at `rate` per second, as floats in -32768 … 32767."""
    raw = ffmpeg(["-i", str(path), "-ac", "1", "-ar", str(rate), "-f", "s16le", "-"])
    return np.frombuffer(raw, "<i2").astype(float)


def opus(path: Path, seconds: float, kbit_per_s: int = 24) -> bytes:
    """The first seconds as an Ogg Opus file, which browsers play."""
    return ffmpeg(
        ["-i", str(path), "-t", f"{seconds:g}", "-c:a", "libopus", "-b:a", f"{kbit_per_s}k", "-ac", "1", "-f", "ogg", "-"]
    )


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
    return np.fft.irfft(np.fft.rfft(signal)[: size // 2 + 1], size) * (size / signal.size)
