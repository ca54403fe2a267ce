# SPDX-License-Identifier: GPL-2.0-or-later
"""What a bench was run on, and how much of the machine others took meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from results.environment import cpu_times, environment, steal_ratios
from system.realtime_support import realtime_support

if TYPE_CHECKING:
    from testbed.documents.bench import Machine


def described() -> Machine:
    """The machine now."""
    facts = environment()
    processor = facts["processor"]
    return {
        "model": processor["model"],
        "cores": processor["cores"],
        "governor": processor["governor"],
        "hypervisor": _hypervisor(),
        "kernel": facts["kernel"]["release"],
        "system": facts["system"],
        "clock_source": facts["clock_source"]["current"],
        "netboxit": facts["netboxit"]["commit"],
        "ns3": facts["python"]["ns3"],
        "realtime": realtime_support().reason,
        "load_before": os.getloadavg()[0],
        "steal_ratio": None,
    }


@contextmanager
def steal_told(machine: Machine) -> Iterator[None]:
    """After the block the machine has the steal during it."""
    before = cpu_times()
    try:
        yield
    finally:
        machine["steal_ratio"] = steal_ratios(before, cpu_times())["all"]


def in_words(machine: Machine) -> str:
    """One line, for the report and the terminal."""
    steal = machine["steal_ratio"]
    parts = [
        machine["model"],
        f"{machine['cores']} cores",
        f"governor {machine['governor'] or 'not told'}",
        f"hypervisor {machine['hypervisor'] or 'none told'}",
        f"Linux {machine['kernel']}",
        f"other guests took {100 * steal:.2f} %" if steal is not None else None,
        machine["realtime"],
        f"load before {machine['load_before']:.2f}",
        f"NetBoxIT {machine['netboxit']}",
    ]
    return ", ".join(part for part in parts if part)


def _hypervisor() -> str | None:
    listing = subprocess.run(["lscpu", "--json"], capture_output=True, text=True, check=False)
    try:
        fields = json.loads(listing.stdout)["lscpu"]
    except (json.JSONDecodeError, KeyError):
        return None
    flat = [field for top in fields for field in (top, *top.get("children", ()))]
    return next((field["data"] for field in flat if field["field"] == "Hypervisor vendor:"), None)
