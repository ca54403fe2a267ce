# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of an Ethernet link in YAML. Limits of the live parameters are repeated in segment.cc."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from netboxes.technology import StationParameters, Technology
from testbed.quantities import RATE, TIME, Quantity


class Station(StationParameters):
    """One end of the link."""


class Parameters(Technology):
    """A full-duplex Ethernet link between two stations: a cable or fibre of any length, without errors."""

    LIVE: ClassVar[frozenset[str]] = frozenset({"rate", "delay"})
    TYPICAL: ClassVar = {"stations": {"left": {}, "right": {}}}
    #: With preamble and gap between frames (IEEE 802.3, 4.4.2).
    SMALLEST_ON_MEDIUM: ClassVar[int] = 84

    stations: dict[str, Station] = Field(min_length=2, max_length=2, description="The two ends, written `NAME: {}`.")
    rate: Annotated[float, Quantity(RATE, 10e3, 10e9)] = Field(
        1e9, description="Of each direction: bits on the wire, with preamble, checksum and gap of each frame."
    )
    delay: Annotated[float, Quantity(TIME, 0.0, 10.0)] = Field(
        500e-9, description="Propagation from end to end; 500 ns for 100 m of cable, 5 us a km."
    )
    queue: int = Field(
        1000, ge=1, le=1_000_000, description="Frames that wait in front of each transmitter, apart from the one being sent."
    )

    def gross_rate(self) -> float:
        return 2 * self.rate
