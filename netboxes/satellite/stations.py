# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of one station of a satellite link, and of how a terminal comes by capacity."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from contracts.quantities import GAIN, RATE, SIZE, TIME, Quantity
from netboxes.satellite.weather import Rain
from netboxes.technology import StationParameters
from netboxes.timeline import TimeSeries

Method = Literal["CRA", "RBDC", "VBDC", "AVBDC", "FCA"]


def _methods(value: object) -> object:
    return [value] if isinstance(value, str) else value


Fade = Annotated[float, Quantity(GAIN, 0.0, 100.0)]
FadeProfile = Annotated[list[tuple[float, float]], TimeSeries(Quantity(GAIN, 0.0, 100.0), "attenuation_db")]
SignalToNoise = Annotated[float, Quantity(GAIN, -20.0, 60.0)]
Delay = Annotated[float, Quantity(TIME, 0.0, 5.0)]
Rate = Annotated[float, Quantity(RATE, 1e3, 1e9)]
RequestRate = Annotated[float, Quantity(RATE, 0.0, 1e9)]
Volume = Annotated[float, Quantity(SIZE, 1.0, 1e9)]
Methods = Annotated[list[Method], BeforeValidator(_methods, json_schema_input_type=Method | list[Method]), Field(min_length=1)]


def check_methods(methods: list[Method] | None) -> None:
    dynamic = [method for method in methods or [] if method in ("RBDC", "VBDC", "AVBDC")]
    if len(dynamic) > 1:
        raise ValueError(f"{' and '.join(dynamic)} ask for the same packets twice; keep one of them, beside CRA and FCA")


class RequestClass(BaseModel):
    """How capacity for one traffic class is come by."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    capacity_request: Methods | None = Field(None, description="One method, or a list of them.")
    cra_rate: RequestRate | None = Field(None, description="Default: the link's.")
    rbdc_max: RequestRate | None = Field(None, description="Default: the link's.")
    rbdc_timeout: Annotated[float, Quantity(TIME, 0.1, 60.0)] | None = Field(None, description="Default: the link's.")
    vbdc_max: Volume | None = Field(None, description="Default: the link's.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_methods(self.capacity_request)
        return self


class Station(StationParameters):
    """One station of the link."""

    LIVE: ClassVar[frozenset[str]] = frozenset(
        {
            *("fade", "fade_up", "fade_down", "outage", "delay", "packet_error_rate", "return_rate", "forward_es_n0"),
            *("return_es_n0", "cra_rate", "rbdc_max"),
        }
    )

    role: Literal["gateway", "terminal"] = Field(description="gateway: the hub on the ground; terminal: everybody else.")
    fade: Fade = Field(0.0, description="Attenuation over this station on both ways, beside the link's, 0 to 100 dB.")
    fade_up: Fade = Field(0.0, description="More of it on the way up, 0 to 100 dB.")
    fade_down: Fade = Field(0.0, description="More of it on the way down, 0 to 100 dB.")
    fade_profile: FadeProfile | None = Field(None, description="Attenuation over time, added; straight lines between its points.")
    rain: Rain | None = Field(None, description="A series of rain, added.")
    outage: bool = Field(False, description="True: the station is cut off; the gateway's cuts off all.")
    forward_es_n0: SignalToNoise | None = Field(None, description="Of a terminal; default: the link's.")
    return_es_n0: SignalToNoise | None = Field(None, description="Of a terminal; default: the link's.")
    delay: Delay | None = Field(None, description="Between a terminal and the gateway; default: the link's.")
    packet_error_rate: float | None = Field(None, ge=0.0, le=1.0, description="Of a terminal's ways; default: the link's.")
    return_rate: Rate | None = Field(None, description="Of a terminal's own return carrier; default: the link's.")
    capacity_request: Methods | None = Field(None, description="Of a terminal; default: the link's.")
    cra_rate: RequestRate | None = Field(None, description="Of a terminal; default: the link's.")
    rbdc_max: RequestRate | None = Field(None, description="Of a terminal; default: the link's.")
    vbdc_max: Volume | None = Field(None, description="Of a terminal; default: the link's.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_methods(self.capacity_request)
        if self.role == "gateway":
            of_terminals = ["forward_es_n0", "return_es_n0", "delay", "packet_error_rate", "return_rate"]
            of_terminals += ["capacity_request", "cra_rate", "rbdc_max", "vbdc_max"]
            if unfit := [key for key in of_terminals if getattr(self, key) is not None]:
                raise ValueError(f"`{unfit[0]}` is a terminal's; set it there, or for the whole link")
        return self
