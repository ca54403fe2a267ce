# SPDX-License-Identifier: GPL-2.0-or-later
"""Features of an interface, as `ethtool --show-features` lists them."""

from __future__ import annotations

from pyroute2.ethtool.ioctl import IoctlEthtool  # type: ignore[import-untyped]


def active(name: str) -> list[str]:
    """Those that are on, whether they can be changed or not."""
    ethtool = IoctlEthtool(name)
    try:
        return [one for one, active, *_ in ethtool.get_features() if active]
    except OSError:
        return []
    finally:
        ethtool.close()


def merging(name: str) -> list[str]:
    """Those that are on and make one frame of several."""
    return [one for one in active(name) if one in ("rx-gro", "rx-lro", "rx-gro-hw")]
