# SPDX-License-Identifier: GPL-2.0-or-later
"""What was measured of one direction of a path, as a trace that a `link` plays."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contracts import durable

#: What a link adds to a layer-3 packet by default (its `overhead`): rates count it.
OVERHEAD_BYTES = 14
#: A moment of Mahimahi's: a packet of 1500 bytes, and 4 of a TUN device.
OPPORTUNITY_BYTES, MAHIMAHI_OVERHEAD = 1504, 4

Times = NDArray[np.int64]


@dataclass(frozen=True)
class Step:
    """What a path did from `start_s` on."""

    start_s: float
    #: What it could carry, bit/s, or what it carried where nothing more was sent; None: not measured then.
    rate_bit_s: float | None
    #: Median one-way delay, the time for sending the packet itself not counted; None: nothing arrived.
    delay_s: float | None
    #: Share of lost packets; None: none was sent.
    loss: float | None


@dataclass(frozen=True)
class PathTrace:
    """One direction."""

    source: str
    destination: str
    steps: Sequence[Step]
    #: Where the last step ends.
    end_s: float
    #: Arrivals of a path that was kept full: seconds since the start, layer-3 bytes. Empty where it was not.
    arrivals: Sequence[tuple[float, int]] = ()

    def columns(self) -> dict[str, list[float]]:
        """By name, a value for each step; a value that was not measured is the one before, or the first that was."""
        measured = {
            "rate_bit_s": [step.rate_bit_s for step in self.steps],
            "delay_s": [step.delay_s for step in self.steps],
            "loss": [step.loss for step in self.steps],
        }
        return {name: _filled(values) for name, values in measured.items() if any(value is not None for value in values)}

    def write_csv(self, file: Path) -> None:
        """Rows hold until the next one; the last row is the end."""
        columns = self.columns()
        times = [*(step.start_s for step in self.steps), self.end_s]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["time_s", *columns])
        for place, time in enumerate(times):
            row = min(place, len(self.steps) - 1)
            writer.writerow([f"{time:.6g}", *(f"{values[row]:.9g}" for values in columns.values())])
        durable.write(file, text.getvalue())

    def milliseconds(self) -> list[int]:
        """Mahimahi's moments: as many as bytes could leave by then. Empty where no rate was measured."""
        end_ms = max(1, round(self.end_s * 1000))
        if self.arrivals:
            times = np.array([time * 1000 for time, _ in self.arrivals])
            could = np.cumsum([bytes_ + MAHIMAHI_OVERHEAD for _, bytes_ in self.arrivals])
        else:
            rates = self.columns().get("rate_bit_s")
            if rates is None:
                return []
            times = np.arange(1.0, end_ms + 1)
            starts = np.array([step.start_s * 1000 for step in self.steps])
            at = np.array(rates)[np.clip(np.searchsorted(starts, times - 0.5, "right") - 1, 0, None)]
            could = np.cumsum(at / 8000)
        moments = np.diff(np.floor(could / OPPORTUNITY_BYTES + 1e-9), prepend=0.0).astype(int)
        lines = [min(int(time), end_ms) for time, count in zip(np.ceil(times), moments, strict=True) for _ in range(count)]
        # The last line is the end, after which the trace repeats.
        return [*lines, end_ms] if lines and lines[-1] != end_ms else lines

    def write_mahimahi(self, file: Path) -> bool:
        """False, and nothing is written, where no rate was measured."""
        if moments := self.milliseconds():
            durable.write(file, "".join(f"{at_ms}\n" for at_ms in moments))
        return bool(moments)


def _filled(values: Sequence[float | None]) -> list[float]:
    return pl.Series(values, dtype=pl.Float64).fill_null(strategy="forward").fill_null(strategy="backward").to_list()


def steps(
    sent_s: NDArray[np.float64], delay_s: NDArray[np.float64], rates: Sequence[float | None], step_s: float, sending_bits: float
) -> list[Step]:
    """By step, from packets: when each was sent, and its delay (NaN: lost). `rates` has a value for each step.

    The time that a packet of `sending_bits` takes at the rate is no part of the delay, as the link that plays the trace adds it.
    """
    trace = []
    link_rate = next((rate for rate in rates if rate), None)
    for number, rate in enumerate(rates):
        link_rate = rate or link_rate
        inside = (sent_s >= number * step_s) & (sent_s < (number + 1) * step_s)
        delays = delay_s[inside]
        arrived = delays[~np.isnan(delays)]
        delay = max(float(np.median(arrived)) - (sending_bits / link_rate if link_rate else 0.0), 0.0) if len(arrived) else None
        loss = float(np.isnan(delays).mean()) if len(delays) else None
        trace.append(Step(number * step_s, rate, delay, loss))
    return trace
