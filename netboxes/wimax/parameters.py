# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of an IEEE 802.16 cell in YAML."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Annotated, ClassVar, Literal, Self, get_args

from pydantic import Field, computed_field, model_validator

from contracts.nature import SPEED_OF_LIGHT
from contracts.quantities import FREQUENCY, GAIN, LENGTH, POWER, RATE, TIME, Quantity
from netboxes.mobility.stations import MobileStation
from netboxes.queueing.queue import Queue
from netboxes.technology import Technology
from netboxes.timeline import TimeSeries
from netboxes.wimax.service_flow import USUAL_ROOM, AnyQueue, ServiceFlow

Distance = Annotated[float, Quantity(LENGTH, 1.0, 50e3)]
TxPower = Annotated[float, Quantity(POWER, -30.0, 60.0)]
AntennaGain = Annotated[float, Quantity(GAIN, -20.0, 40.0)]
Fade = Annotated[float, Quantity(GAIN, 0.0, 100.0)]
FadeSeries = Annotated[list[tuple[float, float]], TimeSeries(Quantity(GAIN, 0.0, 100.0), "fade_db")]

#: Frame durations of WirelessMAN-OFDM (IEEE 802.16-2009, 8.3.5.1), seconds.
FRAME_DURATIONS = (2.5e-3, 4e-3, 5e-3, 8e-3, 10e-3, 12.5e-3, 20e-3)

#: Modulation and rate of the code (8.3.3.2.3), from the most robust to the most efficient one; burst_profile.h has their bytes.
BurstProfile = Literal["BPSK 1/2", "QPSK 1/2", "QPSK 3/4", "16-QAM 1/2", "16-QAM 3/4", "64-QAM 2/3", "64-QAM 3/4"]
#: Receiver SNR in dB at which the standard wants a bit error ratio of 1e-6 after decoding (8.3.11.1; Table 266 of 2004, and as
#: Corrigendum 1 of 2005 changed it): the editions differ widely, and equipment as well as the literature follows either.
_RECEIVER_SNR = {
    "802.16-2004": (6.4, 9.4, 11.2, 16.4, 18.2, 22.7, 24.4),
    "802.16-2009": (3.0, 6.0, 8.5, 11.5, 15.0, 19.0, 21.0),
}
#: Of an OFDM symbol (8.3.2.4, Table 213), and bits on each by modulation.
_DATA_CARRIERS = 192
_CARRIER_BITS = {"BPSK": 1, "QPSK": 2, "16-QAM": 4, "64-QAM": 6}


class Station(MobileStation):
    """One station of the cell."""

    LIVE: ClassVar[frozenset[str]] = MobileStation.LIVE | {"distance", "tx_power", "fade"}

    role: Literal["base", "subscriber"] = Field(description="base: the base station, exactly one of a cell.")
    distance: Distance | None = Field(None, description="From the base station; default: the cell's `distance`.")
    tx_power: TxPower | None = Field(None, description="Default: the cell's `tx_power`.")
    fade: Fade | None = Field(None, description="Of a subscriber's link, beside the cell's `fade`: an obstacle, rain.")
    fade_series: FadeSeries | None = Field(None, description="The same over time, in straight lines between the points.")
    antenna_gain: AntennaGain | None = Field(None, description="Default: the cell's `antenna_gain`.")


class Parameters(Technology):
    """A point-to-multipoint cell of IEEE 802.16 WirelessMAN-OFDM (256 carriers) in TDD."""

    LIVE: ClassVar[frozenset[str]] = frozenset(
        {"distance", "tx_power", "fade", "frequency", "noise_figure", "implementation_loss", "path_loss_exponent", "queue"}
    )
    ANNOUNCES: ClassVar[frozenset[str]] = frozenset({"link_down", "link_up", "not_overbooked", "overbooked", "profile"})
    TELLS_LINKS: ClassVar[bool] = True
    TYPICAL: ClassVar = {"stations": {"base": {"role": "base"}, "subscriber": {"role": "subscriber"}}, "distance": "1 km"}

    stations: dict[str, Station] = Field(min_length=2, description="Exactly one base, the others `role: subscriber`.")
    distance: Distance | None = Field(
        None, description="Of each subscriber from the base station that does not say itself where it is."
    )
    tx_power: TxPower = Field(30.0, description="Of every station; 30 dBm in Table 6.1 of the thesis.")
    antenna_gain: AntennaGain = Field(0.0, description="Of every antenna towards the other end.")
    frequency: Annotated[float, Quantity(FREQUENCY, 2e9, 11e9)] = Field(5e9, description="Below 11 GHz (IEEE 802.16-2009, 8.3).")
    bandwidth: Annotated[float, Quantity(FREQUENCY, 1.25e6, 28e6)] = Field(10e6, description="Of the channel (8.3.2.4).")
    guard: Literal["1/4", "1/8", "1/16", "1/32"] = Field("1/4", description="Cyclic prefix to useful symbol time, G (8.3.2.4).")
    frame: Annotated[float, Quantity(TIME, 2.5e-3, 20e-3)] = Field(
        10e-3, description="Frame duration: 2.5, 4, 5, 8, 10, 12.5 or 20 ms (8.3.5.1)."
    )
    downlink_share: float = Field(0.5, ge=0.05, le=0.95, description="Of the symbols of a frame; the uplink has the rest.")
    ttg: Annotated[float, Quantity(TIME, 5e-6, 1e-3)] = Field(
        100e-6, description="Gap from downlink to uplink, in whole physical slots; a round trip must fit (100 us: 15 km)."
    )
    rtg: Annotated[float, Quantity(TIME, 5e-6, 1e-3)] = Field(
        50e-6, description="Gap from uplink to downlink, in whole physical slots."
    )
    propagation: Literal["friis", "log-distance", "two-ray", "sui-a", "sui-b", "sui-c"] = Field(
        "friis",
        description="friis: free space; log-distance: free space to 1 m, then with `path_loss_exponent`; two-ray: with the ray "
        "reflected by flat ground; sui-a, -b, -c: suburbs in hilly, intermediate, flat terrain (IEEE 802.16.3c-01/29r4).",
    )
    base_height: Annotated[float, Quantity(LENGTH, 1.0, 200.0)] = Field(
        30.0, description="Antenna above the ground, for two-ray and sui (there 10 m to 80 m)."
    )
    subscriber_height: Annotated[float, Quantity(LENGTH, 1.0, 100.0)] = Field(
        2.0, description="Antenna above the ground, for two-ray and sui (there 2 m to 10 m)."
    )
    shadowing: Annotated[float, Quantity(GAIN, 0.0, 15.0)] = Field(
        0.0, description="Standard deviation of a log-normal loss of each link; Erceg et al. found 8.2 dB to 10.6 dB in suburbs."
    )
    shadowing_distance: Annotated[float, Quantity(LENGTH, 1.0, 10e3)] = Field(
        100.0, description="On that way the loss of a moving station loses its memory to 1/e (Gudmundson 1991)."
    )
    fade: Fade = Field(0.0, description="Loss of all links besides: rain, smoke.")
    fade_series: FadeSeries | None = Field(None, description="The same over time, in straight lines between the points.")
    path_loss_exponent: float = Field(3.0, ge=1.0, le=6.0, description="For propagation log-distance: 2 is free space.")
    noise_figure: Annotated[float, Quantity(GAIN, 0.0, 20.0)] = Field(
        5.0, description="Of every receiver; 8.3.11.1 reckons with 7 dB."
    )
    implementation_loss: Annotated[float, Quantity(GAIN, 0.0, 20.0)] = Field(
        0.0, description="What a receiver lacks to the ideal one; 8.3.11.1 reckons with 5 dB."
    )
    receiver_snr: Literal["802.16-2004", "802.16-2009"] = Field(
        "802.16-2004",
        description="Whose table of receiver SNR decides on burst profiles: 6.4, 9.4, 11.2, 16.4, 18.2, 22.7, 24.4 dB of "
        "the edition of 2004 (Table 266), which the thesis's figures follow, or 3, 6, 8.5, 11.5, 15, 19, 21 dB of 2009.",
    )
    burst_profile: Literal["adaptive", BurstProfile] = Field(
        "adaptive",
        description="adaptive: in each direction and for each station the most efficient one that its SNR permits; or this one "
        "for everything but maps and requests in contention, whatever errors it makes.",
    )
    hysteresis: Annotated[float, Quantity(GAIN, 0.0, 10.0)] = Field(
        1.0, description="A more efficient burst profile, or a lost link, is taken up so far above its threshold."
    )
    uplink_map: Literal["same-frame", "next-frame"] = Field(
        "same-frame", description="Whose uplink subframe the UL-MAP of a frame grants (6.3.7.5): least or greatest relevance."
    )
    request_opportunities: int = Field(
        4, ge=0, le=64, description="Contention slots for bandwidth requests in each frame (8.3.7.3)."
    )
    backoff_start: int = Field(2, ge=0, le=15, description="The first contention window has 2^this opportunities (UCD).")
    backoff_end: int = Field(6, ge=0, le=15, description="The last contention window has 2^this opportunities (UCD).")
    request_timeout: Annotated[float, Quantity(TIME, 10e-3, 10.0)] = Field(
        50e-3, description="T16: a request without any grant for so long is taken for lost; at least 10 ms (10.1)."
    )
    ranging_interval: Annotated[float, Quantity(TIME, 2.5e-3, 2.0)] = Field(
        100e-3, description="Between initial ranging opportunities, rounded to frames; at most 2 s (10.1)."
    )
    queue: AnyQueue = Field(
        Queue(bytes=USUAL_ROOM),
        description="In front of each connection, each with its own room, in bytes of Ethernet frames; a number is its packets, "
        "a word its discipline. With `modular` the base station has one for all. Default: 64 kB.",
    )
    scheduler: Literal["strict", "weighted", "proportional-fair", "maximum-snr"] = Field(
        "strict",
        description="How the base station divides what reserved rates leave: by class in strict order, by `weight`, by burst "
        "profile against what a flow had lately (times `weight`), or to the most efficient burst profile first.",
    )
    grants: Literal["station", "connection"] = Field(
        "station",
        description="Who spends what is granted upwards: the station, its most urgent class first (6.3.6.2), or only the "
        "connection that it was made for, as in the edition of 2001 (GPC) and in ns-3's model.",
    )
    fragmentation: bool = Field(True, description="An SDU may be cut where a burst ends (6.3.3.3).")
    packing: bool = Field(False, description="Several SDUs may share a MAC PDU (6.3.3.4).")
    crc: bool = Field(True, description="Each MAC PDU ends with a CRC-32 (6.3.3.5).")
    service_flows: list[ServiceFlow] = Field(
        default_factory=list,
        description="What no flow is declared for goes on one implicit best-effort flow a station and direction.",
    )

    @computed_field  # type: ignore[prop-decorator]
    @property
    def receiver_snr_thresholds(self) -> tuple[float, ...]:
        """Of each burst profile, dB."""
        return _RECEIVER_SNR[self.receiver_snr]

    def _check_booking(self) -> None:
        """Reserved rates that not even the best burst profile could keep; the segment announces those that today's cannot."""
        subscribers = sum(station.role == "subscriber" for station in self.stations.values())
        for direction, share in (("uplink", 1.0 - self.downlink_share), ("downlink", self.downlink_share)):
            flows = [flow for flow in self.service_flows if flow.direction == direction]
            reserved = sum((flow.reserved_rate or 0.0) * (1 if flow.station else subscribers) for flow in flows)
            if reserved > (most := share * self.gross_rate()):
                raise ValueError(
                    f"the reserved rates of the {direction}, {RATE.write(reserved)}, are more than its share of a frame carries "
                    f"even with {self._best_profile()}, {RATE.write(most)}: lower them, or change `downlink_share` or `bandwidth`"
                )

    def _best_profile(self) -> str:
        profiles: tuple[str, ...] = get_args(BurstProfile)
        return profiles[-1] if self.burst_profile == "adaptive" else self.burst_profile

    def gross_rate(self) -> float:
        """With the most efficient profile there may be, in all symbols; sampling factor 8/7, which is right to 2 %."""
        guard = 1 / int(self.guard.partition("/")[2])
        modulation, rate = self._best_profile().split()
        bits = _DATA_CARRIERS * _CARRIER_BITS[modulation] * Fraction(rate)
        return float(bits) * self.bandwidth * 8 / 7 / (256 * (1 + guard))

    @model_validator(mode="after")
    def _check_stations(self) -> Self:
        bases = [name for name, station in self.stations.items() if station.role == "base"]
        if len(bases) != 1:
            names = ", ".join(bases) or "none"
            raise ValueError(f"a WiMAX cell has exactly one station with `role: base` (found: {names})")
        if self.stations[bases[0]].distance is not None:
            raise ValueError(f"{bases[0]} is the base station, from which distances are measured: give `distance` to the others")
        base = self.stations[bases[0]]
        if base.fade is not None or base.fade_series is not None:
            raise ValueError(f"{bases[0]} is the base station: a fade of all its links is the cell's `fade`")
        for name, station in self.stations.items():
            if station.role == "subscriber":
                self._check_reach(name, station, base)
        return self

    def _check_reach(self, name: str, station: Station, base: Station) -> None:
        """A station that moves, or whose base does, may be out of reach for a while."""
        distance = self.distance if station.distance is None else station.distance
        if (place := station.place()) is not None:
            if any(end.path or end.wander for end in (station, base)):
                return
            distance = math.dist(place, base.place() or (0.0, 0.0, 0.0))
        if distance is None:
            raise ValueError(f"{name} is nowhere: give it a `distance`, `position`, `path` or `wander`, or the cell a `distance`")
        round_trip = 2.0 * distance / SPEED_OF_LIGHT
        if round_trip > self.ttg:
            raise ValueError(
                f"{name} is {LENGTH.write(distance)} away: its round trip does not fit into `ttg` {TIME.write(self.ttg)}; "
                f"set it to at least {round_trip * 1e6:.0f} us"
            )

    @model_validator(mode="after")
    def _check_heights(self) -> Self:
        if self.propagation.startswith("sui") and not (
            10.0 <= self.base_height <= 80.0 and 2.0 <= self.subscriber_height <= 10.0
        ):
            raise ValueError(
                f"propagation {self.propagation} holds for `base_height` 10 m to 80 m and `subscriber_height` 2 m to 10 m "
                "(IEEE 802.16.3c-01/29r4)"
            )
        return self

    @model_validator(mode="after")
    def _check_frame(self) -> Self:
        if not any(abs(self.frame - duration) < 1e-9 for duration in FRAME_DURATIONS):
            durations = ", ".join(TIME.write(duration) for duration in FRAME_DURATIONS)
            raise ValueError(f"{TIME.write(self.frame)} is not a frame duration of WirelessMAN-OFDM; there are {durations}")
        if self.ttg + self.rtg > self.frame / 2:
            raise ValueError("`ttg` and `rtg` take more than half of the `frame`; shorten them, or lengthen the frame")
        if self.backoff_end < self.backoff_start:
            raise ValueError(f"`backoff_end` {self.backoff_end} is below `backoff_start` {self.backoff_start}")
        return self

    def classes_used(self) -> dict[tuple[str | int, ...], str]:
        return {("service_flows", number, "class"): flow.traffic_class for number, flow in enumerate(self.service_flows)}

    @model_validator(mode="after")
    def _check_flows(self) -> Self:
        seen = Counter((flow.traffic_class, flow.direction, flow.station) for flow in self.service_flows)
        for (traffic_class, direction, station), times in seen.items():
            where = f"station {station!r}" if station else "all subscribers"
            if times > 1:
                raise ValueError(
                    f"{times} {direction} flows for class {traffic_class!r} and {where}; a class has one: remove the others"
                )
            if station is not None and (station not in self.stations or self.stations[station].role == "base"):
                subscribers = ", ".join(name for name, other in self.stations.items() if other.role == "subscriber")
                raise ValueError(
                    f"the {direction} flow of class {traffic_class!r} is for station {station!r}, which is no subscriber; "
                    f"subscribers: {subscribers}"
                )
        self._check_booking()
        for flow in self.service_flows:
            if flow.scheduling == "ertPS" and flow.grant_interval is not None and flow.grant_interval < self.frame - 1e-9:
                raise ValueError(
                    f"class {flow.traffic_class!r}: the `grant_interval` of ertPS is at least a frame, {TIME.write(self.frame)}"
                )
            if flow.scheduling in ("BE", "nrtPS") and flow.direction == "uplink" and self.request_opportunities == 0:
                raise ValueError(
                    f"class {flow.traffic_class!r} asks for bandwidth in contention: `request_opportunities` must not be 0"
                )
        return self
