# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of a link layer above a technology in YAML, and the numbers that the C++ reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from contracts.netbox_configuration import ParameterLimit
from contracts.quantities import RATE, SIZE, TIME, Quantity
from netboxes.limits import limits_of
from netboxes.link_layer.link import Link
from netboxes.link_layer.numbering import LongLink
from netboxes.link_layer.service import Services
from netboxes.link_layer.service_checks import check_classes, check_timers, why_unfit

#: What its frames have besides a packet: a byte that names the packet's protocol (RFC 4944, 5.1).
_DISPATCH: Final = 1
#: Of what the technologies below carry.
_LONGEST_PACKET: Final = 1500


class LinkLayer(BaseModel):
    """A multi-service link layer between the ports and the segment: its services recover what the technology loses."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: What of it can be changed while the lab runs, as parameters of the netbox.
    LIVE: ClassVar[frozenset[str]] = frozenset({"services"})

    rate: Annotated[float, Quantity(RATE, 1e3, 10e9)] = Field(
        description="At which each station hands frames to the technology. At most what the technology carries, so that frames "
        "wait in the queues of their services and not in the technology's."
    )
    delay: Annotated[float, Quantity(TIME, 0.0, 5.0)] = Field(
        description="One way through the technology, its own access and queue included: timers follow from it."
    )
    frame: Annotated[float, Quantity(SIZE, 16.0, 2000.0)] = Field(
        float(_LONGEST_PACKET + _DISPATCH),
        description="That a frame carries at most, without the headers of the link layer; longer packets go in pieces.",
    )
    base: str | None = Field(
        None, description="The station at which snoop works, between it and each other one; default: the first of each two."
    )
    services: Services = Field(
        [], description="By traffic class; a class that has none goes through a service without recovery, which needs no entry."
    )
    shares: Literal["fixed", "measured"] = Field(
        "fixed", description="measured: each service's share is what it is offered, as measured, instead of its `share`."
    )
    measure_interval: Annotated[float, Quantity(TIME, 0.01, 3600.0)] = Field(
        1.0, description="Over which shares and the services' goodput, loss and delay are measured."
    )
    timer_factor: Literal["services", "share"] | Annotated[float, Field(ge=1.0, le=1000.0)] = Field(
        "services",
        description="By what services' timers are longer than alone on the link: the number of `services`, the inverse of each "
        "one's share, or a number.",
    )

    @property
    def link(self) -> Link:
        """What the defaults of its services' settings follow from."""
        return LongLink(self.rate, self.delay, int(self.frame))

    @classmethod
    def live_limits(cls) -> dict[str, ParameterLimit]:
        """Of what can be changed, for netbox.json."""
        return {name: cast("ParameterLimit", limit) for name, limit in limits_of(cls, *sorted(cls.LIVE)).items()}

    def classes_used(self) -> dict[tuple[str | int, ...], str]:
        """Where it names a traffic class, and which: the netbox must declare it (or it is "default")."""
        return {("services", number, "class"): service.traffic_class for number, service in enumerate(self.services)}

    def unfit_classes(self, conditions: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str | int, ...], str]:
        """Where it names a class whose conditions on a frame's headers, by name, do not go with its scheme, and why."""
        return {
            ("services", number, "class"): why
            for number, service in enumerate(self.services)
            if (why := why_unfit(service, conditions.get(service.traffic_class, {})))
        }

    @model_validator(mode="after")
    def _check_services(self) -> Self:
        check_classes(self.services)
        for service in self.services:
            check_timers(service, self.link)
        return self

    @model_serializer(mode="wrap")
    def _dump(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """With the settings of schemes that nobody said. Packets do not wait above the services: it does not pace."""
        return {**dump(self), "defaults": self.link.defaults(), "overhead": 0, "pacing": "none", "pacing_batch": 1}
