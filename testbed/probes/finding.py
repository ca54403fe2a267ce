# SPDX-License-Identifier: GPL-2.0-or-later
"""What a probe found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from contracts.errors import NetBoxITError

There = Literal["yes", "partly", "no"]


@dataclass(frozen=True)
class Finding:
    """One ability of the host. `lost` and `remedy` matter when it is not there; without a `needed` one no lab can run."""

    name: str
    there: There
    found: str
    lost: str = ""
    remedy: str = ""
    needed: bool = False


def there(able: bool, otherwise: There = "no") -> There:
    return "yes" if able else otherwise


def of_error(name: str, error: NetBoxITError, lost: str, needed: bool = False) -> Finding:
    """An error as a finding: the last part of its message is the remedy."""
    cause, _, remedy = str(error).rpartition("; ")
    return Finding(name, "no", cause or remedy, lost, remedy, needed)
