# SPDX-License-Identifier: GPL-2.0-or-later
"""The key by which an allocator and the members of a managed link authenticate their messages (middleware/README.md)."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator

#: 16 bytes.
_DIGITS: Final = 32


def check_key(text: str) -> str:
    """As the middleware reads it; all zeros would be no key. Raises ValueError."""
    if len(text) != _DIGITS or any(digit not in "0123456789abcdef" for digit in text.lower()) or not int(text, 16):
        raise ValueError(f"{text!r} is not {_DIGITS} hexadecimal digits; `openssl rand -hex 16` writes a key")
    return text.lower()


ManagementKey = Annotated[str, AfterValidator(check_key)]
