# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of a satellite link in YAML. Limits of the live parameters are repeated in segment.cc."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from netboxes.technology import StationParameters, Technology
from testbed.quantities import RATE, TIME, Quantity


def _only_constant_rate(value: object) -> object:
    if value in ("RBDC", "VBDC", "AVBDC", "FCA"):
        raise ValueError(f"capacity_request {value} is not modelled yet; write CRA, a constant rate for each terminal")
    return value


class Station(StationParameters):
    """One station of the link."""

    role: Literal["gateway", "terminal"] = Field(description="gateway: the hub on the ground; terminal: everybody else.")


class Parameters(Technology):
    """A geostationary satellite link after DVB-RCS2: a return carrier for each terminal, one forward carrier for all."""

    LIVE: ClassVar[frozenset[str]] = frozenset({"delay", "return_rate", "forward_rate", "packet_error_rate", "outage"})
    TYPICAL: ClassVar = {
        "stations": {"hub": {"role": "gateway"}, "terminal": {"role": "terminal"}},
        "return_rate": "10 Mbit/s",
        "forward_rate": "10 Mbit/s",
    }

    stations: dict[str, Station] = Field(min_length=2, description="Exactly one gateway, the others `role: terminal`.")
    delay: Annotated[float, Quantity(TIME, 0.0, 5.0)] = Field(
        0.254, description="Propagation from ground to ground, one way, 0 to 5 s; 254 ms for 76 000 km."
    )
    return_rate: Annotated[float, Quantity(RATE, 1e3, 1e9)] = Field(
        description="Of each terminal, 1 kbit/s to 1 Gbit/s: what its bursts carry, encapsulation included."
    )
    forward_rate: Annotated[float, Quantity(RATE, 1e3, 1e9)] = Field(
        description="Of the gateway, for all terminals together, 1 kbit/s to 1 Gbit/s: BBFRAMEs with all their headers."
    )
    packet_error_rate: float = Field(
        0.0, ge=0.0, le=1.0, description="Probability that a packet is lost on a way up and down, whatever its length."
    )
    capacity_request: Annotated[Literal["CRA"], BeforeValidator(_only_constant_rate)] = Field(
        "CRA", description="CRA: constant rate assignment, slots at equal distances."
    )
    return_waveform: int = Field(
        14, ge=3, le=22, description="Reference waveform of a burst (EN 301 545-2, Annex A); 14: QPSK 1/2, 188 bytes."
    )
    forward_frame: Literal["short", "normal"] = Field("short", description="FECFRAME: 16 200 or 64 800 bits (EN 302 307-1).")
    forward_code_rate: Literal["1/4", "1/3", "2/5", "1/2", "3/5", "2/3", "3/4", "4/5", "5/6", "8/9", "9/10"] = Field(
        "3/4", description="Of the forward channel's LDPC code; with the FECFRAME it sets a BBFRAME's size."
    )
    connectivity: Literal["star", "mesh"] = Field(
        "star", description="Between terminals: through the gateway (two hops), or directly (one hop)."
    )
    priority: bool = Field(
        False, description="Serve the netbox's traffic classes strictly in the order of their declaration, or all as they come."
    )
    queue_time: Annotated[float, Quantity(TIME, 1e-3, 60.0)] = Field(
        0.5, description="Room in each queue, as the time in which its channel sends it; default: about one round trip."
    )
    outage: bool = Field(False, description="True: nothing passes.")

    def gross_rate(self) -> float:
        return self.forward_rate + (len(self.stations) - 1) * self.return_rate

    @model_validator(mode="after")
    def _check_roles(self) -> Self:
        gateways = [name for name, station in self.stations.items() if station.role == "gateway"]
        if len(gateways) != 1:
            found = ", ".join(gateways) or "none"
            raise ValueError(f"a satellite link has exactly one station with `role: gateway` (found: {found})")
        return self

    @model_validator(mode="after")
    def _check_code_rate(self) -> Self:
        if self.forward_frame == "short" and self.forward_code_rate == "9/10":
            raise ValueError(
                "short FECFRAMEs have no code rate 9/10 (EN 302 307-1, Table 5b); use 8/9, or `forward_frame: normal`"
            )
        return self
