# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose a part of a lab is: it has the name of the whole, and another lab of its machine could have that name."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Final

from contracts.errors import NetBoxITError

#: In the folder of a part; not `owner`, which says whose a whole lab is (`ownership.state`).
OWNER_FILE: Final = "part-of"


class NotThatLabs(NetBoxITError):
    """A machine has a lab of that name, which is no part of the one that is meant."""


def new_owner() -> str:
    """Of one lab, for all of its parts."""
    return secrets.token_hex(16)


def check_owner(folder: Path, owner: str) -> None:
    """Raises NotThatLabs."""
    file = folder / OWNER_FILE
    if not file.exists() or file.read_text() != owner:
        raise NotThatLabs(
            f"lab {folder.name} is no part of this one and was left alone; if it is left over, `netboxit down {folder.name}` "
            "there removes it"
        )
