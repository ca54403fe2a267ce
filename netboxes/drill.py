# SPDX-License-Identifier: GPL-2.0-or-later
"""Drills that a technology brings: what goes wrong in its segments, as changes of a netbox's live parameters."""

from __future__ import annotations

import importlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from contracts.changes import Sequence
from contracts.name import Name
from netboxes.technology import FOLDER


class NetboxDrill(BaseModel, ABC):
    """Its fields are its options. A technology's drills are the subclasses in `drills.py` of its folder."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    NAME: ClassVar[str]

    netbox: Name | None = Field(None, description="Which; by default the only one of the technology.")

    @abstractmethod
    def sequence(self, netbox: str, values: Mapping[str, Any]) -> Sequence:
        """What is done with the netbox of this name; `values` are its parameters at the start of the lab, in base units."""


@cache
def netbox_drills() -> Mapping[str, tuple[str, type[NetboxDrill]]]:
    """By its name each drill and its technology."""
    found: dict[str, tuple[str, type[NetboxDrill]]] = {}
    for technology in sorted(file.parent.name for file in FOLDER.glob("*/drills.py")):
        module = importlib.import_module(f"netboxes.{technology}.drills")
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, NetboxDrill) and kind.__module__ == module.__name__:
                found[kind.NAME] = technology, kind
    return found
