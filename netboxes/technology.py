# SPDX-License-Identifier: GPL-2.0-or-later
"""What every technology tells about itself.

A technology is a folder here, or a package of others (docs/technologies.md), with `parameters.py`, `segment.cc` and
`CMakeLists.txt`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict

from applications.stream import Stream
from contracts.errors import NetBoxITError
from contracts.installation import BUILD, BUILD_OF_OTHERS
from contracts.plugins import OursFirst, Plugin, loaded, plugins
from netboxes.queueing.queue import CLASSES, Queue

FOLDER = Path(__file__).parent
#: Under which other packages name their technologies: `wire = "their_package.wire"`, a folder as those beside this file.
GROUP: Final = "netboxit.technologies"


class MissingTechnology(NetBoxITError):
    """A lab or a plan has a netbox of a technology whose package is not installed any more."""


class StationParameters(BaseModel):
    """What can be said of one station; a technology extends it (a role, a power of its own, a position)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: What of it can be changed while the lab runs, as "station.parameter".
    LIVE: ClassVar[frozenset[str]] = frozenset()


class Technology(BaseModel):
    """The parameters of one segment, as written below a netbox in YAML. The module `parameters` of a technology has one subclass.

    Numbers are held in base units (m, s, Hz, bit/s, B, dB, dBm); `values` are what the C++ segment reads.
    The subclass narrows `stations` to its own station model, validates what needs more than one field with messages for users,
    and lists in LIVE what can be changed while the lab runs, in ANNOUNCES what its segment announces.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    LIVE: ClassVar[frozenset[str]] = frozenset()
    #: What its journal says besides "set", for `happens:` of events.
    ANNOUNCES: ClassVar[frozenset[str]] = frozenset()
    #: Largest layer-3 packet that the medium carries, in bytes.
    MTU: ClassVar[int] = 1500
    #: An ordinary segment of two stations, as in YAML, on which `netboxit calibrate` measures what a frame from the first to the
    #: second costs; None for a technology that is itself an end of the network.
    TYPICAL: ClassVar[Mapping[str, Any] | None] = None
    #: Two loads of small and two of large frames (60 and 1514 bytes), frames a second, that this segment carries without loss:
    #: two, so that what a frame costs is told from what a second costs.
    CALIBRATION_RATES: ClassVar[tuple[tuple[float, float], tuple[float, float]]] = ((300.0, 2000.0), (50.0, 400.0))
    #: What the smallest Ethernet frame takes on the medium at least, in bytes.
    SMALLEST_ON_MEDIUM: ClassVar[int] = 64
    #: Frames begin in it: where test traffic comes from, also where `streams` cannot tell how much.
    EMITS: ClassVar[bool] = False
    #: It can lose its power and be started anew while the virtual time of its network goes on.
    STARTS_ANEW: ClassVar[bool] = True
    #: Its segment can say what a station's link is like (`StateOf` of netboxes/engine/segment.h).
    TELLS_LINKS: ClassVar[bool] = False
    #: Its stations' statistics have `services`, each with its counts, and live figures have them, too
    #: (testbed/observation/services.py): statistics are then asked for each second, and are to take next to no time.
    TELLS_SERVICES: ClassVar[bool] = False
    #: Frames end in it: where test traffic goes.
    ABSORBS: ClassVar[bool] = False

    def gross_rate(self) -> float | None:
        """Bits a second that the medium carries in all directions together, its own overhead not taken off; None: not said."""
        return None

    def rate_from(self, station: str) -> float | None:
        """Bits a second at which a station's frames leave at most, the medium's overhead not taken off; None: not said, or not
        the station's own."""
        return None

    def streams(self) -> dict[str, Stream]:
        """What begins in it: by station."""
        return {}

    def values(self, classes: Iterable[str] = ()) -> dict[str, Any]:
        """The parameters in base units; `classes` are those that the netbox declares, in their order."""
        return self.model_dump(mode="json", context={CLASSES: tuple(classes)})

    def classes_used(self) -> dict[tuple[str | int, ...], str]:
        """Where the parameters name a traffic class besides those of queues, and which: the netbox must declare it (or it is
        "default")."""
        return {}

    def unfit_classes(self, conditions: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str | int, ...], str]:
        """Where the parameters name a class whose conditions on a frame's headers do not go with what they say of it, and why;
        `conditions` are by the class's name, as the classifier reads them."""
        return {}

    @classmethod
    def check_live(cls, parameters: Mapping[str, Any], parameter: str, value: object) -> None:
        """Raises ValueError where a live value (base units) is within its own limits, and not within those of `parameters`."""


def classes_of_queues(value: object) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Where queues in a value name a traffic class, and which."""
    if isinstance(value, Queue):
        yield from value.classes_used()
    elif isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            yield from _below(field.alias or name, getattr(value, name))
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _below(key, part)
    elif isinstance(value, list | tuple):
        for number, part in enumerate(value):
            yield from _below(number, part)


def _below(step: str | int, value: object) -> Iterator[tuple[tuple[str | int, ...], str]]:
    yield from (((step, *at), name) for at, name in classes_of_queues(value))


@cache
def technologies() -> OursFirst[type[Technology]]:
    """All technologies by name, each imported when it is first asked for; BadPlugin is raised then, too."""
    return loaded(technology_plugins(), _technology)


@cache
def technology_plugins() -> OursFirst[Plugin]:
    return plugins("technology", GROUP, FOLDER, "parameters")


def technology_of(name: str) -> type[Technology]:
    """That of a netbox that was planned before, by its name. Raises MissingTechnology when its package is gone."""
    if name not in technologies():
        raise MissingTechnology(f"the technology {name} of this netbox is not here any more; install the package that brought it")
    return technologies()[name]


def _technology(plugin: Plugin) -> type[Technology]:
    technology = plugin.only_class("parameters", Technology)
    if "stations" not in technology.model_fields:
        raise plugin.unusable(f"{technology.__module__}.{technology.__name__} has no field stations")
    return technology


def build_folder() -> Path:
    """Where the programs are built: `build`, or the folder that $NETBOXIT_BUILD names."""
    return Path(os.environ.get("NETBOXIT_BUILD", FOLDER.parent / "build"))


def program(segment: str) -> Path:
    """Where netbox-<segment> is built, that of another package too."""
    return build_folder() / "bin" / f"netbox-{segment}"


def builds(segment: str) -> str:
    """What builds netbox-<segment>, for whoever misses it; this machine may not have the package that brings it."""
    return BUILD if segment in technologies().ours else BUILD_OF_OTHERS
