# SPDX-License-Identifier: GPL-2.0-or-later
"""What every technology tells about itself.

A technology is a folder here with `parameters.py`, `segment.cc` and `CMakeLists.txt`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from applications.stream import Stream

FOLDER = Path(__file__).parent


class StationParameters(BaseModel):
    """What can be said of one station; a technology extends it (a role, a power of its own, a position)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: What of it can be changed while the lab runs, as "station.parameter".
    LIVE: ClassVar[frozenset[str]] = frozenset()


class Technology(BaseModel):
    """The parameters of one segment, as written below a netbox in YAML. Each technology defines one subclass named `Parameters`.

    Numbers are held in base units (m, s, Hz, bit/s, B, dB, dBm); `model_dump(mode="json")` is what the C++ segment reads.
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
    #: Frames end in it: where test traffic goes.
    ABSORBS: ClassVar[bool] = False

    def gross_rate(self) -> float | None:
        """Bits a second that the medium carries in all directions together, its own overhead not taken off; None: not said."""
        return None

    def streams(self) -> dict[str, Stream]:
        """What begins in it: by station."""
        return {}

    def classes_used(self) -> dict[tuple[str | int, ...], str]:
        """Where the parameters name a traffic class, and which: the netbox must declare it (or it is "default")."""
        return {}

    @classmethod
    def check_live(cls, parameters: Mapping[str, Any], parameter: str, value: object) -> None:
        """Raises ValueError where a live value (base units) is within its own limits, and not within those of `parameters`."""


class _Technologies(Mapping[str, type[Technology]]):
    """All of them, each read when it is first asked for: a command needs those of its topology only."""

    def __init__(self) -> None:
        self._names = tuple(sorted(file.parent.name for file in FOLDER.glob("*/parameters.py")))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __getitem__(self, name: str) -> type[Technology]:
        if name not in self._names:
            raise KeyError(name)
        found: type[Technology] = importlib.import_module(f"netboxes.{name}.parameters").Parameters
        return found


@cache
def technologies() -> Mapping[str, type[Technology]]:
    """All technologies found beside this file: folder name to parameter model."""
    return _Technologies()


def program(segment: str) -> Path:
    """Where netbox-<segment> was built: in `build`, or in the folder that $NETBOXIT_BUILD names."""
    return Path(os.environ.get("NETBOXIT_BUILD", FOLDER.parent / "build")) / "bin" / f"netbox-{segment}"
