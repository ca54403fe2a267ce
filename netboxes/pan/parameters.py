# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of a personal area network in YAML."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from contracts.quantities import GAIN, LENGTH, POWER, TIME, Quantity
from netboxes.mobility.stations import MobileStation
from netboxes.queueing.queue import Queue, queue_or_short
from netboxes.roles import the_only
from netboxes.technology import Technology

AnyQueue = Annotated[Queue, queue_or_short(packets=32, waits_until_due=True)]
Distance = Annotated[float, Quantity(LENGTH, 0.1, 10e3)]
Fade = Annotated[float, Quantity(GAIN, 0.0, 100.0)]
TxPower = Annotated[float, Quantity(POWER, -32.0, 31.0)]


def _only_page_zero(value: object) -> object:
    if value != 0:
        raise ValueError(
            f"channel_page {value} is not modelled; write 0: channels 11 to 26 at 2.4 GHz (IEEE 802.15.4-2006, Table 2)"
        )
    return value


class Station(MobileStation):
    """One station of the network."""

    LIVE: ClassVar[frozenset[str]] = frozenset({"position", "distance", "tx_power", "fade", "outage"})

    role: Literal["coordinator", "device"] = Field(
        "device", description="coordinator: the one of a star through which all others speak; a peer network has none."
    )
    distance: Distance | None = Field(None, description="Instead of a position; default: the network's `distance`.")
    tx_power: TxPower | None = Field(None, description="Default: the network's `tx_power`.")
    fade: Fade = Field(0.0, description="Of its links, beside the network's `fade`: a body or a wall before its antenna.")
    outage: bool = Field(False, description="True: its radio is off.")


class Parameters(Technology):
    """A wireless personal area network after IEEE 802.15.4-2006, 2.4 GHz O-QPSK, without beacons."""

    LIVE: ClassVar[frozenset[str]] = frozenset({"distance", "tx_power", "queue", "fade", "outage"})
    ANNOUNCES: ClassVar[frozenset[str]] = frozenset({"link_down", "link_up"})
    TYPICAL: ClassVar = {"stations": {"sensor": {}, "hub": {"role": "coordinator"}}, "distance": "5 m"}
    CALIBRATION_RATES: ClassVar = ((20.0, 120.0), (1.0, 7.0))

    stations: dict[str, Station] = Field(min_length=2, max_length=200, description="A star has exactly one coordinator.")
    mode: Literal["star", "peer"] = Field(
        "star", description="star: all through the coordinator, which relays between devices; peer: directly, if in range."
    )
    distance: Distance = Field(
        10.0,
        description="star: of each device from the coordinator, at equal angles around it; peer: across the circle on which the "
        "stations stand. 0.1 m to 10 km.",
    )
    channel: int = Field(11, ge=11, le=26, description="2405 MHz and 5 MHz more for each (IEEE 802.15.4-2006, 6.1.2.1).")
    channel_page: Annotated[Literal[0], BeforeValidator(_only_page_zero)] = Field(0, description="The page of 2.4 GHz O-QPSK.")
    tx_power: TxPower = Field(
        0.0, description="Of every station, -32 to 31 dBm (phyTransmitPower, IEEE 802.15.4-2006, Table 23); 0 dBm is a CC2420's."
    )
    antenna_gain: Annotated[float, Quantity(GAIN, -30.0, 20.0)] = Field(
        0.0, description="Of every antenna towards the others; next to a body it is below 0 dB."
    )
    sensitivity: Annotated[float, Quantity(POWER, -106.58, -85.0)] = Field(
        -95.0,
        description="Power at which 1 % of frames of 20 bytes are lost (IEEE 802.15.4-2006, 6.1.7); sets the receivers' noise. "
        "-85 dBm is the least that 6.5.3.3 permits, -95 dBm a CC2420's, -106.58 dBm thermal noise alone.",
    )
    propagation: Literal["friis", "log-distance"] = Field(
        "friis", description="friis: free space; log-distance: free space up to 1 m, then with `path_loss_exponent`."
    )
    path_loss_exponent: float = Field(3.0, ge=1.0, le=8.0, description="For propagation log-distance: 2 is free space.")
    shadowing: Annotated[float, Quantity(GAIN, 0.0, 20.0)] = Field(
        0.0,
        description="Standard deviation of log-normal shadowing: each pair of stations has one value for both directions, "
        "drawn at the start.",
    )
    mac_min_be: int = Field(3, ge=0, le=8, description="First backoff exponent (macMinBE, IEEE 802.15.4-2006, Table 86).")
    mac_max_be: int = Field(5, ge=3, le=8, description="Largest backoff exponent (macMaxBE, Table 86).")
    mac_max_csma_backoffs: int = Field(
        4, ge=0, le=5, description="Backoffs before channel access is said to have failed (macMaxCSMABackoffs, Table 86)."
    )
    mac_max_frame_retries: int = Field(
        3, ge=0, le=7, description="Repetitions of a frame that is not acknowledged (macMaxFrameRetries, Table 86)."
    )
    acknowledgements: bool = Field(True, description="Ask for them, except for broadcasts, which never have them.")
    addressing: Literal["short", "extended"] = Field(
        "short", description="16-bit or 64-bit addresses in data frames; they are fixed, nobody has to associate."
    )
    queue: AnyQueue = Field(
        Queue(packets=32),
        description="In front of each station's radio; a number is its packets, a word its discipline. Default: 32 packets.",
    )
    reassembly_timeout: Annotated[float, Quantity(TIME, 0.01, 60.0)] = Field(
        60.0, description="From a packet's first fragment to its last; 60 s is the most that RFC 4944, 5.3, permits."
    )
    fade: Fade = Field(0.0, description="Loss of all links besides; those of both stations of a link add to it.")
    outage: bool = Field(False, description="True: all radios are off.")

    def gross_rate(self) -> float:
        return 250e3

    @model_validator(mode="after")
    def _check_roles(self) -> Self:
        coordinators = [name for name, station in self.stations.items() if station.role == "coordinator"]
        if self.mode == "star":
            the_only("coordinator", self.stations, "a star", "; or write `mode: peer`")
        if self.mode == "peer" and coordinators:
            raise ValueError(f"a peer network has no coordinator: leave `role` out of {', '.join(coordinators)}")
        if self.mode == "star" and self.stations[coordinators[0]].distance is not None:
            raise ValueError(f"{coordinators[0]} is the coordinator, from which distances are measured: give them to the others")
        return self

    @model_validator(mode="after")
    def _check_backoff(self) -> Self:
        if self.mac_min_be > self.mac_max_be:
            raise ValueError(
                f"mac_min_be {self.mac_min_be} is above mac_max_be {self.mac_max_be}; macMinBE is 0 to macMaxBE (Table 86)"
            )
        return self
