# SPDX-License-Identifier: GPL-2.0-or-later
"""What this host can do for NetBoxIT."""

from __future__ import annotations

from testbed.documents.host import Doctor
from testbed.probes import isolation, network, other_software, programs, timing, trial_lab
from testbed.probes.finding import examined


def examine() -> Doctor:
    """Takes some seconds; what it creates to try something is gone when it returns.

    Where nothing that labs need is missing, a lab is brought up: only that shows whether all of it works together.
    """
    report = without_lab()
    return examined((*report["findings"], trial_lab.probe())) if report["able"] else report


def without_lab() -> Doctor:
    """The same without that lab."""
    return examined((*timing.probe(), *isolation.probe(), *network.probe(), *other_software.probe(), *programs.probe()))
