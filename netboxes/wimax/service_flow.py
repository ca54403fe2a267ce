# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of a service flow in YAML."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from contracts.quantities import RATE, SIZE, TIME, Quantity
from netboxes.queueing.queue import Queue, queue_or_short

Rate = Annotated[float, Quantity(RATE, 1e3, 100e6)]
Interval = Annotated[float, Quantity(TIME, 1e-3, 10.0)]

#: Room of a queue where none is said, in bytes of Ethernet frames.
USUAL_ROOM = "64 kB"
AnyQueue = Annotated[Queue, queue_or_short(bytes=USUAL_ROOM, tells_channels=True)]

#: Scheduling services that know a parameter which others do not (6.3.5.2).
OWNERS = {
    "reserved_rate": ("UGS", "ertPS", "rtPS", "nrtPS"),
    "grant_interval": ("UGS", "ertPS"),
    "polling_interval": ("rtPS", "nrtPS"),
    "packet_size": ("UGS", "ertPS"),
}


class ServiceFlow(BaseModel):
    """The QoS of one traffic class in one direction (IEEE 802.16-2009, 6.3.5.2 and 11.13).

    Rates count whole Ethernet frames without FCS.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True)

    traffic_class: str = Field(alias="class", description="A class that the netbox declares.")
    direction: Literal["uplink", "downlink"] = Field(description="uplink: subscriber to base station.")
    scheduling: Literal["UGS", "ertPS", "rtPS", "nrtPS", "BE"] = Field(
        description="UGS: fixed grants, unasked; ertPS: grants whose size the subscriber may change; rtPS: polled; "
        "nrtPS: polled rarely, also contends; BE: contends."
    )
    reserved_rate: Rate | None = Field(None, description="Minimum reserved traffic rate; UGS and ertPS need it, BE has none.")
    maximum_rate: Rate | None = Field(
        None,
        description="Maximum sustained traffic rate, a token bucket; default: none, for UGS and ertPS the reserved rate. "
        "ertPS: of its largest grants.",
    )
    maximum_latency: Annotated[float, Quantity(TIME, 1e-3, 60.0)] | None = Field(
        None, description="A frame that waited longer is discarded before it is sent; default: never."
    )
    grant_interval: Interval | None = Field(
        None, description="UGS, ertPS: unsolicited grant interval; default: a frame, which for ertPS is the least."
    )
    polling_interval: Interval | None = Field(
        None, description="rtPS, nrtPS: unsolicited polling interval; default: a frame for rtPS, 1 s for nrtPS."
    )
    packet_size: Annotated[float, Quantity(SIZE, 20.0, 1518.0)] | None = Field(
        None,
        description="UGS, ertPS: size of the Ethernet frames (11.13), for the headers in a grant; default: one frame a grant.",
    )
    station: str | None = Field(None, description="The subscriber that has this flow; default: each subscriber has one.")
    queue: AnyQueue | None = Field(None, description="Of its own; default: as the cell's `queue` says.")
    weight: float = Field(1.0, ge=0.01, le=100.0, description="For the schedulers `weighted` and `proportional-fair`.")
    fragmentation: bool | None = Field(None, description="Default: the cell's `fragmentation`.")
    packing: bool | None = Field(None, description="Default: the cell's `packing`.")
    crc: bool | None = Field(None, description="Default: the cell's `crc`.")

    @model_validator(mode="after")
    def _check_scheduling(self) -> Self:
        name = f"the {self.scheduling} {self.direction} flow of class {self.traffic_class!r}"
        if self.scheduling in ("UGS", "ertPS") and self.reserved_rate is None:
            raise ValueError(f"{name} needs `reserved_rate`: its grants are made of it")
        for field, owners in OWNERS.items():
            if getattr(self, field) is not None and self.scheduling not in owners:
                raise ValueError(f"{name} has no `{field}`; only {' and '.join(owners)} have")
        if self.maximum_rate is not None and self.maximum_rate < (self.reserved_rate or 0.0):
            raise ValueError(f"{name} has a `maximum_rate` below its `reserved_rate`")
        return self
