# SPDX-License-Identifier: GPL-2.0-or-later
"""Sound and pictures of a run, small enough to be part of a page."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from results.audio import opus
from results.decoding import MediaFailed, convert
from results.run_folder import RunFolder
from system.sandbox import Limits

if TYPE_CHECKING:
    from results.metrics_document import Video, Voice

#: Four recordings of a minute at 24 kbit/s are 0.72 MB, as text 0.96 MB.
_AUDIO_S = 60.0
#: Seconds of a received video: half a megabyte at 400 kbit/s.
_VIDEO_S = 10.0
_STILL_AT_S = 2.0
#: Ten seconds at the highest rate of a camera, 50 Mbit/s.
_LIMITS = Limits(60.0, output_bytes=64 << 20)


def audio_players(run: RunFolder, voices: Sequence[Voice]) -> list[dict[str, str]]:
    """What was spoken and what was heard, in each direction; a recording that cannot be read is left out."""
    players = []
    for voice in voices:
        for what, name in (("spoken", voice["spoken_file"]), ("heard", voice["heard_file"])):
            file = run.path / name
            if file.exists() and (sound := _try(partial(opus, file, _AUDIO_S))):
                title = f"{voice['direction']}: what was {what}"
                players.append(
                    {
                        "title": title,
                        "direction": voice["direction"],
                        "file": name,
                        "source": _inline("audio/ogg", sound),
                    }
                )
    return players


def video_clips(run: RunFolder, videos: Sequence[Video]) -> list[dict[str, object]]:
    """The entries of metrics.json with `clip` and `still`, both None when nothing can be shown."""
    return [{**video, **_shown(run.path / video["received_file"])} for video in videos]


def _shown(file: Path) -> dict[str, str | None]:
    if not file.exists():
        return {"clip": None, "still": None}
    # A file that can be played while it is read must have its index first, and ffmpeg writes it so only into fragments on a pipe.
    fragments = ["-movflags", "frag_keyframe+empty_moov+default_base_moof", "-f", "mp4", "pipe:1"]
    picture = ["-frames:v", "1", "-f", "image2pipe", "-c:v", "mjpeg", "-q:v", "4", "pipe:1"]
    clip = _try(lambda: convert(file, ["-t", f"{_VIDEO_S:g}", "-an", "-c:v", "copy", *fragments], _LIMITS))
    still = _try(lambda: convert(file, ["-ss", f"{_STILL_AT_S:g}", *picture], _LIMITS))
    return {
        "clip": _inline("video/mp4", clip) if clip else None,
        "still": _inline("image/jpeg", still) if still else None,
    }


def _try(make: Callable[[], bytes]) -> bytes | None:
    """A report is written also when a recording of it is damaged; the metrics say what is wrong with it."""
    try:
        return make() or None
    except MediaFailed:
        return None


def _inline(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{b64encode(content).decode()}"
