# SPDX-License-Identifier: GPL-2.0-or-later
"""Features of an interface, as `ethtool --show-features` lists them."""

from __future__ import annotations

from contextlib import closing, suppress
from typing import Any

from pyroute2.ethtool.ioctl import IoctlEthtool  # type: ignore[import-untyped]


def read(interface: str) -> list[Any]:
    """All of them: their name, whether they are on, whether they can be changed, and more. None of a driver that has none."""
    with suppress(OSError), closing(IoctlEthtool(interface)) as ethtool:
        return list(ethtool.get_features())
    return []


def active(interface: str) -> list[str]:
    """Those that are on, whether they can be changed or not."""
    return [feature for feature, active, *_ in read(interface) if active]


def merging(interface: str) -> list[str]:
    """Those that are on and make one frame of several."""
    return [feature for feature in active(interface) if feature in ("rx-gro", "rx-lro", "rx-gro-hw")]
