# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of a TETRA-like network in YAML."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from contracts.quantities import FREQUENCY, GAIN, LENGTH, POWER, TIME, Quantity
from netboxes.mobility.stations import MobileStation
from netboxes.queueing.queue import Queue, queue_or_short
from netboxes.roles import the_only
from netboxes.technology import Technology

Distance = Annotated[float, Quantity(LENGTH, 1.0, 100e3)]
Fade = Annotated[float, Quantity(GAIN, 0.0, 100.0)]
AnyQueue = Annotated[Queue, queue_or_short(discipline="priority", packets=20, time="15 s")]
TxPower = Annotated[float, Quantity(POWER, 0.0, 50.0)]


class Station(MobileStation):
    """One station of the network."""

    LIVE: ClassVar[frozenset[str]] = frozenset({"position", "distance", "tx_power", "fade", "outage"})

    role: Literal["base", "terminal"] = Field("terminal", description="base: the base station; direct mode has none.")
    distance: Distance | None = Field(None, description="Instead of a position; default: the network's `distance`.")
    tx_power: TxPower | None = Field(None, description="Default: the network's `base_tx_power` or `tx_power`.")
    fade: Fade = Field(0.0, description="Of its links, beside the network's `fade`: a building, a tunnel.")
    outage: bool = Field(False, description="True: its radio is off.")


class Parameters(Technology):
    """Narrow-band professional mobile radio after TETRA (EN 300 392-2): packets over channels that are set up for them."""

    LIVE: ClassVar[frozenset[str]] = frozenset(
        {"distance", "tx_power", "fade", "slots", "call_setup_time", "hang_time", "outage", "queue"}
    )
    ANNOUNCES: ClassVar[frozenset[str]] = frozenset({"call_preempted", "link_down", "link_up"})
    TYPICAL: ClassVar = {"stations": {"terminal": {}, "base": {"role": "base"}}, "error_model": "none"}
    CALIBRATION_RATES: ClassVar = ((1.0, 6.0), (0.1, 0.4))

    stations: dict[str, Station] = Field(min_length=2, max_length=500, description="Trunked mode has exactly one base.")
    mode: Literal["trunked", "direct"] = Field(
        "trunked", description="trunked: all through the base station, with a control channel; direct: between terminals (DMO)."
    )
    carriers: int = Field(
        1,
        ge=1,
        le=16,
        description="Of 25 kHz with 4 time slots each; the first slot of the first one is the control channel. In direct "
        "mode each carries one call.",
    )
    slots: int = Field(1, ge=1, le=4, description="Time slots of a call; at most 3 with one carrier, 1 in direct mode.")
    protection: Literal["none", "low", "high"] = Field(
        "none", description="Net rate of a slot: 7.2, 4.8 or 2.4 kbit/s (TCH/7.2, TCH/4.8, TCH/2.4; EN 300 392-2, clause 8)."
    )
    acknowledged: bool = Field(
        True, description="Blocks that were lost are repeated (LLC advanced link), except in group calls, which never are."
    )
    retransmissions: int = Field(3, ge=0, le=15, description="Rounds of repetition of a packet's lost blocks.")
    call_setup_time: Annotated[float, Quantity(TIME, 0.0, 5.0)] = Field(
        0.3,
        description="From the access that succeeded, or the base's wish, to the traffic channel; TETRA promises 300 ms.",
    )
    hang_time: Annotated[float, Quantity(TIME, 0.0, 60.0)] = Field(
        1.0,
        description="A call without traffic keeps its channel for so long, unless another call needs it or one of its parties.",
    )
    turnaround_time: Annotated[float, Quantity(TIME, 0.0, 2.0)] = Field(
        0.1133, description="Half duplex: from the end of one's transmission to the other's; two TDMA frames."
    )
    floor_time: Annotated[float, Quantity(TIME, 0.1, 600.0)] = Field(
        5.0, description="Whoever sends for longer yields when another one in the call wants to."
    )
    longest_call: Annotated[float, Quantity(TIME, 1.0, 3600.0)] = Field(
        30.0, description="A call that is older is ended when others wait for a channel."
    )
    access_attempts: int = Field(5, ge=1, le=15, description="Random accesses before a terminal gives a packet up (Nu, 23.5.1).")
    access_timeout: int = Field(5, ge=1, le=15, description="TDMA frames until it is known that an access failed (WT, 23.5.1).")
    access_frame: int = Field(
        8, ge=1, le=32, description="Access opportunities among which the next one is drawn; two in each TDMA frame (23.5.1)."
    )
    emergency_class: str | None = Field(None, description="Traffic class whose calls pre-empt others.")
    queue: AnyQueue = Field(
        Queue(discipline="priority", packets=20, time="15 s"),
        description="At each station, to each party that it sends to; a number is its packets, a word its discipline. Default: "
        "priority, 20 packets of each class, 15 s.",
    )
    distance: Distance = Field(
        1000.0,
        description="trunked: of each terminal from the base, at equal angles around it; direct: across the circle of terminals.",
    )
    frequency: Annotated[float, Quantity(FREQUENCY, 150e6, 1e9)] = Field(390e6, description="150 MHz to 1 GHz.")
    tx_power: TxPower = Field(30.0, description="Of terminals; 30 dBm is power class 4, 1 W (EN 300 392-2, clause 6).")
    base_tx_power: TxPower = Field(44.0, description="Of the base station; 44 dBm is power class 2, 25 W.")
    antenna_gain: Annotated[float, Quantity(GAIN, -30.0, 20.0)] = Field(0.0, description="Of a terminal's antenna.")
    base_antenna_gain: Annotated[float, Quantity(GAIN, -30.0, 30.0)] = Field(0.0, description="Of the base station's.")
    sensitivity: Annotated[float, Quantity(POWER, -130.0, -80.0)] = Field(
        -103.0, description="Of terminals, dynamic (TU50): power with 2.2 % of raw bits wrong (EN 300 392-2, clause 6)."
    )
    base_sensitivity: Annotated[float, Quantity(POWER, -130.0, -80.0)] = Field(-106.0, description="Of the base station.")
    error_model: Literal["tu50", "static", "none"] = Field(
        "tu50",
        description="tu50: a Rayleigh fade for each TDMA frame; static: no fading; none: no errors within range.",
    )
    propagation: Literal["friis", "log-distance", "hata"] = Field(
        "hata",
        description="hata: Okumura-Hata, never less than free space; log-distance: free space up to 1 m, what direct mode has "
        "when nothing is said.",
    )
    path_loss_exponent: float = Field(3.5, ge=1.0, le=8.0, description="For propagation log-distance: 2 is free space.")
    environment: Literal["urban", "suburban", "open"] = Field("suburban", description="For propagation hata.")
    base_height: Annotated[float, Quantity(LENGTH, 30.0, 200.0)] = Field(30.0, description="For propagation hata, 30 m to 200 m.")
    terminal_height: Annotated[float, Quantity(LENGTH, 1.0, 10.0)] = Field(1.5, description="For propagation hata, 1 m to 10 m.")
    fade: Fade = Field(0.0, description="Loss of all links besides; those of both stations of a link add to it.")
    outage: bool = Field(False, description="True: all radios are off.")

    def gross_rate(self) -> float:
        return 36e3 * self.carriers

    def classes_used(self) -> dict[tuple[str | int, ...], str]:
        return {("emergency_class",): self.emergency_class} if self.emergency_class else {}

    @model_validator(mode="before")
    @classmethod
    def _fill_in_what_the_mode_implies(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        return {"propagation": "log-distance", **data} if data.get("mode") == "direct" else data

    @model_validator(mode="after")
    def _check_roles(self) -> Self:
        bases = [name for name, station in self.stations.items() if station.role == "base"]
        if self.mode == "trunked":
            the_only("base", self.stations, "trunked mode", "; or write `mode: direct`")
        if self.mode == "direct" and bases:
            raise ValueError(f"direct mode has no base station: leave `role` out of {', '.join(bases)}")
        if bases and self.stations[bases[0]].distance is not None:
            raise ValueError(f"{bases[0]} is the base, from which distances are measured: give them to the terminals")
        return self

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        if "everyone" in self.stations:
            raise ValueError("no station is named everyone: statistics call the queue of group calls so; choose another name")
        return self

    @model_validator(mode="after")
    def _check_propagation(self) -> Self:
        if self.mode == "direct" and self.propagation == "hata":
            raise ValueError("propagation hata is for bases of 30 m to 200 m: write log-distance or friis for direct mode")
        return self

    @model_validator(mode="after")
    def _check_slots(self) -> Self:
        if self.mode == "direct" and self.slots > 1:
            raise ValueError("direct mode has one slot a call (EN 300 396-2): leave `slots` out")
        if self.carriers == 1 and self.slots > 3:
            raise ValueError("one carrier has 3 slots beside the control channel: write `carriers: 2` for 4 slots, or `slots: 3`")
        return self
