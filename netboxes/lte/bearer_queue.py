# SPDX-License-Identifier: GPL-2.0-or-later
"""The queue of an LTE bearer: the disciplines that an eNodeB has besides those of every queue, because they know the bearer."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from contracts.quantities import TIME, Quantity
from netboxes.queueing.queue import Discipline, Queue

BearerDiscipline = Literal[Discipline, "codel-second", "cqi", "qoe"]


class BearerQueue(Queue):
    """Frames that wait to be sent; which of them go when, and which are dropped."""

    _OF: ClassVar[dict[str, dict[str, Any]]] = {
        **Queue._OF,
        "codel-second": {"target": 0.005, "interval": 0.1},  # RFC 8289, 4.2 and 4.3; Dai 2018 says neither for LTE
        # Dai 2018 does not say them: our choice, and the published grid is in docs/reproductions.md.
        "cqi": {"delay_min": 0.05, "delay_max": 0.5, "empty_reset": True},
        # Dai 2018, 5.3.2 and Algorithm 4; over how many arrivals losses are counted is not said there.
        "qoe": {"mos_min": 3.60, "mos_max": 4.03, "path_delay": 0.0, "check_every": 10, "loss_window": 1000},
    }

    discipline: BearerDiscipline = Field(  # type: ignore[assignment]  # more words than a Queue has
        "fifo",
        description=f"{Queue.model_fields['discipline'].description} Of eNodeBs alone, from Dai 2018: codel-second: CoDel by "
        "the packet that is being sent, which drops the one behind it (4.2); cqi: by the channel quality of the UE (4.3); qoe: "
        "by the quality of a call (5.3). UEs then have a fifo with the same room.",
    )
    delay_min: Annotated[float, Quantity(TIME, 0.0, 10.0)] | None = Field(
        None, description="cqi: nothing is dropped while packets wait for no longer, 50 ms."
    )
    delay_max: Annotated[float, Quantity(TIME, 1e-3, 60.0)] | None = Field(
        None, description="cqi: all is dropped that comes while packets wait for as long, 500 ms."
    )
    empty_reset: bool | None = Field(
        None,
        description="cqi: an empty queue takes the next packet, true. Printed is false: a queue whose last packet waited for "
        "`delay_max` then takes none ever again.",
    )
    mos_min: float | None = Field(
        None,
        ge=1.0,
        le=4.5,
        description="qoe: mean opinion score at which dropping no longer helps, so that nothing is dropped, 3.60.",
    )
    mos_max: float | None = Field(
        None,
        ge=1.0,
        le=4.5,
        description="qoe: mean opinion score at which there is no congestion, so that nothing is dropped, 4.03.",
    )
    path_delay: Annotated[float, Quantity(TIME, 0.0, 10.0)] | None = Field(
        None, description="qoe: delay of the call's path besides the queue, in the score, 0 s."
    )
    check_every: int | None = Field(None, ge=1, le=1000, description="qoe: arrivals from one score to the next, 10.")
    loss_window: int | None = Field(
        None, ge=10, le=1_000_000, description="qoe: latest arrivals of which the share that was dropped is in the score, 1000."
    )

    @model_validator(mode="after")
    def _check_bounds(self) -> Self:
        for low, high in (("delay_min", "delay_max"), ("mos_min", "mos_max")):
            settings = self.settings
            if low in settings and settings[low] >= settings[high]:
                raise ValueError(
                    f"{self.discipline}: `{low}` must be less than `{high}`; they are {settings[low]:g} and {settings[high]:g}"
                )
        return self
