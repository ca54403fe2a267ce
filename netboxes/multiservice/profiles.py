# SPDX-License-Identifier: GPL-2.0-or-later
"""The wireless links of Xylomenos (1999)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from netboxes.link_layer.link import Profile

ProfileName = Literal["cellular", "pcs", "wlan"]


def _fades(bad: str) -> Mapping[str, Any]:
    return {
        "model": "two-state",
        "good": "10 s",
        "bad": bad,
        "bit_error_rate_in_good": 1e-6,
        "bit_error_rate_in_bad": 1e-2,
    }


PROFILES: Mapping[ProfileName, Profile] = {
    "cellular": Profile(
        rate=14.4e3,
        delay=0.1,
        frame=50,
        levels=tuple({"probability": share} for share in (0.01, 0.02, 0.05, 0.1)),
        timer_frames=24,
        once_frames=16,
        keepalive=0.5,
        block=8,
        inactivity=0.1,
    ),
    "pcs": Profile(
        rate=64e3,
        delay=0.05,
        frame=250,
        levels=tuple(_fades(bad) for bad in ("100 ms", "200 ms", "500 ms", "1 s")),
        timer_frames=32,
        once_frames=64,
        keepalive=0.5,
        block=8,
        inactivity=0.13,
    ),
    "wlan": Profile(
        rate=2e6,
        delay=0.003,
        frame=1000,
        levels=tuple({"model": "byte-intervals", "interval": f"{2**power} B"} for power in (17, 16, 15, 14)),
        timer_frames=24,
        once_frames=16,
        keepalive=0.05,
        block=12,
        inactivity=0.02,
    ),
}
