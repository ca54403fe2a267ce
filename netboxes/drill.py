# SPDX-License-Identifier: GPL-2.0-or-later
"""Drills that a technology brings: what goes wrong in its segments, as changes of a netbox's live parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from contracts.changes import Sequence
from contracts.name import Name
from contracts.plugins import BadPlugin, OursFirst, Plugin
from netboxes.technology import technology_plugins


class NetboxDrill(BaseModel, ABC):
    """Its fields are its options. A technology's drills are the subclasses in `drills.py` of its folder."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    NAME: ClassVar[str]

    netbox: Name | None = Field(None, description="Which; by default the only one of the technology.")

    @abstractmethod
    def sequence(self, netbox: str, values: Mapping[str, Any]) -> Sequence:
        """What is done with the netbox of this name; `values` are its parameters at the start of the lab, in base units."""


@cache
def netbox_drills() -> OursFirst[tuple[str, type[NetboxDrill]]]:
    """By its name each drill and its technology. BadPlugin is raised when those of other packages are looked for."""
    plugins = technology_plugins()
    return OursFirst(_drills(plugins.ours), lambda: _drills(plugins))


def _drills(technologies: Mapping[str, Plugin]) -> dict[str, tuple[str, type[NetboxDrill]]]:
    drills: dict[str, tuple[str, type[NetboxDrill]]] = {}
    for technology, plugin in technologies.items():
        if plugin.has("drills"):
            for kind in plugin.classes("drills", NetboxDrill):  # type: ignore[type-abstract]
                name = getattr(kind, "NAME", None)
                if not isinstance(name, str):
                    raise plugin.unusable(f"{kind.__module__}.{kind.__name__} has no NAME")
                if name in drills:
                    raise BadPlugin(
                        f"{technologies[drills[name][0]]} and {plugin} both have a drill {name}; uninstall one of the packages"
                    )
                drills[name] = technology, kind
    return drills
