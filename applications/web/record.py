# SPDX-License-Identifier: GPL-2.0-or-later
"""What a client records of each object that it asks for, in both times alike (applications/records.py)."""

from __future__ import annotations

from typing import Final, Literal

from typing_extensions import TypedDict

from contracts.shapes import Count, Seconds

#: A client's records in real time.
RECORD_FILE: Final = "objects.jsonl"


class ObjectRecord(TypedDict):
    """An object that was asked for; times count from the traffic's start, null where something did not come."""

    record: Literal["object"]
    #: The entry of the traffic.
    flow: str
    #: Since the beginning, from 0; the pages begin again and again.
    page: Count
    #: Of the page, from 0, which is the document.
    object: Count
    asked_s: Seconds
    first_byte_s: Seconds | None
    ended_s: Seconds | None
    #: Of content, that came.
    bytes: Count
    #: Over which connection, from 0, and whether that had served another request before.
    connection: Count
    reused: bool
    #: Why it did not come, or not whole.
    failure: str | None
