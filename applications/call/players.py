# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of calls, small enough to be part of a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from applications.call.metrics import Voice
from applications.media.decoding import embedded
from system.sandbox import Limits

#: The first minute as Ogg Opus, which browsers play: four recordings at 24 kbit/s are 0.72 MB, as text 0.96 MB.
_OPUS = ("-t", "60", "-c:a", "libopus", "-b:a", "24k", "-ac", "1", "-f", "ogg", "pipe:1")
#: ffmpeg takes a second for half an hour of speech.
_LIMITS = Limits(60.0)


def players(run: Path, voices: Sequence[Voice]) -> list[dict[str, str]]:
    """What was spoken and what was heard, in each direction; a recording that cannot be read is left out."""
    recordings = []
    for voice in voices:
        for what, name in (("spoken", voice["spoken_file"]), ("heard", voice["heard_file"])):
            if sound := embedded("audio/ogg", run / name, _OPUS, _LIMITS):
                title = f"{voice['direction']}: what was {what}"
                recordings.append({"title": title, "direction": voice["direction"], "file": name, "source": sound})
    return recordings
