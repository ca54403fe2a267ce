# SPDX-License-Identifier: GPL-2.0-or-later
"""What a probe found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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


def there(found: bool) -> There:
    return "yes" if found else "no"
