# SPDX-License-Identifier: GPL-2.0-or-later
"""Series of statistics told apart: states (gauges), totals that only grow (counters), and what never changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from results.metrics_document import Constant, Counter, Gauge, SeriesTold
from results.statistics import Values

Kind = Literal["gauge", "counter", "constant"]

#: Words in a name by which it is a state, though it may happen never to fall in a run.
_STATES = frozenset(
    """active associated attenuation azimuth backlog cell cqi db dbm delay depth distance elevation fade gain goodput interval
    latency latest length level linked load loss margin max mcs mean min noise occupancy p50 p90 p99 phase position power
    queued rate ratio rsrp rsrq rssi share signal sinr snr speed utilisation waiting window x y z""".split()  # noqa: SIM905
)

#: What counts frames by cause: "queue" there is a cause.
_COUNTS = ("lost.", "drops.", "dropped.")


@dataclass(frozen=True)
class Series:
    """One number of a netbox, or of a station of it, over a run."""

    netbox: str
    station: str | None
    name: str
    kind: Kind
    times_s: Values
    values: Values

    def shown(self) -> tuple[Values, Values]:
        """What a chart shows: a state as it is; of a counter how much it grew per second, at the end of each interval."""
        if self.kind != "counter":
            return self.times_s, self.values
        return self.times_s[1:], np.diff(self.values) / np.diff(self.times_s)

    def summary(self) -> Constant | Gauge | Counter:
        """An entry of `series` in metrics.json."""
        labels: SeriesTold = {"netbox": self.netbox, "station": self.station, "name": self.name, "kind": self.kind}
        if self.kind == "constant":
            return {**labels, "value": float(self.values[0])}
        if self.kind == "gauge":
            return {**labels, "min": float(self.values.min()), "mean": float(self.values.mean()), "max": float(self.values.max())}
        _, rates = self.shown()
        grown = float(self.values[-1] - self.values[0])
        per_s = grown / float(self.times_s[-1] - self.times_s[0])
        return {**labels, "total": grown, "per_s": per_s, "most_per_s": float(rates.max())}


def all_series(table: pl.DataFrame) -> Iterator[Series]:
    """Those of `results.journal.series`, in the order of the table. A counter that appears late was 0 before."""
    # By hand, since it is many small groups: a query for each costs more than all of this.
    places: dict[tuple[str, str | None, str], list[int]] = {}
    places_of: dict[str, list[int]] = {}
    for at, key in enumerate(table.select("netbox", "station", "name").iter_rows()):
        places.setdefault(key, []).append(at)
        places_of.setdefault(key[0], []).append(at)
    all_times, all_values = table["time_s"].to_numpy(), table["value"].to_numpy()
    moments = {netbox: np.unique(all_times[own]) for netbox, own in places_of.items()}
    for (netbox, station, name), own in places.items():
        if name.endswith("_ns"):  # a moment, not a state
            continue
        times, values = all_times[own], all_values[own]
        counts = _counts(name, values)
        if counts and times[0] > moments[netbox][0]:
            earlier = moments[netbox][moments[netbox] < times[0]]
            times, values = np.concatenate([earlier, times]), np.concatenate([np.zeros(earlier.size), values])
        changing: Kind = "counter" if counts and times.size > 1 else "gauge"
        kind: Kind = "constant" if np.ptp(values) == 0 else changing
        yield Series(netbox, station, name, kind, times, values)


def _counts(name: str, values: Values) -> bool:
    is_total = name.startswith(_COUNTS) or _STATES.isdisjoint(re.split(r"[._]", name))
    return is_total and bool(np.all(np.diff(values) >= 0))
