# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that were made of a lab's frames: `capture`, `record`."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict


class Point(TypedDict):
    """Where frames were captured."""

    #: As the user called it.
    name: str
    node: str
    interface: str
    by: Literal["netbox", "kernel"]
    frames: int
    #: For which there was no room.
    dropped: int


class Capture(TypedDict):
    points: list[Point]
    files: list[str]
    #: Frames that came when later ones had been written already.
    late: int


#: A trace of one direction: its file and the hosts at its ends.
Recorded = TypedDict("Recorded", {"file": str, "from": str, "to": str})


class Record(TypedDict):
    files: list[Recorded]
