# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of calls, small enough to be part of a page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from applications.call.metrics import Voice
from applications.media.audio import opus
from applications.media.embedded import embedded

#: Four recordings of a minute at 24 kbit/s are 0.72 MB, as text 0.96 MB.
_AUDIO_S = 60.0


def players(run: Path, voices: Sequence[Voice]) -> list[dict[str, str]]:
    """What was spoken and what was heard, in each direction; a recording that cannot be read is left out."""
    found = []
    for voice in voices:
        for what, name in (("spoken", voice["spoken_file"]), ("heard", voice["heard_file"])):
            file = run / name
            if file.exists() and (sound := embedded("audio/ogg", partial(opus, file, _AUDIO_S))):
                title = f"{voice['direction']}: what was {what}"
                found.append({"title": title, "direction": voice["direction"], "file": name, "source": sound})
    return found
