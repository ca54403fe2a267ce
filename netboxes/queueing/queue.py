# SPDX-License-Identifier: GPL-2.0-or-later
"""The queue in front of a transmitter: its keys in YAML, the same in every technology, and the numbers that the C++ reads."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_serializer, model_validator

from contracts.netbox_configuration import Limit
from contracts.quantities import SIZE, TIME, Quantity
from netboxes.limits import limit_of, limits_of

Discipline = Literal[
    "fifo", "priority", "codel", "fq-codel", "pie", "red", "ared", "dualpi2", "drr", "scfq", "wf2q+", "qfq", "qfq+"
]

#: What limits how much may wait, and with how long it may wait what every discipline has.
_MOST = ("packets", "bytes", "buffer")
_COMMON = (*_MOST, "time")


class Queue(BaseModel):
    """Frames that wait to be sent; which of them go when, and which are dropped."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: What belongs to one discipline only, and the default of what is not the same in all.
    #: Whether they mark is as in Linux, where fq_codel alone does so by itself: a lab is compared with a router of like settings.
    _OF: ClassVar[dict[str, dict[str, float]]] = {
        "fifo": {},
        "priority": {},
        "codel": {"target": 0.005, "interval": 0.1, "ecn": False},  # RFC 8289, 4.2 and 4.3
        "fq-codel": {"target": 0.005, "interval": 0.1, "flows": 1024, "quantum": 1514.0, "ecn": True},  # RFC 8290, 5.2
        "pie": {"target": 0.015, "interval": 0.015, "burst": 0.15, "ecn": False},  # RFC 8033, 5.1
        "red": {
            "minimum": 5,
            "maximum": 15,
            "probability": 0.1,
            "weight": 0.002,
            "ecn": False,
        },  # Floyd's recommendations of 1997
        "ared": {"target": 0.005, "interval": 0.5, "ecn": False},  # Floyd, Gummadi and Shenker 2001, 4
        # RFC 9332, appendix A.1; what that leaves open as in Linux's sch_dualpi2: step, and the classic queue's share.
        "dualpi2": {
            **{"target": 0.015, "interval": 0.015, "rtt": 0.1, "coupling": 2.0},
            **{"step": 0.001, "protection": 0.1, "shift": 0.0},
        },
        # Lines as FQ-CoDel has; a quantum of the longest packet, so that each turn sends one (Shreedhar and Varghese 1996).
        "drr": {"flows": 1024, "quantum": 1514.0},
        "scfq": {"flows": 1024},
        "wf2q+": {"flows": 1024},
        "qfq": {"flows": 1024, "quantum": 1514.0},
        "qfq+": {"flows": 1024, "quantum": 1514.0},
    }

    discipline: Discipline = Field(
        "fifo",
        description="fifo: drop-tail; priority: by traffic class; CoDel: RFC 8289; FQ-CoDel: RFC 8290; PIE: RFC 8033; RED: Floyd "
        "and Jacobson 1993; ared: Floyd, Gummadi and Shenker 2001; dualpi2: RFC 9332; drr: Shreedhar and Varghese 1996; "
        "scfq: Golestani 1994; wf2q+: Bennett and Zhang 1997; qfq: Checconi, Rizzo and Valente 2013; qfq+: Valente 2014.",
    )
    packets: int | None = Field(
        None, ge=1, le=1_000_000, description="That may wait, besides the one that is sent. A limit that is not said is none."
    )
    bytes: Annotated[float, Quantity(SIZE, 1514.0, 2e9)] | None = Field(None, description="That may wait.")
    buffer: Annotated[float, Quantity(TIME, 1e-3, 60.0)] | None = Field(
        None, description="That may wait: what the present rate sends in this time."
    )
    time: Annotated[float, Quantity(TIME, 1e-3, 25.0)] | None = Field(
        None, description="A packet that waits for longer is lost (`queue_expired`), at the latest when its turn comes."
    )
    target: Annotated[float, Quantity(TIME, 1e-4, 10.0)] | None = Field(
        None, description="codel, fq-codel, pie, ared, dualpi2: time in the queue that is aimed at; 5 ms, pie and dualpi2 15 ms."
    )
    interval: Annotated[float, Quantity(TIME, 1e-3, 60.0)] | None = Field(
        None, description="codel, fq-codel: a round trip, 100 ms; pie, ared, dualpi2: time between updates, 15 ms, ared 0.5 s."
    )
    burst: Annotated[float, Quantity(TIME, 0.0, 60.0)] | None = Field(
        None, description="pie: bursts that are let through, 150 ms."
    )
    flows: int | None = Field(
        None, ge=1, le=65536, description="fq-codel, drr, scfq, wf2q+, qfq, qfq+: lines that flows are hashed to, 1024."
    )
    quantum: Annotated[float, Quantity(SIZE, 64.0, 65536.0)] | None = Field(
        None, description="fq-codel, drr: what a flow may send in its turn; qfq, qfq+: the longest packet; 1514 B."
    )
    minimum: float | None = Field(None, ge=1, le=1e6, description="red: mean length below which nothing is dropped, 5 packets.")
    maximum: float | None = Field(
        None, ge=1, le=1e6, description="red: mean length at which `probability` is dropped, 15 packets."
    )
    probability: float | None = Field(None, ge=1e-6, le=1.0, description="red: of a drop at the maximum, 0.1.")
    weight: float | None = Field(None, ge=1e-6, le=1.0, description="red: of the present length in the mean, 0.002.")

    ecn: bool | None = Field(
        None,
        description="codel, fq-codel, pie, red, ared: packets that are capable of ECN (RFC 3168) are marked, not dropped early; "
        "fq-codel true, the others false, as in Linux.",
    )

    rtt: Annotated[float, Quantity(TIME, 1e-3, 60.0)] | None = Field(
        None, description="dualpi2: the longest round trip that is expected, from which the controller's gains follow, 100 ms."
    )
    coupling: float | None = Field(
        None,
        ge=0.1,
        le=100,
        description="dualpi2: k, by which the L4S queue's probability is more than the square root of the classic one's, 2.",
    )
    step: Annotated[float, Quantity(TIME, 1e-5, 10.0)] | None = Field(
        None, description="dualpi2: L4S packets that have waited for longer are marked, 1 ms."
    )
    protection: float | None = Field(
        None,
        ge=0.001,
        le=0.999,
        description="dualpi2: share of the transmitter that is the classic queue's while both wait, 0.1.",
    )
    shift: Annotated[float, Quantity(TIME, 0.0, 10.0)] | None = Field(
        None,
        description="dualpi2: the packet that waits longest goes, L4S packets counted as this much older; 0 s: by `protection`.",
    )

    @property
    def settings(self) -> dict[str, float]:
        """What the discipline has besides its limits."""
        defaults = self._OF[self.discipline]
        return {key: default if getattr(self, key) is None else getattr(self, key) for key, default in defaults.items()}

    @model_validator(mode="after")
    def _check(self) -> Self:
        given_keys = {key for key in self.model_fields_set if getattr(self, key) is not None}
        if strange := sorted(given_keys - {"discipline", *_COMMON} - self._OF[self.discipline].keys()):
            own = ", ".join(self._OF[self.discipline]) or "nothing of its own"
            raise ValueError(f"{self.discipline} has no {', '.join(strange)}; it has {own}")
        if self.discipline == "red" and self.settings["minimum"] >= self.settings["maximum"]:
            raise ValueError("red: `minimum` must be less than `maximum`")
        if self.discipline == "dualpi2" and self.settings["step"] > self.settings["target"]:
            raise ValueError(
                "dualpi2: `step` must not be more than `target`, or L4S packets wait for longer than classic ones; write less"
            )
        return self

    @model_serializer
    def _dump(self) -> dict[str, Any]:
        return {"discipline": self.discipline, **{key: getattr(self, key) for key in _COMMON}, **self.settings}

    @classmethod
    def limit(cls) -> Limit:
        common = {key: limit_of(cls.model_fields[key]) for key in ("discipline", *_COMMON)}
        return {"keys": common, "cases": {"discipline": {name: limits_of(cls, *own) for name, own in cls._OF.items() if own}}}


def queue_or_short(discipline: Discipline = "fifo", **usual: float | str) -> BeforeValidator:
    """Takes a number for packets, a word for a discipline; adds a technology's usual discipline and limits where none of their
    kind is said."""

    def complete(value: object) -> object:
        if isinstance(value, int) and not isinstance(value, bool):
            value = {"packets": value}
        elif isinstance(value, str):
            value = {"discipline": value}
        if not isinstance(value, dict):
            return value
        given_keys = {key for key, limit in value.items() if limit is not None}
        if not given_keys.isdisjoint(_MOST):
            given_keys.update(_MOST)
        defaults = {key: limit for key, limit in usual.items() if key not in given_keys}
        return {"discipline": discipline, **value, **defaults}

    return BeforeValidator(complete, json_schema_input_type=int | Discipline | Queue)
