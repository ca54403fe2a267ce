# SPDX-License-Identifier: GPL-2.0-or-later
"""The largest segment of TCP that an application asks for."""

from __future__ import annotations

from typing import Final

from applications.application import ApplicationFailed

#: Bytes, with the options of its header. Hosts in virtual time send none below 48, as Linux (TCP_MIN_SND_MSS).
LEAST_SEGMENT: Final = 48
LARGEST_SEGMENT: Final = 9176
#: Programs cannot have Linux take less (TCP_MIN_MSS; tcp(7), TCP_MAXSEG).
_LEAST_OF_LINUX: Final = 88


class SegmentTooSmall(ApplicationFailed):
    """The kernel of a host lets no program ask for so small a segment."""


def check_segment(traffic: str, mss: int | None) -> None:
    """Raises SegmentTooSmall; `traffic` is the entry that asks for it, of a run in real time."""
    if mss is not None and mss < _LEAST_OF_LINUX:
        raise SegmentTooSmall(
            f"traffic {traffic}: Linux takes no `mss` below {_LEAST_OF_LINUX}, and it asks for {mss}; run the file with "
            "--virtual, or give a larger `mss`"
        )
