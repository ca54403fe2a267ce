# SPDX-License-Identifier: GPL-2.0-or-later
"""What probes found, and whether labs can run with that."""

from __future__ import annotations

from collections.abc import Iterable

from contracts.errors import NetBoxITError
from testbed.documents.host import Ability, Doctor, There


def examined(abilities: Iterable[Ability]) -> Doctor:
    findings = list(abilities)
    return {"able": not any(finding.needed and finding.there == "no" for finding in findings), "findings": findings}


def there(able: bool, otherwise: There = "no") -> There:
    return "yes" if able else otherwise


def of_error(name: str, error: NetBoxITError, lost: str, needed: bool = False) -> Ability:
    """An error as a finding: the last part of its message is the remedy."""
    cause, _, remedy = str(error).rpartition("; ")
    return Ability(name, "no", cause or remedy, lost, remedy, needed)
