# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of an LTE network in YAML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_serializer, model_validator

from contracts.name import Name
from contracts.quantities import FREQUENCY, GAIN, LENGTH, POWER, RATE, TIME, Quantity
from netboxes.lte.bands import BANDS, CHANNEL_WIDTHS, RESOURCE_BLOCKS
from netboxes.lte.bearer_queue import BearerDiscipline, BearerQueue
from netboxes.mobility.stations import MobileStation, Position
from netboxes.queueing.queue import queue_or_short
from netboxes.roles import the_only
from netboxes.technology import Technology
from netboxes.timeline import TimeSeries

Distance = Annotated[float, Quantity(LENGTH, 1.0, 100e3)]
TxPower = Annotated[float, Quantity(POWER, -30.0, 60.0)]
UeTxPower = Annotated[float, Quantity(POWER, -40.0, 33.0)]
Gain = Annotated[float, Quantity(GAIN, -20.0, 30.0)]
NoiseFigure = Annotated[float, Quantity(GAIN, 0.0, 30.0)]
Fade = Annotated[float, Quantity(GAIN, 0.0, 100.0)]
FadeSeries = Annotated[list[tuple[float, float]], TimeSeries(Quantity(GAIN, 0.0, 100.0), "fade_db")]
Height = Annotated[float, Quantity(LENGTH, 1.0, 500.0)]
BearerRate = Annotated[float, Quantity(RATE, 1e3, 100e6)]
AnyQueue = Annotated[BearerQueue, queue_or_short(written=int | BearerDiscipline | BearerQueue, bytes="100 kB")]

#: QoS class identifiers with a guaranteed bit rate and without (TS 23.203, Table 6.1.7), as far as ns-3 knows them.
GUARANTEED = (1, 2, 3, 4, 65, 66)
NOT_GUARANTEED = (5, 6, 7, 8, 9, 69, 70)

#: Most EPS bearers of a UE, the default one included: eight data radio bearers (TS 36.331, 6.4, maxDRB is 11, of which a UE must
#: bear 8: TS 36.306, Annex B), as many as ns-3 has logical channels for.
MOST_BEARERS = 8

#: Most UEs: one uplink sounding resource each in one cell, of a period of 320 ms at most, half of them for UEs that come over.
MOST_TERMINALS = 150

RATES = ("uplink_rate", "downlink_rate", "uplink_maximum", "downlink_maximum")

#: Bits of the largest transport block of a subframe, MCS 28, by resource blocks (TS 36.213, Table 7.1.7.2.1-1, I_TBS 26).
LARGEST_BLOCK = {6: 4392, 15: 11064, 25: 18336, 50: 36696, 75: 55056, 100: 75376}


class Station(MobileStation):
    """The core's end, or one UE."""

    LIVE: ClassVar[frozenset[str]] = MobileStation.LIVE | {"distance", "tx_power", "fade", "outage", "handover"}

    role: Literal["gateway", "ue"] = Field(description="gateway: the network side of the PGW, exactly one; ue: everybody else.")
    distance: Distance | None = Field(None, description="Of a UE from the first eNodeB; default: the network's `distance`.")
    tx_power: UeTxPower | None = Field(None, description="Of a UE; default: the network's `ue_tx_power`.")
    fade: Fade | None = Field(
        None, description="Loss of a UE's links besides, beside the network's `fade`: an obstacle, a tunnel."
    )
    fade_series: FadeSeries | None = Field(None, description="The same over time, in straight lines between the points.")
    outage: bool = Field(False, description="True: a UE's radio is off.")
    handover: Name | None = Field(None, description="While it runs: hand the UE over to this eNodeB now.")

    @model_validator(mode="after")
    def _check_handover(self) -> Self:
        if self.handover is not None:
            raise ValueError(
                "`handover` can be changed while the network runs, not said beforehand: a UE chooses the strongest eNodeB; "
                "use an event, or `netboxit set`"
            )
        return self


class Enodeb(BaseModel):
    """A base station with one cell."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    position: Position = Field((0.0, 0.0, 0.0), description="Where it stands; its antenna is `enodeb_height` above.")
    tx_power: TxPower | None = Field(None, description="Default: the network's `tx_power`.")


class Bearer(BaseModel):
    """A dedicated EPS bearer (TS 23.401, 4.7.2.1) for the frames of one traffic class."""

    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True)

    traffic_class: str = Field(alias="class", description="A class that the netbox declares, or `default`.")
    qci: Literal[1, 2, 3, 4, 65, 66, 5, 6, 7, 8, 9, 69, 70] = Field(
        description="QoS class identifier (TS 23.203, Table 6.1.7): 1 to 4, 65, 66 with a guaranteed rate, the others without."
    )
    uplink_rate: BearerRate | None = Field(None, description="Guaranteed bit rate from the UE, of layer-3 packets.")
    downlink_rate: BearerRate | None = Field(None, description="Guaranteed bit rate to the UE.")
    uplink_maximum: BearerRate | None = Field(None, description="Maximum bit rate; what exceeds it is dropped. Default: none.")
    downlink_maximum: BearerRate | None = Field(None, description="Maximum bit rate; what exceeds it is dropped. Default: none.")
    arp: int = Field(8, ge=1, le=15, description="Priority level of allocation and retention, 1 first (TS 23.203, 6.1.7.3).")
    stations: list[str] | None = Field(None, min_length=1, description="The UEs that have this bearer; default: all.")

    @model_validator(mode="after")
    def _check_rates(self) -> Self:
        name = f"the bearer of class {self.traffic_class!r} with QCI {self.qci}"
        rates = [field for field in RATES if getattr(self, field) is not None]
        if self.qci in NOT_GUARANTEED and rates:
            raise ValueError(f"{name} guarantees no rate (TS 23.203, Table 6.1.7): leave out {', '.join(rates)}")
        if self.qci in GUARANTEED and self.uplink_rate is None and self.downlink_rate is None:
            raise ValueError(f"{name} guarantees a rate: give `uplink_rate`, `downlink_rate` or both")
        for direction in ("uplink", "downlink"):
            rate, maximum = getattr(self, f"{direction}_rate"), getattr(self, f"{direction}_maximum")
            if maximum is not None and maximum < (rate or 0.0):
                raise ValueError(f"{name} has an `{direction}_maximum` below its `{direction}_rate`")
        return self


class Parameters(Technology):
    """LTE with its core network: eNodeBs, UEs, and the gateway to the network behind the PGW."""

    LIVE: ClassVar[frozenset[str]] = frozenset({"distance", "tx_power", "ue_tx_power", "fade", "outage", "queue"})
    ANNOUNCES: ClassVar[frozenset[str]] = frozenset({"handover", "handover_failed", "link_down", "link_up"})
    #: ns-3 ends a simulation in which a base station with handover is made after its time 0 (LteEnbRrc::AddUeMeasReportConfig).
    STARTS_ANEW: ClassVar[bool] = False
    TELLS_LINKS: ClassVar[bool] = True
    TYPICAL: ClassVar = {"stations": {"responder": {"role": "ue"}, "core": {"role": "gateway"}}, "distance": "500 m"}

    stations: dict[str, Station] = Field(min_length=2, description="Exactly one gateway, the others `role: ue`.")
    enodebs: dict[Name, Enodeb] = Field(
        default_factory=lambda: {"enodeb": Enodeb()},
        min_length=1,
        max_length=20,
        description="Base stations; default: one.",
    )
    distance: Distance = Field(
        500.0, description="Of each UE from the first eNodeB, on the ground. UEs stand around it at equal angles."
    )
    resource_blocks: Literal[6, 15, 25, 50, 75, 100] = Field(
        50, description="Of the channel, both ways: 1.4, 3, 5, 10, 15 or 20 MHz (TS 36.101, Table 5.6-1)."
    )
    band: int = Field(3, description="E-UTRA operating band, FDD (TS 36.101, Table 5.5-1); default: 3 (1.8 GHz).")
    earfcn: int = Field(  # type: ignore[assignment]
        None, validate_default=False, description="Downlink channel number in the band (TS 36.101, 5.7.3); default: its middle."
    )
    tx_power: TxPower = Field(43.0, description="Of an eNodeB; 43 dBm for a macro cell of 5 MHz in TR 36.814, Table A.2.1.1-2.")
    ue_tx_power: UeTxPower = Field(23.0, description="Most that a UE sends with; 23 dBm for power class 3 (TS 36.101, 6.2.2).")
    uplink_power_control: bool = Field(
        True, description="UEs send no stronger than the eNodeB needs (TS 36.213, 5.1.1), or always with `ue_tx_power`."
    )
    antenna_gain: Gain = Field(0.0, description="Of the eNodeBs' antennas, in all directions.")
    ue_antenna_gain: Gain = Field(0.0, description="Of the UEs' antennas, in all directions.")
    noise_figure: NoiseFigure = Field(5.0, description="Of the eNodeBs' receivers (TR 36.814, Table A.2.1.1-2).")
    ue_noise_figure: NoiseFigure = Field(9.0, description="Of the UEs' receivers (TR 36.814, Table A.2.1.1-2).")
    enodeb_height: Height = Field(30.0, description="Of the eNodeBs' antennas above their positions.")
    ue_height: Height = Field(1.5, description="Of the UEs' antennas above their positions.")
    propagation: Literal["friis", "log-distance", "okumura-hata"] = Field(
        "friis",
        description="friis: free space; log-distance: free space up to 1 m, then with `path_loss_exponent`; okumura-hata: "
        "Hata's formula, above 1.5 GHz that of COST 231, in `environment`.",
    )
    path_loss_exponent: float = Field(3.5, ge=1.0, le=8.0, description="For propagation log-distance: 2 is free space.")
    environment: Literal["urban", "suburban", "open"] = Field("urban", description="For okumura-hata; a small city.")
    fading: Literal["none", "EPA", "EVA", "ETU"] = Field(
        "none", description="Multipath: Extended Pedestrian A, Vehicular A or Typical Urban (TS 36.104, Annex B.2)."
    )
    doppler: Annotated[float, Quantity(FREQUENCY, 0.1, 1000.0)] = Field(
        5.0, description="Greatest Doppler shift of the fading; with 1.8 GHz 5 Hz is 3 km/h. TS 36.104 has 5, 70 and 300 Hz."
    )
    fade: Fade = Field(0.0, description="Loss of all links besides: rain, smoke.")
    fade_series: FadeSeries | None = Field(None, description="The same over time, in straight lines between the points.")
    outage: bool | list[Name] = Field(
        False, description="eNodeBs that are off the air: true for all, or a list of their names, as in [west]."
    )
    scheduler: Literal["pf", "rr", "fdmt", "tdmt", "tta", "fdbet", "tdbet", "fdtbfq", "tdtbfq", "pss", "cqa"] = Field(
        "pf",
        description="Of the downlink: proportional fair, round robin, others of ns-3; the uplink is always round robin.",
    )
    uphold_guarantees: bool = Field(
        True,
        description="Guaranteed rates come first, both ways, whatever the scheduler; false: as ns-3's scheduler has it "
        "(pss alone looks at guarantees, in the downlink).",
    )
    harq: bool = Field(True, description="Hybrid ARQ: repeat what was not understood and combine the copies (TS 36.321, 5.3.2).")
    transmission_mode: Literal[0, 1, 2] = Field(
        0, description="0: one antenna; 1: transmit diversity; 2: spatial multiplexing, two layers (ns-3's numbers)."
    )
    adaptation: Literal["error-model", "piro"] = Field(
        "error-model",
        description="How a UE finds the CQI that its channel bears: by the block errors of ns-3's error model, at most 10 %; or "
        "from the SINR by the formula of Piro and others (European Wireless 2010), for a bit error rate of 5e-5.",
    )
    rlc: Literal["um", "am", "by-qci"] = Field(
        "um", description="Radio link control: unacknowledged, acknowledged, or by the error rate that the QCI asks for."
    )
    queue: AnyQueue = Field(
        BearerQueue(bytes="100 kB"),
        description="In front of each bearer's RLC entity, each way; a number is its packets, a word its discipline. "
        "Default: 100 kB.",
    )
    bearers: list[Bearer] = Field(
        default_factory=list, description="Beside each UE's default bearer (QCI 9), which has what no other one is for."
    )
    handover: Literal["none", "a3-rsrp", "a2-a4-rsrq"] = Field(
        "a3-rsrp", description="Over X2, on measurement event A3 of RSRP, or on A2 and A4 of RSRQ (TS 36.331, 5.5.4)."
    )
    handover_hysteresis: Annotated[float, Quantity(GAIN, 0.0, 15.0)] = Field(
        3.0, description="How much better the other cell must be, in steps of 0.5 dB (TS 36.331, 6.3.5)."
    )
    time_to_trigger: Annotated[float, Quantity(TIME, 0.0, 5.12)] = Field(
        0.256, description="For a3-rsrp: how long it must be so; one of the values of TS 36.331, 6.3.5, TimeToTrigger."
    )
    core_delay: Annotated[float, Quantity(TIME, 0.0, 1.0)] = Field(0.0, description="Of the S1-U link to each eNodeB, one way.")
    x2_delay: Annotated[float, Quantity(TIME, 0.0, 1.0)] = Field(0.0, description="Of the X2 links between eNodeBs, one way.")

    @field_serializer("enodebs", when_used="json")
    def _in_order(self, enodebs: dict[str, Enodeb]) -> list[dict[str, Any]]:
        """A list, because JSON's objects have no order, and distances are from the first one."""
        return [{"name": name, **enodeb.model_dump(mode="json")} for name, enodeb in enodebs.items()]

    def gross_rate(self) -> float:
        """What the largest transport blocks of both directions carry, with two layers in the downlink of transmission mode 2."""
        layers = 2 if self.transmission_mode == 2 else 1
        return LARGEST_BLOCK[self.resource_blocks] * (layers + 1) * 1e3

    def classes_used(self) -> dict[tuple[str | int, ...], str]:
        return {("bearers", number, "class"): bearer.traffic_class for number, bearer in enumerate(self.bearers)}

    @model_validator(mode="before")
    @classmethod
    def _middle_of_the_band(cls, data: object) -> object:
        if not isinstance(data, dict) or data.get("earfcn") is not None:
            return data
        band = data.get("band", 3)
        first, last = BANDS.get(band if isinstance(band, int) else 0, (0, 0))
        return {**data, "earfcn": (first + last + 1) // 2}

    @model_validator(mode="after")
    def _check_channel(self) -> Self:
        if self.band not in BANDS:
            raise ValueError(f"no FDD band {self.band} here; there are {', '.join(map(str, BANDS))} (TS 36.101, Table 5.5-1)")
        if self.resource_blocks not in CHANNEL_WIDTHS[self.band]:
            widths = ", ".join(map(str, CHANNEL_WIDTHS[self.band]))
            raise ValueError(
                f"band {self.band} has channels of {widths} resource blocks, not {self.resource_blocks} (TS 36.101, 5.6.1)"
            )
        first, last = BANDS[self.band]
        # The carrier must lie in the band as a whole (TS 36.101, 5.7.3); channel numbers count 100 kHz.
        half = round(RESOURCE_BLOCKS[self.resource_blocks] / 2 / 100e3)
        if not first + half <= self.earfcn <= last + 1 - half:
            width = FREQUENCY.write(RESOURCE_BLOCKS[self.resource_blocks])
            raise ValueError(
                f"a carrier of {width} in band {self.band} has an `earfcn` from {first + half} to {last + 1 - half}, "
                f"not {self.earfcn} (TS 36.101, 5.7.3)"
            )
        return self

    @model_validator(mode="after")
    def _check_stations(self) -> Self:
        core = the_only("gateway", self.stations, "an LTE network")
        gateway = self.stations[core]
        radio = ("distance", "position", "path", "wander", "tx_power", "fade", "fade_series")
        unfit = [key for key in radio if getattr(gateway, key) is not None] + ["outage"] * gateway.outage
        if unfit:
            raise ValueError(f"{core} is the gateway, behind the core network, and has no `{unfit[0]}`")
        if len(self.stations) - 1 > MOST_TERMINALS:
            raise ValueError(f"{len(self.stations) - 1} UEs are too many for one network; ns-3 can sound {MOST_TERMINALS}")
        if self.propagation == "okumura-hata":
            for name, height in self._heights():
                if height < 0.0:
                    raise ValueError(f"{name} is below ground (z {height:g} m), where the formula okumura-hata says nothing")
        return self

    @model_validator(mode="after")
    def _check_outage(self) -> Self:
        unknown = [name for name in self.outage if name not in self.enodebs] if isinstance(self.outage, list) else []
        if unknown:
            raise ValueError(f"`outage` names {unknown[0]!r}, which is no eNodeB; there are {', '.join(self.enodebs)}")
        return self

    @model_validator(mode="after")
    def _check_scheduler(self) -> Self:
        if self.scheduler == "cqa" and self.transmission_mode == 2:
            raise ValueError("scheduler cqa of ns-3 knows one layer: use another one, or transmission_mode 0 or 1")
        return self

    def _heights(self) -> Iterator[tuple[str, float]]:
        for name, enodeb in self.enodebs.items():
            yield name, enodeb.position[2]
        for name, station in self.stations.items():
            places: list[Any] = [station.position] if station.position else []
            places += [waypoint.position for waypoint in station.path or ()]
            places += station.wander.area if station.wander else ()
            yield from ((name, place[2]) for place in places)

    @model_validator(mode="after")
    def _check_bearers(self) -> Self:
        terminals = [name for name, station in self.stations.items() if station.role == "ue"]
        owned = [
            (name, bearer) for bearer in self.bearers for name in (terminals if bearer.stations is None else bearer.stations)
        ]
        for name, bearer in owned:
            if name not in terminals:
                raise ValueError(
                    f"the bearer of class {bearer.traffic_class!r} is for {name!r}, which is no UE; UEs: {', '.join(terminals)}"
                )
        for (name, traffic_class), times in Counter((name, bearer.traffic_class) for name, bearer in owned).items():
            if times > 1:
                raise ValueError(f"{name} has {times} bearers for class {traffic_class!r}; a class has one: remove the others")
        for name, number in Counter(name for name, _ in owned).items():
            if number + 1 > MOST_BEARERS:
                raise ValueError(
                    f"{name} has {number} bearers and the default one; a UE has {MOST_BEARERS} at most (TS 36.306, Annex B)"
                )
        return self
