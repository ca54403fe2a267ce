# SPDX-License-Identifier: GPL-2.0-or-later
"""The stages of a netbox's ports: their keys in YAML, the same in every technology, and the numbers that the C++ reads."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_serializer, model_validator
from pydantic.fields import FieldInfo

from contracts.errors import AtPlaces
from contracts.netbox_configuration import Limit
from contracts.quantities import RATE, TIME, Quantity
from netboxes.limits import limit_of, limits_of
from netboxes.technology import StationParameters

#: Of a port. Each one reads each packet.
MOST_STAGES: Final = 16
_LIFE: Final = "life"
_RttWindow = Annotated[float, Quantity(TIME, 0.1, 3600.0)]


class Stage(BaseModel):
    """What looks at packets between a station's port and the segment, and may change or drop them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: What each kind has, and the default; without one (…) it must be said.
    _OF: ClassVar[dict[str, dict[str, Any]]] = {
        "pink": {
            **{"rate": ..., "exploitation": 0.95, "accounting": "fixed", "reallocation": "base"},
            **{"rtt_window": 10.0, "syn_guard": False},
        },
    }

    stage: Literal["pink"] = Field(
        description="pink: TCP shares the link without drops, by smaller windows in its ACKs (Casoni et al., Computer "
        "Communications 103, 2017)."
    )
    rate: Annotated[float, Quantity(RATE, 1e3, 100e9)] | None = Field(
        None, description="pink: of the bottleneck behind this port; it must be said."
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
    rtt_window: _RttWindow | Literal["life"] | None = Field(
        None, description="pink: a flow's round-trip time is its smallest one of this time, or of its life; 10 s."
    )
    syn_guard: bool | None = Field(
        None, description="pink: connections of which nothing but SYNs came for 3 s have no share; false."
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
        if wrong:
            raise AtPlaces(wrong)
        return self

    @model_serializer
    def _dump(self) -> dict[str, Any]:
        """The C++ has null for a flow's life."""
        defaults = self._OF[self.stage]
        own = {key: default if getattr(self, key) is None else getattr(self, key) for key, default in defaults.items()}
        return {"stage": self.stage, **{key: None if value == _LIFE else value for key, value in own.items()}}

    @classmethod
    def limit(cls) -> Limit:
        return {
            "keys": {"stage": limit_of(cls.model_fields["stage"])},
            "cases": {"stage": {kind: cls._limits(*own) for kind, own in cls._OF.items()}},
        }

    @classmethod
    def _limits(cls, *keys: str) -> dict[str, Limit]:
        limits = limits_of(cls, *keys)
        if "rtt_window" in limits:
            limits["rtt_window"] = {**limit_of(FieldInfo.from_annotation(_RttWindow)), "optional": True}
        return limits


Stages = Annotated[list[Stage], Field(max_length=MOST_STAGES)]


class StationStages(StationParameters):
    """What each station of any technology has besides its own parameters, as "station.stages"."""

    LIVE: ClassVar[frozenset[str]] = frozenset({"stages"})

    stages: Stages = Field([], description="In the order in which packets from its node pass them.")
