# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of a plain link in YAML."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from contracts.quantities import RATE, SIZE, TIME, Quantity
from netboxes.errors.loss import Loss, Probability
from netboxes.link.impairments import Corruption, Jitter, Outage, Reordering
from netboxes.link.trace import Trace
from netboxes.queueing.queue import Queue, queue_or_short
from netboxes.technology import StationParameters, Technology


def _short(model: type[BaseModel], key: str, *kinds: type) -> BeforeValidator:
    """Lets a bare value stand for a mapping that has only this key."""
    field = model.model_fields[key]
    value: Any = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
    return BeforeValidator(
        lambda short: {key: short} if isinstance(short, kinds) and not isinstance(short, bool) else short,
        json_schema_input_type=value | model,
    )


#: The fastest that a link can be: far more than any netbox carries, so in effect no limit.
FASTEST = 100e9

Rate = Annotated[float, Quantity(RATE, 1e3, FASTEST)]
Delay = Annotated[float, Quantity(TIME, 0.0, 10.0)]
Overhead = Annotated[float, Quantity(SIZE, 0.0, 1000.0)]
AnyJitter = Annotated[Jitter, _short(Jitter, "deviation", str)]
AnyLoss = Annotated[Loss, _short(Loss, "probability", int, float)]
AnyCorruption = Annotated[Corruption, _short(Corruption, "bit_error_rate", int, float)]
AnyQueue = Annotated[Queue, queue_or_short(packets=1000, waits_until_due=True)]
AnyTrace = Annotated[Trace, _short(Trace, "file", str)]
WhileDown = Literal["lose", "wait"]

_DIRECTIONAL = frozenset(
    [
        "rate",
        "delay",
        "overhead",
        "jitter",
        "loss",
        "duplication",
        "reordering",
        "corruption",
        "queue",
        "trace",
        "while_down",
        "outage",
        "up",
    ]
)


class Station(StationParameters):
    """One end of the link. What is said here holds for what it sends, in the place of what is said of the link."""

    LIVE: ClassVar[frozenset[str]] = _DIRECTIONAL

    rate: Rate | None = Field(None, description="Of what it sends.")
    delay: Delay | None = Field(None, description="Of what it sends.")
    overhead: Overhead | None = Field(None, description="Of what it sends.")
    jitter: AnyJitter | None = Field(None, description="Of what it sends.")
    loss: AnyLoss | None = Field(None, description="Of what it sends.")
    duplication: Probability | None = Field(None, description="Of what it sends.")
    reordering: Reordering | None = Field(None, description="Of what it sends.")
    corruption: AnyCorruption | None = Field(None, description="Of what it sends.")
    queue: AnyQueue | None = Field(None, description="In front of its transmitter.")
    trace: AnyTrace | None = Field(None, description="Of what it sends.")
    while_down: WhileDown | None = Field(None, description="Of what it sends.")
    outage: Outage | None = Field(None, description="Of this direction alone, in the place of the link's.")
    up: bool | None = Field(None, description="False: nothing that it sends arrives.")


class Parameters(Technology):
    """A plain link between two stations: rate, delay, jitter, loss, errors, queues, outages, by formula or as a trace says."""

    LIVE: ClassVar[frozenset[str]] = _DIRECTIONAL
    TELLS_LINKS: ClassVar[bool] = True
    ANNOUNCES: ClassVar[frozenset[str]] = frozenset({"link_down", "link_up"})
    TYPICAL: ClassVar = {"stations": {"left": {}, "right": {}}, "rate": "1 Gbit/s"}
    #: An empty UDP datagram, as the default overhead counts it.
    SMALLEST_ON_MEDIUM: ClassVar[int] = 42

    stations: dict[str, Station] = Field(
        min_length=2, description="The two ends, `NAME: {}`, or with what is different of what this one sends."
    )
    rate: Rate = Field(FASTEST, description="Of each direction; the default is more than a netbox carries: no limit.")
    overhead: Overhead = Field(14.0, description="What a frame takes besides its layer-3 packet; 14 B: Ethernet's header.")
    delay: Delay = Field(0.0, description="From the end of sending to the arrival.")
    jitter: AnyJitter = Field(Jitter(), description="How delays differ; a time alone is the deviation of a normal distribution.")
    loss: AnyLoss = Field(Loss(), description="A number alone is a probability, independent for each frame.")
    duplication: Probability = Field(
        0.0, description="Probability that a frame comes twice; each has its own loss, errors and delay."
    )
    reordering: Reordering = Field(Reordering(), description="Frames that are held back, so that others overtake them.")
    corruption: AnyCorruption = Field(Corruption(), description="Bit errors; a number alone is the bit error rate.")
    queue: AnyQueue = Field(
        Queue(packets=1000),
        description="In front of each transmitter; a number is its packets, a word its discipline. Default: 1000 packets.",
    )
    outage: Outage | None = Field(None, description="Times in which the link is down, both directions together.")
    while_down: WhileDown = Field(
        "lose", description="What is sent while the link is down: lost, or it waits in the queue until the link is up."
    )
    up: bool = Field(True, description="False: the link is down until this is true again.")
    trace: AnyTrace | None = Field(
        None, description="Rate, delay and loss over time, in the place of those above; a text alone is its file."
    )

    def gross_rate(self) -> float | None:
        """None when a trace says the rate, or nothing does."""
        rates = [rate for name in self.stations if (rate := self.rate_from(name)) is not None]
        return sum(rates) if len(rates) == len(self.stations) else None

    def rate_from(self, station: str) -> float | None:
        """None when a trace says the rate, or nothing does."""
        own = self.stations[station]
        rate = self.rate if own.rate is None else own.rate
        return None if self.trace or own.trace or rate == FASTEST else rate

    @model_validator(mode="after")
    def _check_ends(self) -> Self:
        if len(self.stations) != 2:
            raise ValueError(f"a link has two stations, not {len(self.stations)}; what joins more is `technology: ethernet`")
        return self

    @model_validator(mode="after")
    def _check_sense(self) -> Self:
        for name, station in self.stations.items():
            jitter, delay = station.jitter or self.jitter, self.delay if station.delay is None else station.delay
            trace = station.trace or self.trace
            if jitter.deviation > 0 and delay == 0 and not (trace and trace.says_delay):
                raise ValueError(
                    f"{name}: jitter around a delay of 0 would lose its lower half; say a `delay` of some deviations"
                )
        return self
