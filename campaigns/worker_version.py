# SPDX-License-Identifier: GPL-2.0-or-later
"""Which NetBoxIT a worker has, and with what: runs of one campaign come from one program, on whatever machines."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import metadata
from typing import Final

from contracts import installation
from testbed.several_hosts.version import version

#: What computes networks and figures, writes tables, and talks to other workers.
_PACKAGES: Final = ("ns3", "numpy", "scipy", "polars", "distributed")


@cache
def identity() -> Mapping[str, str]:
    """Of this process; what changes later of the files does not change what it has loaded."""
    return {
        "NetBoxIT": f"{installation.version()} of sources {version()}",
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "processor": platform.machine(),
        **{package: metadata.version(package) for package in _PACKAGES},
    }


def name_of(identity: Mapping[str, str]) -> str:
    """Short, the same for those that are the same."""
    return "netboxit-" + hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]


def differences(theirs: Mapping[str, str], ours: Mapping[str, str]) -> Sequence[str]:
    """In words, for people."""
    return [f"{part} {theirs.get(part, 'unknown')} instead of {ours[part]}" for part in ours if theirs.get(part) != ours[part]]
