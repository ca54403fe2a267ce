# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames that never arrive: how it is said in YAML, and the numbers that the C++ reads."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from annotated_types import Ge, Le
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationInfo, model_serializer, model_validator

from contracts.csv_file import read_rows
from contracts.netbox_configuration import Limit
from contracts.quantities import SIZE, TIME, Quantity
from netboxes.limits import limits_of

Probability = Annotated[float, Ge(0.0), Le(1.0)]
BitErrorRate = Annotated[float, Ge(0.0), Le(0.5)]
#: The shortest keep what a netbox has to catch up with, when frames come again after a pause, within milliseconds a second.
FadeTime = Annotated[float, Quantity(TIME, 1e-3, 86400.0)]

ModelName = Literal["independent", "gilbert-elliott", "gilbert-elliott-in-time", "two-state", "byte-intervals", "trace"]

#: The keys of each model.
_KEYS: dict[ModelName, tuple[str, ...]] = {
    "independent": ("probability",),
    "gilbert-elliott": ("probability", "burst", "good_to_bad", "bad_to_good", "loss_in_good", "loss_in_bad"),
    "gilbert-elliott-in-time": ("good", "bad", "loss_in_good", "loss_in_bad"),
    "two-state": ("good", "bad", "bit_error_rate_in_good", "bit_error_rate_in_bad"),
    "byte-intervals": ("interval", "distribution"),
    "trace": ("file", "repeat"),
}
#: Those that a model cannot do without.
_NEEDED: dict[ModelName, tuple[str, ...]] = {
    "gilbert-elliott-in-time": ("good", "bad"),
    "two-state": ("good", "bad"),
    "byte-intervals": ("interval",),
    "trace": ("file",),
}
#: As netbox.json has them: what each is of.
_DUMPED: dict[str, tuple[str, ...]] = {
    "independent": ("probability",),
    "gilbert-elliott": ("good_to_bad", "bad_to_good", "loss_in_good", "loss_in_bad"),
    "gilbert-elliott-in-time": _KEYS["gilbert-elliott-in-time"],
    "two-state": _KEYS["two-state"],
    "byte-intervals": _KEYS["byte-intervals"],
    "lost-frames": ("repeat",),
    "lost-periods": ("repeat",),
}
#: Of a trace, s.
_LONGEST_S = 1e6


class Loss(BaseModel):
    """Frames that never arrive: independent ones, in bursts, in fades, by wrong bytes, or as a trace has them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: ModelName | None = Field(
        None, description="Which frames are lost; default: gilbert-elliott where its keys are given, or else independent."
    )
    probability: Probability | None = Field(None, description="Share of lost frames; without `burst` each is lost independently.")
    burst: float | None = Field(
        None,
        ge=1.0,
        le=1e6,
        description="gilbert-elliott: mean number of frames lost in a row (Gilbert's simple model), with `probability`.",
    )
    good_to_bad: Probability | None = Field(
        None, description="gilbert-elliott: probability, with each frame, of leaving the good state; in full."
    )
    bad_to_good: Probability | None = Field(
        None, description="gilbert-elliott: probability, with each frame, of leaving the bad state."
    )
    loss_in_good: Probability = Field(0.0, description="Both gilbert-elliott: probability of loss in the good state (1 - k).")
    loss_in_bad: Probability = Field(
        1.0, description="Both gilbert-elliott: probability of loss in the bad state (1 - h); 1: Gilbert's simple model."
    )
    good: FadeTime | None = Field(None, description="gilbert-elliott-in-time, two-state: mean of a good time.")
    bad: FadeTime | None = Field(None, description="gilbert-elliott-in-time, two-state: mean of a bad time.")
    bit_error_rate_in_good: BitErrorRate = Field(
        1e-6, description="two-state: probability that a bit is wrong, which loses its frame, in good times."
    )
    bit_error_rate_in_bad: BitErrorRate = Field(1e-2, description="two-state: the same in bad times.")
    interval: Annotated[float, Quantity(SIZE, 1.0, 1e12)] | None = Field(
        None, description="byte-intervals: mean number of bytes from one wrong byte, which loses its frame, to the next."
    )
    distribution: Literal["exponential", "uniform"] = Field(
        "exponential", description="byte-intervals: of the distances; uniform ones are up to twice the mean."
    )
    file: str | None = Field(
        None,
        description="trace: CSV with a column lost, 0 or 1 for each frame in turn, or with from_s and to_s, periods of loss.",
    )
    repeat: bool = Field(True, description="trace: begin anew at its end, by time at the last `to_s`; or lose nothing then.")
    _trace: dict[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def states(self) -> tuple[float, float, float, float]:
        """Probabilities of leaving the good and the bad state, of loss in the good and in the bad state."""
        if self.good_to_bad is not None and self.bad_to_good is not None:
            return self.good_to_bad, self.bad_to_good, self.loss_in_good, self.loss_in_bad
        share = self.probability or 0.0
        if self.burst is None or share in (0.0, 1.0):
            return 0.0, 1.0, share, share
        leave = 1 / self.burst
        return leave * share / (1 - share), leave, 0.0, 1.0

    @property
    def named(self) -> ModelName:
        """The model, also where its keys alone tell it."""
        has_states = self._given() & set(_KEYS["gilbert-elliott"]) - {"probability"}
        return self.model or ("gilbert-elliott" if has_states else "independent")

    def _given(self) -> set[str]:
        return self.model_fields_set - {"model"}

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        own = _KEYS[self.named]
        if wrong := [key for key in type(self).model_fields if key in self._given() and key not in own]:
            of = next(model for model, keys in _KEYS.items() if wrong[0] in keys)
            raise ValueError(
                f"{self.named} has no {wrong[0]}; it has {', '.join(own)}"
                + (f"; say `model: {of}`" if self.model is None else f", and {wrong[0]} is of {of}")
            )
        if missing := [key for key in _NEEDED.get(self.named, ()) if key not in self._given()]:
            raise ValueError(f"{self.named} needs `{missing[0]}`; its keys are {', '.join(own)}")
        return self

    @model_validator(mode="after")
    def _check_states(self) -> Self:
        if self.named != "gilbert-elliott":
            return self
        full = {"good_to_bad", "bad_to_good", "loss_in_good", "loss_in_bad"} & self.model_fields_set
        if full and {"probability", "burst"} & self.model_fields_set:
            raise ValueError("say either `probability` (and `burst`), or the probabilities of the states")
        if full and (self.good_to_bad is None or self.bad_to_good is None):
            raise ValueError("the model of two states needs `good_to_bad` and `bad_to_good`")
        if full and self.good_to_bad == 0 and self.bad_to_good == 0:
            raise ValueError("with both `good_to_bad` and `bad_to_good` 0 the state never changes; say `probability` instead")
        if self.burst is not None and self.probability is None:
            raise ValueError("`burst` needs a `probability`")
        if self.burst is not None and self.probability is not None and 0 < self.probability < 1 and self.states[0] > 1:
            most = self.burst / (self.burst + 1)
            raise ValueError(
                f"bursts of {self.burst:g} frames with at least one frame between them lose {most:.4g} of all at most, "
                f"not {self.probability:g}; say longer ones"
            )
        return self

    @model_validator(mode="after")
    def _read(self, info: ValidationInfo) -> Self:
        if self.file is None:
            return self
        rows = read_rows(self.file, info.context, (), ("lost", "from_s", "to_s"))
        by_frame = rows[0][0] is not None
        if by_frame and any(cell is not None for cell in rows[0][1:]):
            raise ValueError(f"{self.file} has a column lost and periods; a trace is by frame or by time")
        if not by_frame and None in rows[0][1:]:
            raise ValueError(f"{self.file} needs a column lost, or both from_s and to_s")
        if by_frame:
            self._trace.update(model="lost-frames", frames=[self._fate(lost) for lost, _, _ in rows])
        else:
            self._trace.update(model="lost-periods", periods=self._periods([row[1:] for row in rows]))
        return self

    def _fate(self, lost: float) -> int:
        if lost not in (0, 1):
            raise ValueError(f"{self.file}: lost is {lost:g}; it is 1 for a frame that is lost and 0 for one that is not")
        return int(lost)

    def _periods(self, periods: list[tuple[float, ...]]) -> list[tuple[float, float]]:
        for begin, end in periods:
            if not 0 <= begin <= end <= _LONGEST_S:
                raise ValueError(
                    f"{self.file}: a period from {begin:g} s to {end:g} s; it is to end after it begins, within {_LONGEST_S:g} s"
                )
        if overlap := next((later for earlier, later in pairwise(periods) if later[0] < earlier[1]), None):
            raise ValueError(
                f"{self.file}: the period from {overlap[0]:g} s begins before the one above it ends; put them in order"
            )
        if self.repeat and periods[-1][1] == 0:
            raise ValueError(f"{self.file} takes no time, so it cannot repeat; say `repeat: false`, or add a row for its end")
        return [(begin, end) for begin, end in periods]

    @model_serializer
    def _dump(self) -> dict[str, Any]:
        if self.named == "trace":
            return {**self._trace, "repeat": self.repeat}
        if self.named == "independent":
            return {"model": "independent", "probability": self.probability or 0.0}
        if self.named == "gilbert-elliott":
            return {"model": "gilbert-elliott", **dict(zip(_DUMPED["gilbert-elliott"], self.states, strict=True))}
        return {"model": self.named, **{key: getattr(self, key) for key in _DUMPED[self.named]}}

    @classmethod
    def limit(cls) -> Limit:
        lost: Limit = {"minimum": 0.0, "maximum": 1.0, "unit": "", "whole": True}
        moment: Limit = {"minimum": 0.0, "maximum": _LONGEST_S, "unit": "s"}
        cases: dict[str, dict[str, Limit]] = {model: limits_of(cls, *keys) for model, keys in _DUMPED.items()}
        cases["lost-frames"]["frames"] = {"items": lost, "fewest": 1}
        cases["lost-periods"]["periods"] = {"items": {"parts": [moment, moment]}, "fewest": 1}
        return {"keys": {"model": {"words": list(_DUMPED)}}, "cases": {"model": cases}}
