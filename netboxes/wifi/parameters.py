# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of a Wi-Fi cell in YAML. Limits of the live parameters are repeated in segment.cc."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from netboxes.technology import StationParameters, Technology
from testbed.quantities import FREQUENCY, GAIN, LENGTH, POWER, RATE, SIZE, TIME, Quantity

Distance = Annotated[float, Quantity(LENGTH, 1.0, 100e3)]
TxPower = Annotated[float, Quantity(POWER, -20.0, 36.0)]

#: Data rates of the OFDM PHY in a 20 MHz channel (IEEE 802.11-2020, Table 17-4), bit/s.
OFDM_RATES = (6e6, 9e6, 12e6, 18e6, 24e6, 36e6, 48e6, 54e6)

#: Highest modulation and coding scheme of one spatial stream (IEEE 802.11-2020, 19.5 and 21.5; IEEE 802.11ax-2021, 27.5).
HIGHEST_MCS = {"802.11n": 7, "802.11ac": 9, "802.11ax": 11}

#: Bands (by the frequency that names them) and channel widths of each standard, Hz; the first width is the default one.
BANDS = {"802.11a": (5e9,), "802.11g": (2.4e9,), "802.11n": (5e9, 2.4e9), "802.11ac": (5e9,), "802.11ax": (5e9, 2.4e9)}
WIDTHS = {
    "802.11a": (20e6,),
    "802.11g": (20e6,),
    "802.11n": (20e6, 40e6),
    "802.11ac": (80e6, 20e6, 40e6, 160e6),
    "802.11ax": (80e6, 20e6, 40e6, 160e6),
}

#: Channel numbers by band and width (IEEE 802.11-2020, Annex E, operating classes of all regulatory domains together).
CHANNELS = {
    (2.4e9, 20e6): tuple(range(1, 14)),
    (2.4e9, 40e6): tuple(range(3, 12)),
    (5e9, 20e6): (*range(36, 65, 4), *range(100, 145, 4), *range(149, 178, 4)),
    (5e9, 40e6): (38, 46, 54, 62, 102, 110, 118, 126, 134, 142, 151, 159, 167, 175),
    (5e9, 80e6): (42, 58, 106, 122, 138, 155, 171),
    (5e9, 160e6): (50, 114, 163),
}


class Station(StationParameters):
    """One station of the cell."""

    role: Literal["access-point", "station"] = Field(description="access-point: the one that all others associate with.")
    distance: Distance | None = Field(None, description="From the access point; default: the cell's `distance`.")
    tx_power: TxPower | None = Field(None, description="Default: the cell's `tx_power`.")


class Parameters(Technology):
    """An infrastructure cell of IEEE 802.11: one access point and its stations on one channel."""

    LIVE: ClassVar[frozenset[str]] = frozenset({"distance", "tx_power"})
    FRAME_CLOCK: ClassVar[bool] = True
    TYPICAL: ClassVar = {"stations": {"station": {"role": "station"}, "point": {"role": "access-point"}}, "distance": "80 m"}

    stations: dict[str, Station] = Field(min_length=2, description="Exactly one access-point, the others `role: station`.")
    standard: Literal["802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax"] = "802.11a"
    distance: Distance = Field(
        description="Of each station from the access point, 1 m to 100 km. Stations stand around it at equal angles."
    )
    tx_power: TxPower = Field(16.0, description="Of every station, at its antenna's connector, -20 to 36 dBm.")
    antenna_gain: Annotated[float, Quantity(GAIN, -20.0, 40.0)] = Field(
        0.0, description="Of every antenna towards the others, when sending and when receiving."
    )
    noise_figure: Annotated[float, Quantity(GAIN, 0.0, 30.0)] = Field(
        7.0, description="Of every receiver; 7 dB is ns-3's, 10 dB what IEEE 802.11-2020, 17.3.10.2, reckons with."
    )
    sensitivity: Annotated[float, Quantity(POWER, -110.0, -40.0)] = Field(
        -82.0,
        description="Weakest preamble that a receiver detects. IEEE 802.11-2020, Table 17-18, asks for -82 dBm at least; "
        "good cards reach about -92 dBm.",
    )
    propagation: Literal["friis", "log-distance"] = Field(
        "friis", description="friis: free space; log-distance: free space up to 1 m, then with `path_loss_exponent`."
    )
    path_loss_exponent: float = Field(3.0, ge=1.0, le=8.0, description="For propagation log-distance: 2 is free space.")
    error_model: Literal["table", "nist", "yans"] = Field(
        "table", description="ns-3's error rate model: link-level simulation tables, or the NIST or YANS formulas."
    )
    band: Annotated[float, Quantity(FREQUENCY, 2.4e9, 5e9)] = Field(  # type: ignore[assignment]
        None, validate_default=False, description="2.4 GHz or 5 GHz; default: 5 GHz, or 2.4 GHz for 802.11g."
    )
    channel_width: Annotated[float, Quantity(FREQUENCY, 20e6, 160e6)] = Field(  # type: ignore[assignment]
        None, validate_default=False, description="20 MHz (802.11a, g), to 40 MHz (n), to 160 MHz (ac, ax; default 80 MHz)."
    )
    channel: int | None = Field(None, description="Number of the channel; default: the first one of the band and width.")
    rate_control: Literal["ideal", "minstrel", "arf", "aarf", "constant"] = Field(
        "ideal",
        description="ideal: the fastest rate that the receiver's last signal-to-noise ratio bears; minstrel: what Linux does; "
        "arf, aarf (802.11a, g only): by counting acknowledgements; constant: `rate` or `mcs`.",
    )
    rate: Annotated[float, Quantity(RATE, 6e6, 54e6)] | None = Field(
        None, description="For rate_control constant with 802.11a or g: 6, 9, 12, 18, 24, 36, 48 or 54 Mbit/s."
    )
    mcs: int | None = Field(None, ge=0, le=11, description="For rate_control constant with 802.11n (0-7), ac (0-9) or ax (0-11).")
    qos: bool = Field(
        default_factory=bool,
        description="EDCA with the user priority that RFC 8325 gives to a DSCP, or one queue for all (DCF). "
        "Default: off for 802.11a and g, on for the others, which need it.",
    )
    retry_limit: int = Field(7, ge=1, le=255, description="Attempts at sending a frame (dot11ShortRetryLimit).")
    rts_threshold: Annotated[float, Quantity(SIZE, 0.0, 4692480.0)] = Field(
        4692480.0, description="Frames longer than this are announced by RTS/CTS; default: none (dot11RTSThreshold)."
    )
    queue_size: int = Field(500, ge=1, le=100000, description="Packets in a station's transmit queue, of each access category.")
    queue_lifetime: Annotated[float, Quantity(TIME, 1e-3, 60.0)] = Field(
        0.5, description="A packet that has waited longer is discarded (dot11EDCATableMSDULifetime)."
    )

    def gross_rate(self) -> float | None:
        """Of 802.11a and g; the others aggregate frames, and their rate says nothing of how many small ones pass."""
        return (self.rate or OFDM_RATES[-1]) if self.standard in ("802.11a", "802.11g") else None

    @model_validator(mode="before")
    @classmethod
    def _fill_in_what_the_standard_implies(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        standard = data.get("standard", "802.11a")
        if not isinstance(standard, str) or standard not in BANDS:
            return data
        band = BANDS[standard][0]
        implied = {
            "band": FREQUENCY.write(band),
            "channel_width": FREQUENCY.write(WIDTHS[standard][0]),
            "qos": standard not in ("802.11a", "802.11g"),
        }
        return {**implied, **data}

    @model_validator(mode="after")
    def _check_roles(self) -> Self:
        points = [name for name, station in self.stations.items() if station.role == "access-point"]
        if len(points) != 1:
            found = ", ".join(points) or "none"
            raise ValueError(f"a Wi-Fi cell has exactly one station with `role: access-point` (found: {found})")
        point = self.stations[points[0]]
        if point.distance is not None:
            raise ValueError(f"{points[0]} is the access point, from which distances are measured: give `distance` to the others")
        return self

    @model_validator(mode="after")
    def _check_channel(self) -> Self:
        bands, widths = BANDS[self.standard], WIDTHS[self.standard]
        if self.band not in bands:
            raise ValueError(
                f"{self.standard} works at {_list(FREQUENCY.write(b) for b in bands)}, not {FREQUENCY.write(self.band)}"
            )
        if self.channel_width not in widths or (self.band, self.channel_width) not in CHANNELS:
            fitting = [w for w in widths if (self.band, w) in CHANNELS]
            raise ValueError(
                f"channel_width {FREQUENCY.write(self.channel_width)} does not exist for {self.standard} at "
                f"{FREQUENCY.write(self.band)}; there are {_list(FREQUENCY.write(w) for w in fitting)}"
            )
        channels = CHANNELS[self.band, self.channel_width]
        if self.channel is not None and self.channel not in channels:
            raise ValueError(
                f"no channel {self.channel} of {FREQUENCY.write(self.channel_width)} at {FREQUENCY.write(self.band)}; "
                f"there are {_list(map(str, channels))}"
            )
        return self

    @model_validator(mode="after")
    def _check_rate(self) -> Self:
        legacy = self.standard in ("802.11a", "802.11g")
        wanted, other = ("rate", "mcs") if legacy else ("mcs", "rate")
        if getattr(self, other) is not None:
            raise ValueError(f"{self.standard} has no `{other}`; give `{wanted}`")
        if (self.rate_control == "constant") != (getattr(self, wanted) is not None):
            raise ValueError(f"`rate_control: constant` and `{wanted}` belong together with {self.standard}")
        if self.rate is not None and self.rate not in OFDM_RATES:
            raise ValueError(f"{self.standard} has the rates {_list(RATE.write(r) for r in OFDM_RATES)}")
        if self.mcs is not None and self.mcs > HIGHEST_MCS[self.standard]:
            raise ValueError(f"{self.standard} has mcs 0 to {HIGHEST_MCS[self.standard]}")
        if self.rate_control in ("arf", "aarf") and not legacy:
            raise ValueError(f"rate_control {self.rate_control} knows 802.11a and g only; use ideal, minstrel or constant")
        if not self.qos and not legacy:
            raise ValueError(f"{self.standard} cannot do without QoS; leave `qos` out, or set it to true")
        return self


def _list(words: Iterable[str]) -> str:
    return ", ".join(words)
