# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of a satellite link in YAML."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, ValidationInfo, computed_field, model_validator

from contracts.csv_file import read_rows
from contracts.quantities import GAIN, TIME, Quantity
from netboxes.queueing.queue import Queue, queue_or_short
from netboxes.roles import the_only
from netboxes.satellite.orbit import Orbit
from netboxes.satellite.stations import (
    Delay,
    Fade,
    FadeProfile,
    Method,
    Methods,
    Rate,
    RequestClass,
    RequestRate,
    SignalToNoise,
    Station,
    Volume,
    check_methods,
)
from netboxes.satellite.waveforms import (
    Profile,
    ProfileSet,
    efficient,
    find,
    forward_profiles,
    profile_set,
    return_profiles,
    waveform_profile,
)
from netboxes.technology import Technology
from netboxes.timeline import TimeSeries

#: Slots of a superframe on one carrier, and in all: what a plan can name, and what a netbox can look through.
MOST_SLOTS = 4096
#: s of a burst or BBFRAME: frames are remembered for 30 s, and a packet may wait in two queues and take several.
LONGEST_CODEWORD = 2.0
#: EN 301 545-2, Table A-1: waveform of control bursts, of 536 symbols.
CONTROL_WAVEFORM = 3


def _gaps(value: object, info: ValidationInfo) -> object:
    if isinstance(value, str):
        return [[f"{start} s", f"{length} s"] for start, length in read_rows(value, info.context, ("time_s", "duration_s"))]
    return value


AnyQueue = Annotated[Queue, queue_or_short(buffer="500 ms")]
_Time = Annotated[float, Quantity(TIME, 0.0, 86400.0 * 365)]
_Gap = tuple[_Time, Annotated[float, Quantity(TIME, 1e-3, 86400.0)]]


class Parameters(Technology):
    """A satellite link after DVB-RCS2: one forward carrier, return carriers of each terminal's own or shared by MF-TDMA."""

    LIVE: ClassVar[frozenset[str]] = frozenset(
        {"delay", "return_rate", "forward_rate", "packet_error_rate", "queue", "outage", "fade"}
    )
    TELLS_LINKS: ClassVar[bool] = True
    ANNOUNCES: ClassVar[frozenset[str]] = frozenset({"handover", "link_down", "link_up", "profile"})
    TYPICAL: ClassVar = {
        "stations": {"hub": {"role": "gateway"}, "terminal": {"role": "terminal"}},
        "return_rate": "10 Mbit/s",
        "forward_rate": "10 Mbit/s",
    }

    stations: dict[str, Station] = Field(min_length=2, description="Exactly one gateway, the others `role: terminal`.")
    delay: Delay = Field(0.254, description="From ground to ground, one way, 0 to 5 s; 254 ms: 76 000 km on the way.")
    return_rate: Rate = Field(
        description="Of each return carrier, 1 kbit/s to 1 Gbit/s: what bursts of `return_waveform` carry, headers and all."
    )
    forward_rate: Rate = Field(
        description="Of the gateway, for all terminals together, 1 kbit/s to 1 Gbit/s: BBFRAMEs of `forward_modulation` and "
        "`forward_code_rate` with all their headers."
    )
    packet_error_rate: float = Field(
        0.0,
        ge=0.0,
        le=1.0,
        description="Probability that a packet is lost on a way up and down, whatever its length or the signal.",
    )
    return_channel: Literal["own", "shared"] = Field(
        "own", description="own: each terminal has a carrier, all of it (CRA); shared: MF-TDMA, assigned in superframes."
    )
    capacity_request: Methods = Field(
        ["CRA"],
        description="How terminals come by capacity on a shared channel: CRA, RBDC, VBDC, AVBDC, FCA, or a list of them.",
    )
    cra_rate: RequestRate | None = Field(
        None, description="Of each terminal with CRA; default: equal shares of what others leave."
    )
    rbdc_max: RequestRate | None = Field(None, description="The most that may be asked for by RBDC; default: a carrier's rate.")
    rbdc_timeout: Annotated[float, Quantity(TIME, 0.1, 60.0)] = Field(
        2.0, description="How long a rate that was asked for is kept, 100 ms to 1 min."
    )
    vbdc_max: Volume = Field(1e6, description="The most that may be asked for by VBDC and not yet assigned, 1 B to 1 GB.")
    request_classes: dict[str, RequestClass] = Field(
        {}, description="Traffic classes of the netbox that come by capacity in a way of their own."
    )
    return_carriers: int = Field(1, ge=1, le=64, description="Of a shared channel, 1 to 64, each with `return_rate`.")
    superframe: Annotated[float, Quantity(TIME, 1e-3, 1.0)] = Field(
        0.05, description="Of a shared channel, 1 ms to 1 s; rounded down to whole slots, at most 4096 on a carrier."
    )
    control_interval: int = Field(
        1, ge=1, le=64, description="Superframes from one control slot of a terminal, in which it can ask, to its next, 1 to 64."
    )
    plan_lead: Annotated[float, Quantity(TIME, 0.0, 1.0)] = Field(
        0.02, description="Making a burst time plan, sending it and reading it, 0 to 1 s."
    )
    return_waveform: int = Field(
        14, ge=3, le=22, description="Reference waveform of a burst (EN 301 545-2, Annex A); 14: QPSK 1/2, 188 bytes."
    )
    forward_frame: Literal["short", "normal"] = Field("short", description="FECFRAME: 16 200 or 64 800 bits (EN 302 307-1).")
    forward_modulation: Literal["QPSK", "8PSK", "16APSK", "32APSK"] = Field("QPSK", description="Of the forward channel.")
    forward_code_rate: Literal["1/4", "1/3", "2/5", "1/2", "3/5", "2/3", "3/4", "4/5", "5/6", "8/9", "9/10"] = Field(
        "3/4", description="Of the forward channel's LDPC code; with the FECFRAME it sets a BBFRAME's size."
    )
    coding: Literal["fixed", "adaptive"] = Field(
        "fixed", description="fixed: modulation and coding as said, whatever the signal; adaptive: the best that it bears (ACM)."
    )
    acm_margin: Annotated[float, Quantity(GAIN, 0.0, 10.0)] = Field(0.5, description="Kept above a threshold, 0 to 10 dB.")
    hysteresis: Annotated[float, Quantity(GAIN, 0.0, 10.0)] = Field(
        0.5, description="More of it before going up, or before a lost link counts as found, 0 to 10 dB."
    )
    acm_reaction: Annotated[float, Quantity(TIME, 0.0, 10.0)] = Field(
        0.1, description="From a change of the signal until it is reported, 0 to 10 s; the way of the report comes on top."
    )
    forward_es_n0: SignalToNoise = Field(
        20.0, description="Es/N0 of the forward channel at terminals in clear sky, -20 to 60 dB."
    )
    return_es_n0: SignalToNoise = Field(20.0, description="Es/N0 of return channels at the hub in clear sky, -20 to 60 dB.")
    fade: Fade = Field(0.0, description="Attenuation of every way between two stations, 0 to 100 dB.")
    fade_profile: FadeProfile | None = Field(None, description="Attenuation over time, added; straight lines between its points.")
    delay_profile: Annotated[list[tuple[float, float]], TimeSeries(Quantity(TIME, 0.0, 5.0), "delay_s")] | None = Field(
        None, description="`delay` over time, for satellites that move; straight lines between its points."
    )
    delay_gaps: Annotated[list[_Gap], BeforeValidator(_gaps, json_schema_input_type=str | list[_Gap])] = Field(
        [], description="When nobody serves: [[start, duration], …], or a CSV file with the columns time_s, duration_s."
    )
    orbit: Orbit | None = Field(None, description="In the place of `delay`: by the geometry of satellites that pass.")
    connectivity: Literal["star", "mesh"] = Field(
        "star", description="Between terminals: through the gateway (two hops), or directly (one hop)."
    )
    queue: AnyQueue = Field(
        Queue(buffer="500 ms"),
        description="In front of each sender; a number is its packets, a word its discipline. Default: a buffer of 500 ms, about "
        "a round trip.",
    )
    outage: bool = Field(False, description="True: nothing passes.")

    def gross_rate(self) -> float:
        carriers = self.return_carriers if self.return_channel == "shared" else len(self.stations) - 1
        return self.forward_rate + carriers * self.return_rate

    def rate_from(self, station: str) -> float | None:
        """With adaptive coding none is the most."""
        own = self.stations[station]
        if self.coding == "adaptive":
            return None
        if own.role == "gateway":
            return self.forward_rate
        if self.return_channel == "shared":
            return self.return_carriers * self.return_rate
        return self.return_rate if own.return_rate is None else own.return_rate

    def classes_used(self) -> dict[tuple[str | int, ...], str]:
        return {("request_classes", name): name for name in self.request_classes}

    @computed_field  # type: ignore[prop-decorator]
    @property
    def slots_per_carrier(self) -> int:
        """Of a superframe."""
        return max(1, math.floor(self.superframe * self.return_rate / waveform_profile(self.return_waveform).bits + 1e-9))

    def traffic_slots(self) -> int:
        """Of a superframe, on all carriers together: without those for control."""
        needy = [station for station in self.terminals().values() if self._asks(station)]
        bursts = math.ceil(len(needy) / self.control_interval)
        per_slot = waveform_profile(self.return_waveform).symbols // self.control_profile.symbols
        return self.return_carriers * self.slots_per_carrier - math.ceil(bursts / per_slot)

    def terminals(self) -> dict[str, Station]:
        return {name: station for name, station in self.stations.items() if station.role == "terminal"}

    def methods_of(self, station: Station) -> list[Method]:
        return station.capacity_request or self.capacity_request

    def _asks(self, station: Station) -> bool:
        used = [*self.methods_of(station)]
        for request_class in self.request_classes.values():
            used += request_class.capacity_request or self.capacity_request
        return any(method in ("RBDC", "VBDC", "AVBDC") for method in used)

    def _agreed(self) -> float:
        """Sum of the constant rates that are said, bit/s."""
        total = 0.0
        for station in self.terminals().values():
            if "CRA" in self.methods_of(station):
                total += station.cra_rate if station.cra_rate is not None else self.cra_rate or 0.0
            for request_class in self.request_classes.values():
                if "CRA" in (request_class.capacity_request or self.capacity_request):
                    total += request_class.cra_rate if request_class.cra_rate is not None else self.cra_rate or 0.0
        return total

    def capacity(self) -> float:
        """Of a shared return channel for traffic, bit/s."""
        return self.traffic_slots() / self.slots_per_carrier * self.return_rate

    @model_validator(mode="after")
    def _check_roles(self) -> Self:
        the_only("gateway", self.stations, "a satellite link")
        return self

    @model_validator(mode="after")
    def _check_coding(self) -> Self:
        if self.forward_frame == "short" and self.forward_code_rate == "9/10":
            raise ValueError(
                "short FECFRAMEs have no code rate 9/10 (EN 302 307-1, Table 5b); use 8/9, or `forward_frame: normal`"
            )
        profiles = forward_profiles(self.forward_frame)
        name = f"{self.forward_modulation} {self.forward_code_rate}"
        forward = find(profiles, name)
        if forward is None:
            rates = ", ".join(p.name.split()[1] for p in profiles if p.name.split()[0] == self.forward_modulation)
            raise ValueError(f"DVB-S2 has no {name} (EN 302 307-1, Table 12); with {self.forward_modulation} there are {rates}")
        back = waveform_profile(self.return_waveform)
        if self.coding == "adaptive":
            forward, back = efficient(profiles)[0], efficient(return_profiles(self.return_waveform))[0]
        for terminal, station in self.terminals().items():
            self._check_signal(terminal, "forward_es_n0", station.forward_es_n0, self.forward_es_n0, forward)
            self._check_signal(terminal, "return_es_n0", station.return_es_n0, self.return_es_n0, back)
        return self

    def _check_signal(self, terminal: str, key: str, own: float | None, common: float, profile: Profile) -> None:
        signal = common if own is None else own
        if signal < profile.threshold:
            source = "EN 302 307-1, Table 13" if key == "forward_es_n0" else "README, Thresholds"
            raise ValueError(
                f"{terminal} never has a link: {profile.name} needs {profile.threshold:.2f} dB ({source}), and "
                f"`{key}` is {signal:g} dB in clear sky; raise it, or choose a more robust modulation and coding"
            )

    @model_validator(mode="after")
    def _check_rates(self) -> Self:
        forward = find(forward_profiles(self.forward_frame), f"{self.forward_modulation} {self.forward_code_rate}")
        rates = [("return_rate", waveform_profile(self.return_waveform), self.return_rate)]
        rates += [("forward_rate", forward, self.forward_rate)] if forward else []
        for name, station in self.stations.items():
            if station.return_rate is not None:
                rates.append((f"{name}'s return_rate", rates[0][1], station.return_rate))
        for key, profile, rate in rates:
            if profile.bits / rate > LONGEST_CODEWORD:
                raise ValueError(
                    f"at `{key}` of {rate / 1e3:g} kbit/s {profile.name} takes {profile.bits / rate:.2g} s, longer than "
                    f"{LONGEST_CODEWORD:g} s; choose {profile.bits / LONGEST_CODEWORD / 1e3:.3g} kbit/s or more"
                )
        return self

    @model_validator(mode="after")
    def _check_return_channel(self) -> Self:
        check_methods(self.capacity_request)
        if self.return_channel == "own":
            terminals = self.terminals().values()
            of_link = self.capacity_request != ["CRA"] or bool(self.request_classes)
            of_link = of_link or self.cra_rate is not None or self.rbdc_max is not None
            if of_link or any(s.capacity_request or s.cra_rate is not None or s.rbdc_max is not None for s in terminals):
                raise ValueError(
                    "on a carrier of its own a terminal asks for nothing: write `return_channel: shared` to use capacity requests"
                )
            return self
        if said_rate := [name for name, station in self.stations.items() if station.return_rate is not None]:
            raise ValueError(f"{said_rate[0]}: carriers of a shared channel have one rate; leave the station's `return_rate` out")
        if self.slots_per_carrier > MOST_SLOTS:
            longest = MOST_SLOTS * waveform_profile(self.return_waveform).bits / self.return_rate
            raise ValueError(
                f"a superframe of {TIME.write(self.superframe)} has {self.slots_per_carrier} slots on a carrier, more than the "
                f"{MOST_SLOTS} that a plan holds; with this rate and waveform it can last {longest:.2g} s"
            )
        if self.traffic_slots() < 1:
            raise ValueError(
                "control slots fill the superframe: make it longer, raise `control_interval`, or have more `return_carriers`"
            )
        if self._agreed() > self.capacity() * (1 + 1e-9):
            raise ValueError(
                f"constant rates of {self._agreed() / 1e3:.6g} kbit/s are agreed on, and the channel has "
                f"{self.capacity() / 1e3:.6g} kbit/s for traffic; lower `cra_rate` or have more `return_carriers`"
            )
        return self

    @model_validator(mode="after")
    def _check_delay(self) -> Self:
        if self.orbit is not None and (self.delay_profile is not None or self.delay_gaps):
            raise ValueError("`orbit` says the delay and its gaps; leave `delay_profile` and `delay_gaps` out")
        for (start, length), (later, _) in pairwise(self.delay_gaps):
            if later < start + length:
                raise ValueError(
                    f"the gap at {TIME.write(later)} begins before that at {TIME.write(start)} ends; put them in order"
                )
        return self

    @computed_field  # type: ignore[prop-decorator]
    @property
    def forward_profiles(self) -> ProfileSet:
        profiles = forward_profiles(self.forward_frame)
        reference = find(profiles, f"{self.forward_modulation} {self.forward_code_rate}")
        assert reference is not None, "_check_coding"
        return profile_set(profiles, reference, self.coding == "adaptive")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def return_profiles(self) -> ProfileSet:
        profiles = return_profiles(self.return_waveform)
        return profile_set(profiles, waveform_profile(self.return_waveform), self.coding == "adaptive")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def control_profile(self) -> Profile:
        return waveform_profile(CONTROL_WAVEFORM)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def equal_cra_rate(self) -> float:
        """Of each terminal with CRA whose rate is not said, bit/s: an equal share of what the others leave."""
        silent = [s for s in self.terminals().values() if "CRA" in self.methods_of(s) and s.cra_rate is None]
        if self.return_channel == "own" or not silent or self.cra_rate is not None:
            return 0.0
        return max(0.0, self.capacity() - self._agreed()) / len(silent)
