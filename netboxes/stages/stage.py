# SPDX-License-Identifier: GPL-2.0-or-later
"""The stages of a netbox's ports: their keys in YAML, the same in every technology, and the numbers that the C++ reads."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_serializer, model_validator
from pydantic.fields import FieldInfo

from applications.dscp import Dscp
from contracts.errors import AtPlaces
from contracts.netbox_configuration import Limit
from contracts.quantities import RATE, SIZE, TIME, Quantity
from netboxes.limits import limit_of, limits_of
from netboxes.technology import StationParameters

#: Of a port. Each one reads each packet.
MOST_STAGES: Final = 16
#: Of what stages tell (`Read` in C++): how things are now, some in bit/s. All other numbers count what has happened.
RATES: Final = frozenset({"free", "share", "budgeted"})
LEVELS: Final = RATES | {"flows", "good", "bad", "incomplete", "idle", "mss", "nodes"}
#: Words in the place of numbers, for which the C++ has null: a flow's life, the rate of the station's link.
_LIFE: Final = "life"
NETBOX: Final = "netbox"
#: Times that may be a flow's life.
_RttWindow = Annotated[float, Quantity(TIME, 0.1, 3600.0)]
_Idle = Annotated[float, Quantity(TIME, 0.1, 3600.0)]
_Rate = Annotated[float, Quantity(RATE, 1e3, 100e9)]
_Budget = _Rate


def _address(text: str) -> str:
    """As the C++ has it. Raises ValueError."""
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        raise ValueError(f"{text!r} is no IP address; write one, like 10.0.0.1") from None


_Node = Annotated[str, AfterValidator(_address)]


class Stage(BaseModel):
    """What looks at packets between a station's port and the segment, and may change or drop them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: What each kind has, and the default: … must be said, None is null for the C++, too.
    _OF: ClassVar[dict[str, dict[str, Any]]] = {
        "pink": {
            **{"rate": ..., "exploitation": 0.95, "accounting": "fixed", "reallocation": "base"},
            **{"rtt_window": 10.0, "syn_guard": False, "idle": 2.0},
        },
        # RFC 2475, 2.3.3. The usual burst follows from the rate.
        "police": {"rate": ..., "burst": None, "direction": "entering", "per": "port"},
        "mark": {"dscp": None, "rate": None, "excess_dscp": None, "burst": None, "direction": "entering", "per": "port"},
        # The tolerance is that of clients 1 ms before a gateway with 700 ms behind it (Grazia, 3.1.5).
        "qrm": {
            **{"rate": ..., "budgets": {}, "police": "bucket", "tolerance": 702 / 700, "rtt": 0.1},
            **{"rtt_window": 10.0, "idle": 10.0, "nodes": 1024},
        },
        "green": {"rate": ..., "k": 1.0, "sampling": 1.0, "mss": None, "rtt_window": 10.0, "ecn": False},
    }

    stage: Literal["pink", "police", "mark", "qrm", "green"] = Field(
        description="pink: TCP shares the link without drops, by smaller windows in its ACKs (Casoni et al., Computer "
        "Communications 103, 2017); police, mark: what exceeds a rate is dropped, or has another DSCP (RFC 2475); qrm: no node "
        "exceeds its budget (Grazia's dissertation, 3.1); green: each TCP flow loses what makes its share the same (Feng et al., "
        "GLOBECOM 2002)."
    )
    rate: _Rate | Literal["netbox"] | None = Field(
        None,
        description="pink, qrm, green: of the bottleneck behind this port; police: above which packets are dropped; mark: above "
        "which they have `excess_dscp`. All but mark need it, and can have `netbox`: what the station's link carries now.",
    )
    exploitation: float | None = Field(
        None, ge=0.01, le=1.0, description="pink: share of `rate` that TCP's payload may take, headers take the rest; 0.95."
    )
    accounting: Literal["fixed", "exact"] | None = Field(
        None,
        description="pink: fixed: `exploitation` is that of all flows; exact: each flow's own, by its largest packets; fixed.",
    )
    reallocation: Literal["none", "literal", "base"] | None = Field(
        None,
        description="pink: what becomes of the bandwidth that a flow with a small window leaves: nobody's (none), the others' "
        "(base), or by Eq 2 of the source, which diverges (literal); base.",
    )
    syn_guard: bool | None = Field(
        None, description="pink: connections of which nothing but SYNs came for 3 s have no share; false."
    )
    burst: Annotated[float, Quantity(SIZE, 1500.0, 1e9)] | None = Field(
        None, description="police, mark: what may come at once; what `rate` sends in 100 ms, at least 15 kB."
    )
    direction: Literal["entering", "leaving", "both"] | None = Field(
        None, description="police, mark: packets from the node at the port, to it, or both, each by themselves; entering."
    )
    per: Literal["port", "node"] | None = Field(
        None, description="police, mark: whether all packets share one rate, or each IP address of the node's side has it; port."
    )
    dscp: Dscp | None = Field(None, description="mark: of packets within `rate`, or of all without one; as they have it.")
    excess_dscp: Dscp | None = Field(None, description="mark: of packets above `rate`; as they have it.")
    budgets: dict[_Node, _Budget] | None = Field(
        None,
        max_length=16_384,
        description="qrm: of nodes, by IP address; others have equal shares of what these leave: {10.0.0.1: 1 Mbit/s}.",
    )
    police: Literal["bucket", "reset"] | None = Field(
        None,
        description="qrm: by a token bucket, or by a counter that each round-trip time sets to 0, as the source has it; bucket.",
    )
    tolerance: float | None = Field(
        None, ge=1.0, le=10.0, description="qrm: how much more than its budget times its round-trip time may come; 702/700."
    )
    rtt: Annotated[float, Quantity(TIME, 1e-4, 60.0)] | None = Field(
        None, description="qrm: of a node whose TCP has shown none yet; 100 ms."
    )
    idle: _Idle | Literal["life"] | None = Field(
        None,
        description="qrm: a node that sends nothing for so long has no share; 10 s. pink: a flow whose node sends no payload for "
        "so long, and for two round-trip times, has none until it does; 2 s; life: it has one while it lives, as in the source.",
    )
    nodes: int | None = Field(
        None, ge=1, le=16_384, description="qrm: nodes without a budget that are told apart; further ones share one share; 1024."
    )
    k: float | None = Field(
        None,
        ge=0.01,
        le=10.0,
        description="green: of TCP's rate with losses; 1.22 without delayed ACKs, 0.87 with; 1.",
    )
    sampling: Annotated[float, Quantity(TIME, 0.01, 60.0)] | None = Field(
        None, description="green: over which flows are counted; 1 s."
    )
    mss: int | None = Field(None, ge=48, le=65_535, description="green: bytes; the largest segment that was seen.")
    ecn: bool | None = Field(
        None, description="green: packets that are capable of ECN (RFC 3168) are marked, not dropped; false."
    )
    rtt_window: _RttWindow | Literal["life"] | None = Field(
        None, description="pink, qrm, green: a round-trip time is the smallest one of this time, or of a flow's life; 10 s."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        own = self._OF[self.stage]
        given = {key for key in self.model_fields_set if key != "stage" and getattr(self, key) is not None}
        wrong: dict[tuple[str | int, ...], str] = {
            (key,): f"{self.stage} has no {key}; it has {', '.join(own)}" for key in sorted(given - own.keys())
        }
        missing = [key for key, default in own.items() if default is ... and key not in given]
        if missing:
            wrong[()] = f"{self.stage} needs {', '.join(missing)}; add {missing[0]}: …"
        if self.stage == "mark":
            wrong |= self._wrong_marks()
        if self.stage == "qrm" and self.idle == _LIFE:
            wrong["idle",] = "qrm has a time here: a node has no end that it tells; say one, as 10 s"
        if wrong:
            raise AtPlaces(wrong)
        return self

    def _wrong_marks(self) -> dict[tuple[str | int, ...], str]:
        if self.rate == NETBOX:
            return {("rate",): "mark has no rate of the netbox; say one"}
        if self.dscp is None and self.excess_dscp is None:
            return {(): "mark needs a DSCP to set; add dscp: af41, or rate: … and excess_dscp: …"}
        if self.rate is None:
            return {
                (key,): f"{key} is of a `rate` that packets can exceed; say the rate, or leave it out"
                for key in ("excess_dscp", "burst", "per")
                if getattr(self, key) is not None
            }
        return {}

    @model_serializer
    def _dump(self) -> dict[str, Any]:
        defaults = self._OF[self.stage]
        own = {key: default if getattr(self, key) is None else getattr(self, key) for key, default in defaults.items()}
        return {"stage": self.stage, **{key: None if value in (_LIFE, NETBOX) else value for key, value in own.items()}}

    @classmethod
    def limit(cls) -> Limit:
        return {
            "keys": {"stage": limit_of(cls.model_fields["stage"])},
            "cases": {"stage": {kind: cls._limits(own) for kind, own in cls._OF.items()}},
        }

    @classmethod
    def _limits(cls, own: dict[str, Any]) -> dict[str, Limit]:
        limits = limits_of(cls, *own)
        for key in (key for key, default in own.items() if default is None):
            limits[key] = {**limits[key], "optional": True}
        limits["rate"] = {**limit_of(FieldInfo.from_annotation(_Rate)), "optional": True}
        for key, time in (("rtt_window", _RttWindow), ("idle", _Idle)):
            if key in limits:
                limits[key] = {**limit_of(FieldInfo.from_annotation(time)), "optional": True}
        return limits


Stages = Annotated[list[Stage], Field(max_length=MOST_STAGES)]


class StationStages(StationParameters):
    """What each station of any technology has besides its own parameters, as "station.stages"."""

    LIVE: ClassVar[frozenset[str]] = frozenset({"stages"})

    stages: Stages = Field([], description="In the order in which packets from its node pass them.")
