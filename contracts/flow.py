# SPDX-License-Identifier: GPL-2.0-or-later
"""What an application puts on the wire, told so that its frames are found again in the captures of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from contracts import durable
from contracts.run_folder import FLOWS_FILE

Direction = Literal["return", "forward"]


class Flow(BaseModel):
    """One direction of one medium. Ports are inclusive ranges; None stands for any."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    kind: str
    direction: Direction
    source: str
    destination: str
    source_address: str
    destination_address: str
    #: udp, tcp, or of what a capture found any other.
    protocol: str
    source_ports: tuple[int, int] | None = None
    destination_ports: tuple[int, int] | None = None
    #: Rate of the RTP timestamps; None when the flow is not RTP (RFC 3550 jitter then takes the sending time).
    rtp_clock_hz: int | None = None


class ApplicationRecord(BaseModel):
    """What `traffic/<name>/flows.json` holds: the flows, and facts that only this kind of application has."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    application: str
    flows: tuple[Flow, ...]
    #: The application's own type for them reads them (results.application_analysis).
    facts: dict[str, object] = {}

    def write(self, folder: Path) -> None:
        durable.write(folder / FLOWS_FILE, json.dumps(self.model_dump(mode="json"), indent=2) + "\n")


def opposite(direction: Direction) -> Direction:
    return "forward" if direction == "return" else "return"
