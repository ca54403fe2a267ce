# SPDX-License-Identifier: GPL-2.0-or-later
"""The queue in front of a transmitter: its keys in YAML, the same in every technology, and the numbers that the C++ reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, Self, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SerializationInfo, model_serializer, model_validator
from pydantic.fields import FieldInfo

from contracts.errors import AtPlaces
from contracts.netbox_configuration import Limit
from contracts.quantities import RATE, SIZE, TIME, Quantity
from netboxes.limits import limit_of, limits_of

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

Discipline = Literal[
    "fifo",
    "priority",
    "codel",
    "fq-codel",
    "cake",
    "pie",
    "red",
    "ared",
    "dualpi2",
    "drr",
    "scfq",
    "wf2q+",
    "qfq",
    "qfq+",
    "modular",
]

#: What limits how much may wait; what is of a whole queue, and not of a class's; and both, which every discipline has.
_MOST = ("packets", "bytes", "buffer")
_OF_WHOLE = ("time", "rate", "overhead")
_COMMON = (*_MOST, *_OF_WHOLE)
#: What gives a queue lines by traffic class.
_BY_CLASS = ("weights", "inner", "classes")
_WEIGHTED = ("drr", "scfq", "wf2q+", "qfq", "qfq+")
#: What the netbox sorts into no class that it declares is in this one.
OTHERS: Final = "default"
#: In the context of a serialization: the classes that the netbox declares, in their order. Without it there are none.
CLASSES: Final = "classes"
#: Disciplines of one technology alone, and what is said of each where it cannot be.
_ELSEWHERE = {
    name: f"{name} knows the bearer of an eNodeB, so it is a discipline of the whole `queue` of a netbox that has one"
    for name in ("codel-second", "cqi", "qoe")
}
#: What only `modular` has besides its limits and settings.
_LAYERS = ("qos", "mac")
#: Bytes of the longest packet, an Ethernet frame without its FCS.
_LONGEST = 1514.0
#: Of prefetched packets.
_MOST_PREFETCHED = 10_000
_TOO_DEEP = "nesting too deep: the queue of a class has no classes of its own; say a discipline for one line"
_NO_RATE = (
    "`rate` needs a transmitter that waits for its queue: this technology's asks when its own schedule says so; leave it out, "
    "or put a netbox of a technology that has it in front"
)
_NO_CHANNELS = (
    "modular needs the state of each receiver's radio channel, which this technology does not tell its queues; "
    "use wf2q+ or qfq+, with `weights` for classes"
)


_PACKETS = r"\s*(\d{1,9})\s*packets?\s*"


class _OrPackets:
    """In the schema, too."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [handler(schema), {"type": "string", "pattern": f"^{_PACKETS}$"}]}


def _packets_or_size(value: object) -> object:
    """ "100 packets" are so many of the longest."""
    match = re.fullmatch(_PACKETS, value) if isinstance(value, str) else None
    if match is None:
        return value
    packets = int(match[1])
    if packets > _MOST_PREFETCHED:
        raise ValueError(f"{packets} packets are outside 0 … {_MOST_PREFETCHED} packets")
    return f"{packets * _LONGEST} B"


Prefetched = Annotated[
    Annotated[float, Quantity(SIZE, 0.0, _MOST_PREFETCHED * _LONGEST)],
    BeforeValidator(_packets_or_size),
    _OrPackets(),
]


def _not_elsewhere(name: object) -> object:
    if isinstance(name, str) and name in _ELSEWHERE:
        raise ValueError(f"{_ELSEWHERE[name]}; use one of {', '.join(get_args(Discipline))} here")
    return name


class InnerQueue(BaseModel):
    """Frames of one traffic class that wait to be sent; which of them go when, and which are dropped."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: What belongs to one discipline only, and the default of what is not the same in all.
    #: Whether they mark is as in Linux, where fq_codel alone does so by itself: a lab is compared with a router of like settings.
    _OF: ClassVar[dict[str, dict[str, Any]]] = {
        "fifo": {},
        "priority": {},
        "codel": {"target": 0.005, "interval": 0.1, "ecn": False},  # RFC 8289, 4.2 and 4.3
        "fq-codel": {"target": 0.005, "interval": 0.1, "flows": 1024, "quantum": 1514.0, "ecn": True},  # RFC 8290, 5.2
        # As Linux's sch_cake, which marks always.
        "cake": {
            **{"target": 0.005, "interval": 0.1, "flows": 1024, "quantum": 1514.0},
            **{"isolation": "triple-isolate", "ecn": True},
        },
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
        # 100 packets are where the source's results begin to be good (Grazia, 4.2.5.4).
        "modular": {"flows": 1024, "quantum": _LONGEST, "prefetch": 100 * _LONGEST},
    }

    discipline: Annotated[Discipline, BeforeValidator(_not_elsewhere, json_schema_input_type=Discipline)] = Field(
        "fifo",
        description="fifo: drop-tail; priority: by traffic class; CoDel: RFC 8289; FQ-CoDel: RFC 8290; cake: Høiland-Jørgensen, "
        "Täht and Morton 2018; PIE: RFC 8033; RED: Floyd and Jacobson 1993; ared: Floyd, Gummadi and Shenker 2001; dualpi2: "
        "RFC 9332; drr: Shreedhar and Varghese 1996; scfq: Golestani 1994; wf2q+: Bennett and Zhang 1997; qfq: Checconi, Rizzo "
        "and Valente 2013; qfq+: Valente 2014; modular: Grazia's dissertation, where a technology tells of radio channels.",
    )
    packets: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="That may wait, besides the one that is sent; with lines by traffic class, of each one. A limit that is not "
        "said is none.",
    )
    bytes: Annotated[float, Quantity(SIZE, 1514.0, 2e9)] | None = Field(None, description="That may wait.")
    buffer: Annotated[float, Quantity(TIME, 1e-3, 60.0)] | None = Field(
        None, description="That may wait: what the present rate sends in this time."
    )
    time: Annotated[float, Quantity(TIME, 1e-3, 25.0)] | None = Field(
        None, description="A packet that waits for longer is lost (`queue_expired`), at the latest when its turn comes."
    )
    rate: Annotated[float, Quantity(RATE, 1e3, 100e9)] | None = Field(
        None,
        description="Of the queue itself, where the technology has transmitters that wait for it: packets go no faster, and none "
        "in bursts. Default: as fast as the transmitter.",
    )
    overhead: Annotated[float, Quantity(SIZE, 0.0, 256.0)] | None = Field(
        None, description="Bytes that `rate` counts for each packet besides those that the queue counts, 0 B."
    )
    target: Annotated[float, Quantity(TIME, 1e-4, 10.0)] | None = Field(
        None,
        description="codel, fq-codel, cake, pie, ared, dualpi2: time in the queue that is aimed at; 5 ms, pie and dualpi2 15 ms.",
    )
    interval: Annotated[float, Quantity(TIME, 1e-3, 60.0)] | None = Field(
        None,
        description="codel, fq-codel, cake: a round trip, 100 ms; pie, ared, dualpi2: time between updates, 15 ms, ared 0.5 s.",
    )
    burst: Annotated[float, Quantity(TIME, 0.0, 60.0)] | None = Field(
        None, description="pie: bursts that are let through, 150 ms."
    )
    flows: int | None = Field(
        None,
        ge=1,
        le=65536,
        description="fq-codel, cake, drr, scfq, wf2q+, qfq, qfq+, modular: lines that flows are hashed to, 1024.",
    )
    quantum: Annotated[float, Quantity(SIZE, 64.0, 65536.0)] | None = Field(
        None, description="fq-codel, cake, drr: what a flow may send in its turn; qfq, qfq+, modular: the longest packet; 1514 B."
    )
    minimum: float | None = Field(None, ge=1, le=1e6, description="red: mean length below which nothing is dropped, 5 packets.")
    maximum: float | None = Field(
        None, ge=1, le=1e6, description="red: mean length at which `probability` is dropped, 15 packets."
    )
    probability: float | None = Field(None, ge=1e-6, le=1.0, description="red: of a drop at the maximum, 0.1.")
    weight: float | None = Field(None, ge=1e-6, le=1.0, description="red: of the present length in the mean, 0.002.")

    ecn: bool | None = Field(
        None,
        description="codel, fq-codel, cake, pie, red, ared: packets that are capable of ECN (RFC 3168) are marked, not dropped "
        "early; fq-codel and cake true, the others false, as in Linux.",
    )
    isolation: Literal["flows", "dual-srchost", "dual-dsthost", "triple-isolate"] | None = Field(
        None,
        description="cake: what shares the transmitter: flows; hosts that send, and of each its flows (dual-srchost); hosts that "
        "receive, likewise (dual-dsthost); or both at once, triple-isolate.",
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

    prefetch: Prefetched | None = Field(
        None,
        description="modular: what the QoS layer gives to the MAC layer ahead of time, 0 B … 10 000 packets; as a size, or in "
        "packets of 1514 B; 100 packets.",
    )

    @property
    def settings(self) -> dict[str, Any]:
        """What the discipline has besides its limits."""
        defaults = self._OF[self.discipline]
        return {key: default if getattr(self, key) is None else getattr(self, key) for key, default in defaults.items()}

    @model_validator(mode="after")
    def _check(self) -> Self:
        given_keys = {key for key in self.model_fields_set if getattr(self, key) is not None}
        if strange := sorted(given_keys - {"discipline", *_COMMON, *_BY_CLASS, *_LAYERS} - self._OF[self.discipline].keys()):
            own = ", ".join(self._OF[self.discipline]) or "nothing of its own"
            raise ValueError(f"{self.discipline} has no {', '.join(strange)}; it has {own}")
        if self.overhead is not None and self.rate is None:
            raise ValueError("`overhead` is what `rate` counts for each packet besides its bytes; say a `rate`, or leave it out")
        if self.discipline == "red" and self.settings["minimum"] >= self.settings["maximum"]:
            raise ValueError("red: `minimum` must be less than `maximum`")
        if self.discipline == "dualpi2" and self.settings["step"] > self.settings["target"]:
            raise ValueError(
                "dualpi2: `step` must not be more than `target`, or L4S packets wait for longer than classic ones; write less"
            )
        return self

    @model_serializer
    def _dump(self, _: SerializationInfo) -> dict[str, Any]:
        return self._values()

    def _values(self) -> dict[str, Any]:
        return {"discipline": self.discipline, **{key: getattr(self, key) for key in _COMMON}, **self.settings}

    @classmethod
    def limit(cls) -> Limit:
        common = {key: limit_of(cls.model_fields[key]) for key in ("discipline", *_COMMON)}
        return {"keys": common, "cases": {"discipline": {name: limits_of(cls, *own) for name, own in cls._OF.items() if own}}}


def _from_short(value: object) -> object:
    """A number is the packets that have room, a word a discipline."""
    if isinstance(value, int) and not isinstance(value, bool):
        return {"packets": value}
    return {"discipline": value} if isinstance(value, str) else value


def _of_one_class(value: object) -> object:
    value = _from_short(value)
    if isinstance(value, dict):
        wrong: dict[tuple[str | int, ...], str] = {(key,): _TOO_DEEP for key in _BY_CLASS if value.get(key) is not None}
        if value.get("discipline") == "priority":
            wrong["discipline",] = _TOO_DEEP
        if value.get("discipline") == "modular":
            wrong["discipline",] = "modular is for a whole queue; its `qos` has the weights of classes"
        for key in _OF_WHOLE:
            if value.get(key) is not None:
                wrong[key,] = f"the {key} is that of the whole queue; say it there, not for a class"
        if wrong:
            raise AtPlaces(wrong)
    return value


AnyInner = Annotated[InnerQueue, BeforeValidator(_of_one_class, json_schema_input_type=int | Discipline | InnerQueue)]
#: The greatest is that of Linux (sch_qfq, QFQ_MAX_WEIGHT).
Weight = Annotated[int, Field(ge=1, le=1024)]


class QosLayer(BaseModel):
    """How flows or traffic classes share a transmitter, whatever the technology."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    scheduler: Literal["fifo", "priority", "drr", "scfq", "wf2q+", "qfq", "qfq+"] = Field(
        "qfq+", description="As a discipline of that name."
    )
    weights: dict[str, Weight] | None = Field(
        None, description="Lines by traffic class instead of by flow, and how much each sends, 1 … 1024; 1 for others."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.weights is not None and self.scheduler not in _WEIGHTED:
            raise AtPlaces({("weights",): f"{self.scheduler} has no weights; use {', '.join(_WEIGHTED)}"})
        return self

    @property
    def has_classes(self) -> bool:
        return self.scheduler == "priority" or self.weights is not None


class MacLayer(BaseModel):
    """How receivers share what is prefetched, by their channels."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    scheduler: Literal["drr", "scfq", "wf2q+", "qfq", "qfq+"] = Field("qfq+", description="As a discipline of that name.")
    weights: Literal["constant", "linear", "exponential", "analogical"] = Field(
        "analogical",
        description="By i, a receiver's place from the highest to the lowest loss: 1; i; 2^i; or 1000 times the chance that an "
        "attempt succeeds. At least 1.",
    )


class Queue(InnerQueue):
    """Frames that wait to be sent; which of them go when, and which are dropped."""

    weights: dict[str, Weight] | None = Field(
        None,
        description="drr, scfq, wf2q+, qfq, qfq+: lines by traffic class instead of by flow, and how much each sends against the "
        "others, 1 … 1024, by the class's name; 1 for others.",
    )
    inner: AnyInner | None = Field(
        None,
        description="priority, drr, scfq, wf2q+, qfq, qfq+: lines by traffic class, each with such a queue, with keys as here; "
        "a number is its packets, a word its discipline. Default: a fifo with the room of the queue.",
    )
    classes: dict[str, AnyInner] | None = Field(
        None, description="The same for some classes, by name, instead of `inner`: {voice: 20, default: fq-codel}."
    )

    qos: QosLayer | None = Field(
        None, description="modular: which flow or class goes next into what is prefetched; default: qfq+ by flows."
    )
    mac: MacLayer | None = Field(
        None, description="modular: which receiver's packet goes next of what is prefetched; default: qfq+ by analogical weights."
    )

    @property
    def has_classes(self) -> bool:
        """Whether its lines are those of traffic classes."""
        if self.discipline == "modular":
            return self._qos.has_classes
        return self.discipline == "priority" or any(getattr(self, key) is not None for key in _BY_CLASS)

    @property
    def _qos(self) -> QosLayer:
        return self.qos or QosLayer()

    def classes_used(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Where it names a traffic class, and which."""
        for key in ("weights", "classes"):
            yield from (((key, name), name) for name in getattr(self, key) or ())
        yield from ((("qos", "weights", name), name) for name in self._qos.weights or ())

    @model_validator(mode="after")
    def _check_classes(self) -> Self:
        fitting = {"weights": _WEIGHTED, "inner": ("priority", *_WEIGHTED), "classes": ("priority", *_WEIGHTED)}
        wrong: dict[tuple[str | int, ...], str] = {
            (key,): f"{self.discipline} has no lines by traffic class{' that weigh' if key == 'weights' else ''}; "
            f"use {', '.join(disciplines)}"
            for key, disciplines in fitting.items()
            if getattr(self, key) is not None and self.discipline not in disciplines
        }
        wrong |= {
            (key,): f"{self.discipline} has no {key}; only modular has, or leave it out"
            for key in _LAYERS
            if getattr(self, key) is not None and self.discipline != "modular"
        }
        if self.discipline == "modular" and self.weights is not None:
            wrong["weights",] = "modular has the weights of classes in `qos`: {qos: {weights: …}}"
        if self.has_classes and self.flows is not None:
            wrong["flows",] = "lines are by traffic class here; say flows of a discipline of `inner` or `classes`"
        if wrong:
            raise AtPlaces(wrong)
        return self

    @model_serializer
    def _dump(self, info: SerializationInfo) -> dict[str, Any]:
        """The C++ knows lines by ClassId."""
        layers = {"qos": {"scheduler": self._qos.scheduler}, "mac": (self.mac or MacLayer()).model_dump()}
        values = {**self._values(), **(layers if self.discipline == "modular" else {})}
        if not self.has_classes:
            return values
        names = (*(info.context or {}).get(CLASSES, ()), OTHERS)
        return {**values, "lines": [self._line(name) for name in names]}

    def _line(self, name: str) -> dict[str, Any]:
        own = (self.classes or {}).get(name, self.inner or InnerQueue())._values()
        if all(own[key] is None for key in _MOST):
            own |= {key: getattr(self, key) for key in _MOST}
        weights = self._qos.weights if self.discipline == "modular" else self.weights
        return {"class": name, "weight": (weights or {}).get(name, 1), "queue": own}

    @classmethod
    def limit(cls) -> Limit:
        limit = super().limit()
        line: Limit = {"keys": {"weight": limit_of(FieldInfo.from_annotation(Weight)), "queue": InnerQueue.limit()}}
        cases = limit["cases"]["discipline"]
        layers: dict[str, Limit] = {
            "qos": {"keys": {"scheduler": limit_of(QosLayer.model_fields["scheduler"])}},
            "mac": {"keys": limits_of(MacLayer, "scheduler", "weights")},
        }
        return {
            **limit,
            "keys": {**limit["keys"], "lines": {"items": line, "fewest": 1, "optional": True}},
            "cases": {"discipline": {**cases, "modular": {**cases["modular"], **layers}}},
        }


def queue_or_short(
    discipline: Discipline = "fifo",
    *,
    written: Any = None,
    tells_channels: bool = False,
    waits_until_due: bool = False,
    **usual: float | str,
) -> BeforeValidator:
    """Takes a number for packets, a word for a discipline; adds a technology's usual discipline and limits where none of their
    kind is said. `written` is the type of what may be written, where a technology has disciplines of its own; `tells_channels`:
    the technology tells its queues the state of each receiver's radio channel; `waits_until_due`: its transmitters wait for a
    queue that has a rate of its own."""

    def complete(value: object) -> object:
        value = _from_short(value)
        if not isinstance(value, dict):
            return value
        if value.get("discipline") == "modular" and not tells_channels:
            raise AtPlaces({("discipline",): _NO_CHANNELS})
        if value.get("rate") is not None and not waits_until_due:
            raise AtPlaces({("rate",): _NO_RATE})
        given_keys = {key for key, limit in value.items() if limit is not None}
        if not given_keys.isdisjoint(_MOST):
            given_keys.update(_MOST)
        defaults = {key: limit for key, limit in usual.items() if key not in given_keys}
        return {"discipline": discipline, **value, **defaults}

    return BeforeValidator(complete, json_schema_input_type=written or int | Discipline | Queue)
