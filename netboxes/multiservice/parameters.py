# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of a link with a multi-service link layer in YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from contracts.errors import listed
from contracts.netbox_configuration import Limit
from contracts.quantities import RATE, SIZE, TIME, Quantity
from netboxes.errors.loss import Loss
from netboxes.limits import limits_of
from netboxes.link_layer.link import Link
from netboxes.link_layer.service import NUMBERING, Service, Services
from netboxes.link_layer.service_checks import check_classes, check_timers, why_unfit
from netboxes.multiservice.profiles import PROFILES, ProfileName
from netboxes.queueing.queue import Queue, queue_or_short
from netboxes.technology import StationParameters, Technology

Rate = Annotated[float, Quantity(RATE, 1e3, 10e9)]
Delay = Annotated[float, Quantity(TIME, 0.0, 5.0)]
AnyQueue = Annotated[Queue, queue_or_short(packets=50)]


class Errors(Loss):
    """Frames that do not arrive: an error level of the profile, or any model of netboxes/errors."""

    level: int | None = Field(None, ge=1, le=4, description="Of the profile (tables 3.1 to 3.3), 1 the least errors.")

    @model_validator(mode="before")
    @classmethod
    def _level_alone(cls, value: object) -> object:
        if isinstance(value, Mapping) and value.get("level") is not None and len(value) > 1:
            other = next(key for key in value if key != "level")
            raise ValueError(f"`level` says all of the errors; leave {other} or level out")
        return value

    def _given(self) -> set[str]:
        return super()._given() - {"level"}

    @model_serializer
    def _dump_with_level(self) -> dict[str, Any]:
        return self._dump() if self.level is None else {"model": "level", "level": self.level}

    @classmethod
    def limit(cls) -> Limit:
        limit = super().limit()
        words, cases = limit["keys"]["model"]["words"], limit["cases"]["model"]
        return {"keys": {"model": {"words": [*words, "level"]}}, "cases": {"model": {**cases, "level": limits_of(cls, "level")}}}


AnyErrors = Annotated[
    Errors,
    BeforeValidator(
        lambda short: {"probability": short} if isinstance(short, int | float) and not isinstance(short, bool) else short,
        json_schema_input_type=float | Errors,
    ),
]


class Station(StationParameters):
    """One end of the link. What is said here holds for what it sends, in the place of what is said of the link."""

    LIVE: ClassVar[frozenset[str]] = frozenset({"rate", "errors", "services", "queue", "up"})

    role: Literal["base", "mobile"] | None = Field(
        None, description="base: the end at which snoop works; default: the first of the two stations."
    )
    rate: Rate | None = Field(None, description="Of what it sends.")
    errors: AnyErrors | None = Field(None, description="Of what it sends.")
    services: Services | None = Field(
        None, description="With settings of its own, for the same classes and schemes as the other end's."
    )
    queue: AnyQueue | None = Field(None, description="In front of its link layer.")
    up: bool | None = Field(None, description="False: nothing that it sends arrives.")


class Parameters(Technology):
    """A link between two stations whose link layer recovers each class's frames by a scheme of its own (Xylomenos 1999)."""

    LIVE: ClassVar[frozenset[str]] = frozenset(
        {
            *("rate", "delay", "errors", "services", "shares", "measure_interval", "timer_factor", "pacing", "pacing_batch"),
            *("queue", "up"),
        }
    )
    TELLS_LINKS: ClassVar[bool] = True
    TELLS_SERVICES: ClassVar[bool] = True
    ANNOUNCES: ClassVar[frozenset[str]] = frozenset({"link_down", "link_up"})
    TYPICAL: ClassVar = {"stations": {"base": {}, "mobile": {}}, "profile": "wlan", "rate": "100 Mbit/s"}
    #: A UDP datagram without payload, of which its services count the header of a frame alone.
    SMALLEST_ON_MEDIUM: ClassVar[int] = 1

    stations: dict[str, Station] = Field(min_length=2, description="The two ends, `NAME: {}`, or with what is different of one.")
    profile: ProfileName | None = Field(
        None,
        description="A link of his (tables 3.1 to 3.3): rate, delay, frame, error levels and timers, unless said otherwise.",
    )
    rate: Rate | None = Field(None, description="Of each direction; needed without a profile.")
    delay: Delay | None = Field(None, description="From the end of sending to the arrival; needed without a profile.")
    frame: Annotated[float, Quantity(SIZE, 16.0, 2000.0)] | None = Field(
        None, description="That a frame carries at most, without the headers of the link layer; needed without a profile."
    )
    accounting: Literal["payload", "real"] = Field(
        "payload",
        description="Bytes of a packet that take time and meet errors. payload: as in his simulator, TCP's and UDP's payload, "
        "and 40 bytes of a TCP segment without; real: all of layer 3, and headers of fragments.",
    )
    overhead: Annotated[float, Quantity(SIZE, 0.0, 100.0)] = Field(
        0.0, description="That each frame takes besides: flags, checksums, existing headers; 0 B as in his simulator."
    )
    errors: AnyErrors = Field(Errors(), description="A number alone is a probability, independent for each frame.")
    services: Services = Field(
        [], description="By traffic class; a class that has none goes through a service without recovery, which needs no entry."
    )
    shares: Literal["fixed", "measured"] = Field(
        "fixed", description="measured: each service's share is what it is offered, as measured (6.2.1), instead of its `share`."
    )
    measure_interval: Annotated[float, Quantity(TIME, 0.01, 3600.0)] = Field(
        1.0, description="Over which shares and the services' goodput, loss and delay are measured."
    )
    timer_factor: Literal["services", "share"] | Annotated[float, Field(ge=1.0, le=1000.0)] = Field(
        "services",
        description="By what services' timers are longer than alone on the link (6.2.2): the number of `services`, the inverse "
        "of each one's share, or a number.",
    )
    pacing: Literal["none", "packet", "batch"] = Field(
        "none", description="packet: takes one when the one before could have been sent (6.2.1), so that packets wait in `queue`."
    )
    pacing_batch: int = Field(10, ge=1, le=10_000, description="batch: packets at a time.")
    queue: AnyQueue = Field(
        Queue(packets=50), description="In front of each end's link layer, where packets wait while it paces."
    )
    up: bool = Field(True, description="False: the link is down until this is true again.")

    @property
    def link(self) -> Link:
        """Its profile's, but what is said."""
        profile = PROFILES[self.profile] if self.profile else None
        rate = self.rate if self.rate is not None else profile.rate if profile else 0.0
        delay = self.delay if self.delay is not None else profile.delay if profile else 0.0
        frame = int(self.frame if self.frame is not None else profile.frame if profile else 0)
        return Link(rate, delay, frame, profile)

    def gross_rate(self) -> float:
        return sum(self.rate_from(name) for name in self.stations)

    def rate_from(self, station: str) -> float:
        own = self.stations[station].rate
        return self.link.rate if own is None else own

    def classes_used(self) -> dict[tuple[str | int, ...], str]:
        own: dict[tuple[str | int, ...], str] = {
            ("services", number, "class"): service.traffic_class for number, service in enumerate(self.services)
        }
        for name, station in self.stations.items():
            for number, service in enumerate(station.services or ()):
                own["stations", name, "services", number, "class"] = service.traffic_class
        return own

    def unfit_classes(self, conditions: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str | int, ...], str]:
        return {
            place: why
            for place, name in self.classes_used().items()
            if (why := why_unfit(self._service_at(place), conditions.get(name, {})))
        }

    def _service_at(self, place: tuple[str | int, ...]) -> Service:
        *of_station, number, _ = place
        own = self.stations[str(place[1])].services if len(of_station) > 1 else None
        return (own or self.services)[int(number)]

    @model_serializer(mode="wrap")
    def _dump(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """With what the link is, and what is not said of services and error levels when they are set while the netbox runs."""
        link = self.link
        levels = [Loss.model_validate(level).model_dump(mode="json") for level in link.profile.levels] if link.profile else []
        of_link = {"rate": link.rate, "delay": link.delay, "frame": link.frame}
        return {**dump(self), **of_link, "base": self.base, "levels": levels, "defaults": link.defaults()}

    @property
    def base(self) -> str:
        """The station at which snoop works."""
        said = (name for name, station in self.stations.items() if station.role == "base")
        return next(said, None) or next(name for name, station in self.stations.items() if station.role != "mobile")

    @model_validator(mode="after")
    def _check_link(self) -> Self:
        if len(self.stations) != 2:
            raise ValueError(f"a link has two stations, not {len(self.stations)}")
        if self.profile is None and (missing := [key for key in ("rate", "delay", "frame") if getattr(self, key) is None]):
            raise ValueError(f"without a `profile` a link needs {', '.join(f'`{key}`' for key in missing)}")
        roles = [station.role for station in self.stations.values() if station.role]
        if len(roles) == 2 and roles[0] == roles[1]:
            raise ValueError(f"both stations have the role {roles[0]}; one is the base, the other the mobile")
        for errors in (self.errors, *(station.errors for station in self.stations.values())):
            if errors is not None and errors.level is not None and self.profile is None:
                raise ValueError(f"error level {errors.level} is a profile's: say `profile`, or another model of errors")
        return self

    @model_validator(mode="after")
    def _check_services(self) -> Self:
        ends = {name: station.services or self.services for name, station in self.stations.items()}
        for services in (self.services, *ends.values()):
            check_classes(services)
        named = {name: ", ".join(map(self._named, services)) or "none" for name, services in ends.items()}
        if len(set(named.values())) > 1:
            raise ValueError(
                f"the ends differ: {' and '.join(f'{name} has {words}' for name, words in named.items())}; "
                f"both need the same schemes for the same classes, in the same order, with the same {listed(NUMBERING, 'and')}"
            )
        for name, services in ends.items():
            for service in services:
                check_timers(service, replace(self.link, rate=self.stations[name].rate or self.link.rate))
        return self

    def _named(self, service: Service) -> str:
        """A service by what its other end has to have, too."""
        schemes = []
        for recovery in service.recoveries():
            settings = self.link.settings(recovery)
            alike = [f"{key} {settings[key]}".lower() for key in NUMBERING if key in settings]
            schemes.append(recovery.scheme + (f" ({', '.join(alike)})" if alike else ""))
        return f"{service.traffic_class}: {' or '.join(schemes)}"
