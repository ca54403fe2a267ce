# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of a Wi-Fi cell in YAML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from contracts.quantities import FREQUENCY, GAIN, LENGTH, POWER, RATE, SIZE, TIME, Quantity
from netboxes.queueing.queue import Queue, queue_or_short
from netboxes.technology import Technology
from netboxes.wifi import parameter_checks as checks
from netboxes.wifi.standards import RATES, WIDTHS, Standard
from netboxes.wifi.stations import AntennaGain, Building, Distance, Fade, Station, TxPower

AnyQueue = Annotated[Queue, queue_or_short(packets=500, tells_channels=True, waits_until_due=True)]
_Shape = Annotated[float, Field(ge=0.5, le=50.0)]
_ShapeFrom = tuple[Annotated[float, Quantity(LENGTH, 0.0, 100e3)], _Shape]


def _one_for_all_distances(value: object) -> object:
    return [["0 m", value]] if isinstance(value, int | float) and not isinstance(value, bool) else value


class Parameters(Technology):
    """A cell of IEEE 802.11: an access point and its stations, an ad hoc network, or a mesh, on one channel."""

    LIVE: ClassVar[frozenset[str]] = frozenset({"distance", "tx_power", "fade", "queue"})
    ANNOUNCES: ClassVar[frozenset[str]] = frozenset({"link_down", "link_up"})
    TYPICAL: ClassVar = {"stations": {"station": {"role": "station"}, "point": {"role": "access-point"}}, "distance": "80 m"}

    stations: dict[str, Station] = Field(min_length=2, description="With their roles.")
    mode: Literal["infrastructure", "ad-hoc", "mesh"] = Field(
        "infrastructure",
        description="infrastructure: through one access point; ad-hoc: each with each in range (IBSS); mesh: also through each "
        "other (802.11s, HWMP).",
    )
    standard: Standard = "802.11a"
    distance: Distance | None = Field(
        None,
        description="Of each station from the access point, 1 m to 1.19 km, with a `coverage_class` up to 15.1 km: they stand "
        "around it at equal angles. Of ad hoc peers and mesh points from one to the next: they stand on a line. Not for those "
        "who say themselves where they are.",
    )
    tx_power: TxPower = Field(16.0, description="Of every station, at its antenna's connector, -20 to 36 dBm.")
    antenna_gain: AntennaGain = Field(0.0, description="Of every antenna towards the others, when sending and when receiving.")
    noise_figure: Annotated[float, Quantity(GAIN, 0.0, 30.0)] = Field(
        7.0, description="Of every receiver; 7 dB is ns-3's, 10 dB what IEEE 802.11-2020, 17.3.10.2, reckons with."
    )
    sensitivity: Annotated[float, Quantity(POWER, -110.0, -40.0)] = Field(
        -82.0,
        description="Weakest preamble that a receiver detects. IEEE 802.11-2020, Table 17-18, asks for -82 dBm at least; "
        "good cards reach about -92 dBm.",
    )
    propagation: Literal["friis", "log-distance", "two-ray"] = Field(
        "friis",
        description="friis: free space; log-distance: free space up to 1 m, then with `path_loss_exponent`; two-ray: free "
        "space, and beyond 4 pi h1 h2 / wavelength with the reflection on flat ground (fourth power of the distance).",
    )
    path_loss_exponent: float = Field(3.0, ge=1.0, le=8.0, description="For propagation log-distance: 2 is free space.")
    antenna_height: Annotated[float, Quantity(LENGTH, 0.1, 1000.0)] = Field(
        1.5, description="For propagation two-ray: of each antenna over the height (z) of its station."
    )
    shadowing: Annotated[float, Quantity(GAIN, 0.0, 30.0)] = Field(
        0.0,
        description="Log-normal: standard deviation of what obstacles take or give. Each pair of stations has one value, the "
        "same in both directions, which stays, and which follows from the seed.",
    )
    fading: Literal["none", "nakagami", "rayleigh"] = Field(
        "none",
        description="nakagami: another power for each frame, with `nakagami_m`; rayleigh: Jakes's model, each pair of stations "
        "with one course, of `doppler`.",
    )
    nakagami_m: Annotated[
        list[_ShapeFrom],
        BeforeValidator(_one_for_all_distances, json_schema_input_type=_Shape | list[_ShapeFrom]),
        Field(min_length=1, max_length=3),
    ] = Field(
        [(0.0, 1.0)],
        description="Shape m, 0.5 to 50 (1: Rayleigh, large: none): a number, or up to three by distance, like "
        "[[0 m, 1.5], [80 m, 0.75]].",
    )
    doppler: Annotated[float, Quantity(FREQUENCY, 0.01, 2000.0)] = Field(
        10.0, description="For fading rayleigh: speed over wavelength, 0.01 to 2000 Hz; 17 Hz is 1 m/s at 5.2 GHz."
    )
    fade: Fade = Field(0.0, description="Loss of all links besides, 0 to 100 dB: smoke, an obstacle.")
    buildings: list[Building] = Field(
        [], max_length=100, description="Walls between stations add their loss; within one building ITU-R P.1238 holds instead."
    )
    hidden: list[tuple[str, str]] = Field(
        [], description="Pairs of stations that do not hear each other, wherever they are: [[a, b], …]."
    )
    error_model: Literal["table", "nist", "yans"] = Field(
        "table", description="ns-3's error rate model: link-level simulation tables, or the NIST or YANS formulas."
    )
    band: Annotated[float, Quantity(FREQUENCY, 2.4e9, 5e9)] = Field(  # type: ignore[assignment]
        None, validate_default=False, description="2.4 GHz or 5 GHz; default: 5 GHz, or 2.4 GHz for 802.11b and g."
    )
    channel_width: Annotated[float, Quantity(FREQUENCY, 20e6, 160e6)] = Field(  # type: ignore[assignment]
        None,
        validate_default=False,
        description="20 MHz (802.11a, g; b: 22 MHz), to 40 MHz (n), to 160 MHz (ac, ax; default 80 MHz).",
    )
    channel: int | None = Field(None, description="Number of the channel; default: the first one of the band and width.")
    rate_control: Literal["ideal", "minstrel", "arf", "aarf", "constant"] = Field(
        "ideal",
        description="ideal: the fastest rate that the receiver's last signal-to-noise ratio bears; minstrel: what Linux does; "
        "arf, aarf (802.11a, b, g only): by counting acknowledgements; constant: `rate` or `mcs`.",
    )
    rate: Annotated[float, Quantity(RATE, 1e6, 54e6)] | None = Field(
        None,
        description="For rate_control constant: 6, 9, 12, 18, 24, 36, 48 or 54 Mbit/s with 802.11a or g; 1, 2, 5.5 or 11 Mbit/s "
        "with 802.11b.",
    )
    mcs: int | None = Field(None, ge=0, le=11, description="For rate_control constant with 802.11n (0-7), ac (0-9) or ax (0-11).")
    preamble: Literal["long", "short"] = Field(
        "long",
        description="192 or 96 us before frames of 5.5 and 11 Mbit/s (IEEE 802.11-2020, 16.2.2); short: for ad hoc peers of "
        "802.11b.",
    )
    coverage_class: int = Field(
        0,
        ge=0,
        le=31,
        description="Slots and the wait for acknowledgements are 3 us longer with each, for 450 m more of range (IEEE "
        "802.11-2020, 17.3.8.6). For two stations at 5 GHz.",
    )
    qos: bool = Field(
        default_factory=bool,
        description="EDCA with the user priority that RFC 8325 gives to a DSCP, or one queue for all (DCF). "
        "Default: off for 802.11a, b and g, on for the others and for meshes, which need it.",
    )
    retry_limit: int = Field(7, ge=1, le=255, description="Attempts at sending a frame (dot11ShortRetryLimit).")
    rts_threshold: Annotated[float, Quantity(SIZE, 0.0, 4692480.0)] = Field(
        4692480.0, description="Frames longer than this are announced by RTS/CTS; default: none (dot11RTSThreshold)."
    )
    queue: AnyQueue = Field(
        Queue(packets=500),
        description="In front of each station's transmitter, one for each access category; a number is its packets, a word its "
        "discipline. A fifo limited in packets alone is the MAC's own queue, any other stands above that. Default: 500 packets.",
    )
    device_queue: int = Field(
        32,
        ge=2,
        le=10000,
        description="Packets that the MAC holds below a `queue` that is not its own; A-MPDUs are no longer than that.",
    )
    msdu_lifetime: Annotated[float, Quantity(TIME, 1e-3, 60.0)] = Field(
        0.5, description="A packet that has waited longer in the MAC is discarded (dot11EDCATableMSDULifetime)."
    )

    def gross_rate(self) -> float | None:
        """Of 802.11a, b and g; the others aggregate frames, and their rate says nothing of how many small ones pass."""
        if self.standard not in RATES:
            return None
        return RATES[self.standard][-1] if self.rate is None else self.rate

    @classmethod
    def check_live(cls, parameters: Mapping[str, Any], parameter: str, value: object) -> None:
        if parameter.rpartition(".")[2] == "distance" and isinstance(value, float):
            checks.check_distance(value, parameters["coverage_class"])
        elif parameter == "queue" and isinstance(value, Mapping):
            checks.check_queue(parameters["mode"], value)

    @model_validator(mode="before")
    @classmethod
    def _fill_in_what_the_standard_implies(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        standard = data.get("standard", "802.11a")
        if not isinstance(standard, str) or standard not in WIDTHS:
            return data
        return {**checks.implied(standard, data), **data}

    @model_validator(mode="after")
    def _check(self) -> Self:
        checks.check_stations(self.mode, self.stations, self.distance)
        checks.check_distance(self.distance, self.coverage_class, "distance: ")
        for name, station in self.stations.items():
            checks.check_distance(station.distance, self.coverage_class, f"{name}: distance: ")
        checks.check_propagation(self.propagation, self.antenna_height, self.stations, self.nakagami_m, self.hidden)
        checks.check_channel(self.standard, self.band, self.channel_width, self.channel)
        checks.check_rate(self.standard, self.rate_control, self.rate, self.mcs)
        checks.check_medium_access(
            self.standard, self.mode, self.band, len(self.stations), self.qos, self.preamble, self.coverage_class
        )
        checks.check_queue(self.mode, self.queue.model_dump(), "device_queue" in self.model_fields_set)
        return self
