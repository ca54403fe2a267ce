# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of an Ethernet in YAML."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from contracts.nature import SPEED_OF_LIGHT
from contracts.quantities import LENGTH, RATE, TIME, Quantity
from netboxes.queueing.queue import Queue, queue_or_short
from netboxes.technology import StationParameters, Technology

#: Half duplex without carrier extension (IEEE 802.3-2018, 4.2.3.4), bit/s.
FASTEST_SHARED = 100e6
#: Half of a slot of 512 bit times (4.4.2): there and back within it, collisions are noticed.
LONGEST_SHARED_BITS = 256.0

Rate = Annotated[float, Quantity(RATE, 10e3, 10e9)]
Delay = Annotated[float, Quantity(TIME, 0.0, 10.0)]
Length = Annotated[float, Quantity(LENGTH, 0.0, 100e6)]
AnyQueue = Annotated[Queue, queue_or_short(packets=1000, waits_until_due=True)]


class Station(StationParameters):
    """One station and its wire. Only at a switch has each wire a rate and a length of its own."""

    LIVE: ClassVar[frozenset[str]] = frozenset({"rate", "delay", "length", "outage"})

    rate: Rate | None = Field(None, description="At a switch: of its link. Default: the network's `rate`.")
    delay: Delay | None = Field(None, description="At a switch: of its wire. Default: the network's.")
    length: Length | None = Field(None, description="At a switch: instead of `delay`.")
    outage: bool = Field(False, description="True: its wire is cut; of a link, for both ends.")

    @model_validator(mode="after")
    def _check_delay(self) -> Self:
        if self.delay is not None and self.length is not None:
            raise ValueError("`delay` and `length` say the same of the wire; keep one")
        return self


class Backoff(BaseModel):
    """How stations wait that find a shared medium busy, as ns-3's csma does it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    slot: int = Field(512, ge=8, le=65536, description="Bit times; 512: slotTime up to 100 Mbit/s (IEEE 802.3-2018, 4.4.2).")
    ceiling: int = Field(
        2,
        ge=1,
        le=10,
        description="A wait is 1 slot when the medium is found busy for the first time, then 1 to 2, 1 to 6, … 1 to 2^k - 2 for "
        "the k-th, k no more than this. backoffLimit is 10 (4.4.2), but of collisions.",
    )
    attempts: int = Field(1000, ge=1, le=1_000_000, description="Waits after which a frame is lost (`retry_limit`).")


class Parameters(Technology):
    """An Ethernet: a full-duplex link, a shared half-duplex segment, or a switch with a link to each station."""

    LIVE: ClassVar[frozenset[str]] = frozenset({"rate", "delay", "length", "queue", "bit_error_rate", "outage"})
    ANNOUNCES: ClassVar[frozenset[str]] = frozenset({"link_down", "link_up"})
    TELLS_LINKS: ClassVar[bool] = True
    TYPICAL: ClassVar = {"stations": {"left": {}, "right": {}}}
    #: With preamble and gap between frames (IEEE 802.3, 4.4.2).
    SMALLEST_ON_MEDIUM: ClassVar[int] = 84

    stations: dict[str, Station] = Field(
        min_length=2, max_length=200, description="Written `NAME: {}`; a link has two, a shared or switched medium any number."
    )
    medium: Literal["link", "shared", "switched"] = Field(
        "link",
        description="link: full duplex between two; shared: one half-duplex segment (ns-3's csma); switched: all links end at a "
        "switch, which is what more than two stations have when nothing is said.",
    )
    rate: Rate = Field(
        1e9,
        description="Of each direction of a link, or of the shared medium (no more than 100 Mbit/s, 10 Mbit/s when nothing is "
        "said): bits on the wire, with preamble, checksum and gap of each frame.",
    )
    delay: Delay = Field(
        500e-9,
        description="Propagation from end to end, at a switch of each wire; 500 ns for 100 m of cable, 5 us a km. Shared: "
        "no more than 256 bit times.",
    )
    length: Length | None = Field(None, description="Of the wire, instead of `delay`.")
    velocity_factor: float = Field(
        0.67, ge=0.4, le=1.0, description="Of signals by that of light, with `length`: some 0.67 in cable and fibre."
    )
    queue: AnyQueue = Field(
        Queue(packets=1000),
        description="In front of each transmitter, at a switch also of each port; a number is its packets, a word its "
        "discipline. Default: 1000 packets.",
    )
    bit_error_rate: float = Field(0.0, ge=0.0, le=0.01, description="Independent bit errors; a frame with any is lost.")
    outage: bool = Field(False, description="True: all wires are cut, or the switch is off.")
    switching_delay: Annotated[float, Quantity(TIME, 0.0, 1.0)] | None = Field(
        None, description="Of a switch: from a frame's last bit in to its first one out at the soonest. Default: 0 s."
    )
    backoff: Backoff | None = Field(None, description="Of a shared medium. Default: as below.")

    def gross_rate(self) -> float:
        if self.medium == "shared":
            return self.rate
        return sum(self.rate_from(name) for name in self.stations)

    def rate_from(self, station: str) -> float:
        own = self.stations[station].rate
        return self.rate if own is None else own

    def delay_of_wire(self) -> float:
        """In s, from `delay` or `length`."""
        return self.delay if self.length is None else self.length / (self.velocity_factor * SPEED_OF_LIGHT)

    @model_validator(mode="before")
    @classmethod
    def _fill_in_what_is_usual(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        if isinstance(data.get("stations"), dict) and len(data["stations"]) > 2:
            data = {"medium": "switched", **data}
        return {"rate": "10 Mbit/s", **data} if data.get("medium") == "shared" else data

    @model_validator(mode="after")
    def _check_medium(self) -> Self:
        if self.medium == "link" and len(self.stations) != 2:
            raise ValueError(
                f"a link has two stations, not {len(self.stations)}; for more write `medium: switched` or `medium: shared`"
            )
        if self.medium != "switched":
            if self.switching_delay is not None:
                raise ValueError("`switching_delay` is a switch's: write `medium: switched`, or leave it out")
            for name, station in self.stations.items():
                if own := [key for key in ("rate", "delay", "length") if getattr(station, key) is not None]:
                    raise ValueError(
                        f"{name}: only at a switch have wires their own {' and '.join(own)}: write `medium: switched`, or "
                        "say it of the network"
                    )
        if self.medium != "shared" and self.backoff is not None:
            raise ValueError("`backoff` is of a shared medium: write `medium: shared`, or leave it out")
        if self.length is not None and "delay" in self.model_fields_set:
            raise ValueError("`delay` and `length` say the same of the wire; keep one")
        return self

    @model_validator(mode="after")
    def _check_shared(self) -> Self:
        if self.medium != "shared":
            return self
        if self.rate > FASTEST_SHARED:
            raise ValueError(
                f"a shared medium has a rate of up to {RATE.write(FASTEST_SHARED)}: faster ones need carrier extension "
                "(IEEE 802.3-2018, 4.2.3.4), which is not modelled; write `rate: 100 Mbit/s` or `medium: switched`"
            )
        longest = LONGEST_SHARED_BITS / self.rate
        if self.delay_of_wire() > longest:
            raise ValueError(
                f"a shared medium of {RATE.write(self.rate)} has a delay of up to {TIME.write(longest)}, half a slot of 512 bit "
                f"times (IEEE 802.3-2018, 4.4.2), not {TIME.write(self.delay_of_wire())}"
            )
        return self
