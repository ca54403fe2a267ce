# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of a service of the link layer in YAML."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from contracts.quantities import TIME, Quantity

SchemeName = Literal["none", "go-back-n", "sr", "sr-m1", "sr-m2", "rlp", "rlp-oos", "xor", "xor-adaptive", "snoop", "by-loss"]
BY_LOSS: Final = "by-loss"
Interval = Annotated[float, Quantity(TIME, 1e-6, 1e3)]

_GO_BACK_N = ("timer", "window", "ack_delay", "sequence_bits")
_SR = (*_GO_BACK_N, "fresh_acks", "repeats_first")
_RLP = ("timer", "attempts", "ring", "keepalive", "sequence_bits", "repeats_first")
#: The settings of each scheme.
SETTINGS: dict[SchemeName, tuple[str, ...]] = {
    "none": (),
    "go-back-n": _GO_BACK_N,
    "sr": _SR,
    "sr-m1": _SR,
    "sr-m2": _SR,
    "rlp": _RLP,
    "rlp-oos": _RLP,
    "xor": ("block",),
    "xor-adaptive": ("block", "inactivity"),
    "snoop": ("cache", "connections", "timer_floor"),
    # Its schemes' are said in `choices`.
    BY_LOSS: (),
}


#: What both ends of a link need alike besides the scheme: what numbers of frames mean depends on it.
NUMBERING = ("sequence_bits", "block", "repeats_first")


class Recovery(BaseModel):
    """A scheme and its settings."""

    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True)

    scheme: SchemeName = Field(
        "none",
        description="none; go-back-n; selective repeat: sr, with several NAKs in a window sr-m1, and in a frame sr-m2; Karn's "
        "RLP: rlp, out of sequence rlp-oos; parity after each block: xor, also when nothing comes xor-adaptive; snoop; one of "
        "`choices` by the share of frames that the link loses: by-loss.",
    )
    timer: Interval | None = Field(
        None,
        description="go-back-n, sr, rlp: from the end of a frame's transmission, or of a NAK's, until it is repeated. Default: "
        "two delays and some frames, as the profile has it.",
    )
    window: int | None = Field(None, ge=1, le=65536, description="go-back-n, sr: frames that are not acknowledged, 127.")
    ack_delay: Interval | None = Field(
        None, description="go-back-n, sr: an acknowledgement waits so long for a frame that takes it along; a frame's time."
    )
    fresh_acks: bool | None = Field(
        None,
        description="sr: acknowledgements say what is known when their frame departs, not when it is queued as in the source: "
        "behind data of their own service old ones make the other end repeat what came long ago. False, but always so with "
        "`repeats_first`.",
    )
    repeats_first: bool | None = Field(
        None,
        description="sr, rlp: what is repeated, acknowledgements and NAKs go before new frames of their service, and not behind "
        "those that wait, as in the source; acknowledgements are fresh then. Default: false; above a technology true.",
    )
    sequence_bits: int | None = Field(None, ge=3, le=16, description="go-back-n, sr, rlp: of sequence numbers, 8.")
    attempts: int | None = Field(
        None, ge=1, le=100, description="rlp: how often a frame is asked for; rlp 3, rlp-oos 1 (Xylomenos 1999, 4.3, 5.3)."
    )
    ring: int | None = Field(None, ge=1, le=65536, description="rlp: frames that its sender keeps, 128.")
    keepalive: Interval | None = Field(
        None, description="rlp: with nothing to send, its sender tells its last frame so often; as the profile has it."
    )
    block: int | None = Field(None, ge=1, le=127, description="xor: data frames for one of parity; as the profile has it.")
    inactivity: Interval | None = Field(
        None, description="xor-adaptive: after so much silence a block ends; as the profile has it."
    )
    cache: int | None = Field(None, ge=1, le=10_000, description="snoop: segments that are kept of a connection, 100.")
    connections: int | None = Field(None, ge=1, le=4096, description="snoop: TCP connections that it follows, 256.")
    timer_floor: Interval | None = Field(None, description="snoop: the shortest time until a local retransmission, 100 ms.")

    @model_validator(mode="after")
    def _check_settings(self) -> Self:
        own = SETTINGS[self.scheme]
        others = {name for settings in SETTINGS.values() for name in settings} - set(own)
        if wrong := [name for name in type(self).model_fields if name in others and getattr(self, name) is not None]:
            has = f"it has {', '.join(own)}" if own else "it has no settings"
            raise ValueError(f"{self.scheme} has no {wrong[0]}; {has}")
        if self.window is not None or self.ring is not None:
            self._check_sequence_numbers()
        return self

    def _check_sequence_numbers(self) -> None:
        half = 2 ** ((self.sequence_bits or 8) - 1)
        for key, frames in (("window", self.window), ("ring", self.ring)):
            if frames is not None and frames > half:
                raise ValueError(
                    f"{key} {frames} is above {half}, half of the {2 * half} sequence numbers: an old frame could be taken for a "
                    f"new one; say at most {half}, or more `sequence_bits`"
                )


class Choice(Recovery):
    """A scheme of a service that chooses `by-loss`."""

    above: float = Field(0.0, ge=0.0, lt=1.0, description="It is taken where a greater share of frames is lost.")

    @model_validator(mode="after")
    def _check_scheme(self) -> Self:
        if self.scheme == BY_LOSS:
            raise ValueError("a choice is a scheme itself; name one")
        return self


class Service(Recovery):
    """A service: how frames of one traffic class are recovered, and their share of the link."""

    traffic_class: str = Field(alias="class", description="A class that the netbox declares, or `default`: all others.")
    share: float = Field(1.0, ge=1e-3, le=1e3, description="Of the link while others send, too; only ratios count.")
    queue: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="Frames that may wait for the transmitter. Default: 50 as in ns-2; above a technology as many as go in a "
        "timer, where that is more.",
    )
    choices: Annotated[list[Choice], Field(min_length=2, max_length=8)] | None = Field(
        None,
        description="by-loss: its schemes, in the order of the loss from which each is taken: "
        "[{scheme: none}, {scheme: sr-m2, above: 0.005}].",
    )

    @model_validator(mode="after")
    def _check_choices(self) -> Self:
        if (self.scheme == BY_LOSS) != (self.choices is not None):
            raise ValueError("by-loss has `choices`, and no other scheme has; write both, or none")
        above = [choice.above for choice in self.choices or ()]
        if above and (above[0] != 0.0 or any(later <= earlier for earlier, later in pairwise(above))):
            raise ValueError("choices are in ascending order of `above`, and the first one is taken from 0 on, without `above`")
        return self

    def recoveries(self) -> Sequence[Recovery]:
        """What it has at one time or another."""
        return self.choices or (self,)

    def schemes(self) -> list[SchemeName]:
        """The same, by name."""
        return [recovery.scheme for recovery in self.recoveries()]


#: 4 bits of a frame's first byte number the services (Xylomenos 1999, 6.2); one number is kept for the classes that none is for.
MOST_SERVICES = 15
Services = Annotated[list[Service], Field(max_length=MOST_SERVICES)]
