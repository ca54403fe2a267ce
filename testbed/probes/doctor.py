# SPDX-License-Identifier: GPL-2.0-or-later
"""What this host can do for NetBoxIT."""

from __future__ import annotations

from dataclasses import dataclass

from testbed.probes import isolation, network, other_software, programs, timing, trial_lab
from testbed.probes.finding import Finding


@dataclass(frozen=True)
class Examination:
    findings: tuple[Finding, ...]

    @property
    def able(self) -> bool:
        """Whether labs can run here."""
        return not any(finding.needed and finding.there == "no" for finding in self.findings)


def examine() -> Examination:
    """Takes some seconds; what it creates to try something is gone when it returns.

    Where nothing that labs need is missing, a lab is brought up: only that shows whether all of it works together.
    """
    examination = Examination((*timing.probe(), *isolation.probe(), *network.probe(), *other_software.probe(), *programs.probe()))
    return Examination((*examination.findings, trial_lab.probe())) if examination.able else examination
