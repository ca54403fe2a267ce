# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON documents that NetBoxIT writes for other programs (docs/json.md): each says which one it is, and its version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, NewType, TypeVar

Content = TypeVar("Content", bound=Mapping[str, Any])
#: A document that says which one it is.
Whole = NewType("Whole", dict[str, Any])


@dataclass(frozen=True)
class Document(Generic[Content]):
    """`version` grows when a key goes, or means something else; a key more is no new version (docs/json.md)."""

    name: str
    version: int = 1

    @property
    def format(self) -> str:
        return f"netboxit {self.name}"

    def of(self, content: Content) -> Whole:
        """The document: which one it is, then what it says."""
        return Whole({"format": self.format, "version": self.version, **content})
