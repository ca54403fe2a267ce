# SPDX-License-Identifier: GPL-2.0-or-later
"""The source's exact tables: traffic and shares, computed from what it chose; delays of recovery, from traces."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from netboxes.multiservice.profiles import ProfileName
from netboxes.multiservice.traffic import TRAFFIC, Traffic
from netboxes.multiservice.validation import NAMES, RECOVERY_DELAYS, recovery_delays
from reproductions.comparison import Comparison, Unit, Within, near
from reproductions.experiment import Compared, Experiment
from results.intervals import Interval
from testbed.documents.campaign import CampaignStanding

_MS = Unit(" ms", digits=1)


@dataclass(frozen=True)
class _Column:
    """Of a table: a figure for each link, and half of its last digit, within which ours is the same."""

    what: str
    published: dict[ProfileName, float]
    of: Callable[[Traffic], float]
    unit: Unit
    by: float


_COLUMNS = (
    _Column(
        "T4.1: packets of a file",
        {"cellular": 40_000, "pcs": 40_000, "wlan": 100_000},
        lambda traffic: traffic.transfer_packets,
        Unit(digits=0),
        0.0,
    ),
    _Column(
        "4.1.1: ideal time of a file",
        {"cellular": 18.5, "pcs": 20.8, "wlan": 6.7},
        lambda traffic: traffic.transfer_time / 60,
        Unit(" min", digits=2),
        0.05,
    ),
    _Column(
        "T5.1: time between packets of conferencing",
        {"cellular": 41.7, "pcs": 62.5, "wlan": 8.0},
        lambda traffic: 1e3 * traffic.conference_interval,
        Unit(" ms", digits=2),
        0.05,
    ),
    _Column(
        "T5.1: mean rate of conferencing",
        {"cellular": 4.1, "pcs": 13.6},
        lambda traffic: traffic.conference_mean_rate / 1e3,
        Unit(" kbit/s", digits=2),
        0.05,
    ),
    # Printed in three digits, and not rounded.
    _Column(
        "T5.1: mean rate of conferencing",
        {"wlan": 425},
        lambda traffic: traffic.conference_mean_rate / 1e3,
        Unit(" kbit/s", digits=1),
        1.0,
    ),
    _Column(
        "T7.1: TCP's rate beside UDP",
        {"cellular": 4.8, "pcs": 32, "wlan": 1000},
        lambda traffic: traffic.tcp_rate / 1e3,
        Unit(" kbit/s", digits=1),
        0.05,
    ),
    _Column(
        "T7.1: UDP's rate beside TCP",
        {"cellular": 9.6, "pcs": 32, "wlan": 1000},
        lambda traffic: traffic.udp_rate / 1e3,
        Unit(" kbit/s", digits=1),
        0.05,
    ),
    _Column(
        "7.3.1: TCP's mean rate",
        {"cellular": 10.3, "pcs": 50.4},
        lambda traffic: traffic.tcp_mean_rate / 1e3,
        Unit(" kbit/s", digits=2),
        0.05,
    ),
    _Column(
        "7.3.1: TCP's mean rate", {"wlan": 1575}, lambda traffic: traffic.tcp_mean_rate / 1e3, Unit(" kbit/s", digits=1), 1.0
    ),
)


@dataclass(frozen=True)
class TablesExperiment(Experiment):
    """No chance is in it, and it takes seconds."""

    def carry(
        self, results: Path, tell: Callable[[CampaignStanding], None], *, full: bool = False, few: int | None = None
    ) -> Compared:
        delays = {profile: recovery_delays(profile) for profile in RECOVERY_DELAYS}
        record = [
            {"link": profile, "scheme": scheme, "value": value}
            for profile, both in delays.items()
            for scheme, value in zip(("xor", "rlp-oos"), both, strict=True)
        ]
        return Compared("One trace for each delay.", [*_computed(), *_traced(delays)], {"recovery_delay_ms": record})


def _computed() -> Iterator[Comparison]:
    for column in _COLUMNS:
        for profile, published in column.published.items():
            ours = _exact(column.of(TRAFFIC[profile]))
            yield near(f"{column.what}, {NAMES[profile]}", published, ours, Within(by=column.by), column.unit)


def _traced(delays: dict[ProfileName, tuple[float, float]]) -> Iterator[Comparison]:
    for profile, both in RECOVERY_DELAYS.items():
        for scheme, published, ours in zip(("FEC by XOR", "ARQ by RLP"), both, delays[profile], strict=True):
            yield near(f"T5.2: delay of {scheme}, {NAMES[profile]}", published, _exact(ours), Within(by=1.0), _MS)


def _exact(value: float) -> Interval:
    return Interval(1, value, math.inf)


TABLES = TablesExperiment(
    id="msll T4.1-T7.1",
    title="files, conferencing, shares, and delays of recovery",
    text="What the source sends over each link and what its scheduler leaves, computed from what it chose, within half of the "
    "last printed digit (a whole one where the source cuts digits off). Delays of recovery are from traces on an idle link "
    "in virtual time, with blocks of nine frames.",
)
