# SPDX-License-Identifier: GPL-2.0-or-later
"""A received video, small enough to be part of a page."""

from __future__ import annotations

from pathlib import Path

from applications.media.decoding import embedded
from system.sandbox import Limits

#: Seconds of a received video: half a megabyte at 400 kbit/s.
_VIDEO_S = 10.0
_STILL_AT_S = 2.0
#: Ten seconds at the highest rate of a camera, 50 Mbit/s.
_LIMITS = Limits(60.0, output_bytes=64 << 20)


def clip_and_still(file: Path) -> dict[str, str | None]:
    """`clip` and `still` of a video file, each None where it cannot be shown."""
    # A file that can be played while it is read must have its index first, and ffmpeg writes it so only into fragments on a pipe.
    fragments = ["-movflags", "frag_keyframe+empty_moov+default_base_moof", "-f", "mp4", "pipe:1"]
    clip = ["-t", f"{_VIDEO_S:g}", "-an", "-c:v", "copy", *fragments]
    still = ["-ss", f"{_STILL_AT_S:g}", "-frames:v", "1", "-f", "image2pipe", "-c:v", "mjpeg", "-q:v", "4", "pipe:1"]
    return {
        "clip": embedded("video/mp4", file, clip, _LIMITS),
        "still": embedded("image/jpeg", file, still, _LIMITS),
    }
