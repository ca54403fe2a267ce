# SPDX-License-Identifier: GPL-2.0-or-later
"""Sound and pictures of a run as a part of a page."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable

from applications.media.decoding import MediaFailed


def embedded(kind: str, make: Callable[[], bytes]) -> str | None:
    """What `make` gives, as a URL of that media type. None where it gives nothing, or raises MediaFailed.

    A report is written also when a recording of the run is damaged; the metrics say what is wrong with it.
    """
    try:
        content = make()
    except MediaFailed:
        return None
    return f"data:{kind};base64,{b64encode(content).decode()}" if content else None
