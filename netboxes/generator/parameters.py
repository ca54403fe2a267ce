# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of a generator in YAML."""

from __future__ import annotations

import os
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, PlainSerializer, ValidationInfo, model_validator

from applications.dscp import Dscp
from applications.stream import Stream
from contracts.addresses import Ipv4, Mac
from contracts.files import copy_of, kept_at, note
from contracts.installation import CHECKOUT, INSTALLATION
from contracts.quantities import PACKET_RATE, SIZE, Quantity
from netboxes.technology import StationParameters, Technology

#: Frame check sequence of Ethernet, in bytes.
FCS = 4


def _recording(text: object, info: ValidationInfo) -> Path:
    if not isinstance(text, str) or not text or "\0" in text:
        raise ValueError("a trace is a pcapng file; write its path, like traces/call.pcapng")
    path = Path(os.path.realpath(CHECKOUT / text))  # a circle of links is no file
    folder = (info.context or {}).get("folder")
    if folder is not None and (copy := copy_of(kept_at(text), folder)) is not None and copy.is_relative_to(INSTALLATION):
        path = copy
    if not path.is_relative_to(INSTALLATION):
        raise ValueError(f"{text} is not in the checkout, so the netbox's container cannot see it; copy it below {INSTALLATION}")
    if not path.is_file():
        raise ValueError(f"there is no file {path}; a trace's path counts from the checkout")
    note(text, path)
    return path


Recording = Annotated[Path, BeforeValidator(_recording), PlainSerializer(str)]


class Station(StationParameters):
    """One station: a stream of its own."""


class Parameters(Technology):
    """A source of test traffic: each station sends numbered, stamped UDP datagrams, or a recording."""

    LIVE: ClassVar[frozenset[str]] = frozenset({"rate", "size", "count", "active"})
    EMITS: ClassVar[bool] = True
    #: What has no meaning for a recording.
    OF_TEST_FRAMES: ClassVar = ("rate", "size", "burst")

    stations: dict[str, Station] = Field(
        min_length=1, max_length=200, description="Any names. The n-th one adds n, from 0, to source port and source MAC address."
    )
    pattern: Literal["constant", "poisson", "burst", "trace"] = Field(
        "constant",
        description="Equal distances; exponentially distributed ones (RFC 2330); groups back to back; a recording's own.",
    )
    rate: Annotated[float, Quantity(PACKET_RATE, 1e-3, 20e6)] = Field(1e3, description="Mean rate of each station.")
    size: Annotated[float, Quantity(SIZE, 64, 1518)] = Field(
        64, multiple_of=1, description="Of the Ethernet frame with header and FCS (RFC 2544, 9.1)."
    )
    burst: int = Field(1, ge=1, le=10_000, description="Frames in a group of pattern `burst`.")
    count: int = Field(0, ge=0, le=10**15, description="Frames that each station sends before it stops; 0: it goes on.")
    active: bool = Field(True, description="Send; true after false starts anew, the sequence numbers go on.")
    trace: Recording | None = Field(None, description="pcapng file in the checkout, for pattern `trace`; sent once, as it is.")
    source_address: Ipv4 = Field(IPv4Address("198.18.0.1"), description="IPv4; the default is of RFC 2544's benchmark network.")
    destination_address: Ipv4 = Field(IPv4Address("198.19.0.1"), description="IPv4.")
    source_mac: Mac = Field("02:00:00:00:01:00", description="MAC address of the first station.")
    destination_mac: Mac = Field("02:00:00:00:02:00", description="MAC address of the next hop.")
    source_port: int = Field(40000, ge=1, le=65000, description="UDP port of the first station.")
    destination_port: int = Field(7, ge=1, le=65535, description="UDP port; 7, echo, as in RFC 2544, C.2.6.4.")
    dscp: Dscp = Field(0, description="Differentiated services code point: name or number.")

    def streams(self) -> dict[str, Stream]:
        """Each station's at its rate, as if it never stopped; a recording's are not looked into."""
        if self.pattern == "trace" or not self.active:
            return {}
        return dict.fromkeys(self.stations, Stream(self.rate, self.size - FCS))

    @model_validator(mode="after")
    def _check_trace(self) -> Self:
        if (self.trace is None) == (self.pattern == "trace"):
            raise ValueError("`pattern: trace` and `trace: FILE` belong together")
        if self.trace and (unfit := [key for key in self.OF_TEST_FRAMES if key in self.model_fields_set]):
            raise ValueError(f"a trace has its own spacing and frames; leave out {', '.join(unfit)}")
        if self.burst > 1 and self.pattern != "burst":
            raise ValueError("`burst` is the size of a group of `pattern: burst`; write that too, or leave it out")
        return self
