# SPDX-License-Identifier: GPL-2.0-or-later
"""The video that a server has: manifest and segments, by ffmpeg's encoder and its muxer for MPEG-DASH."""

from __future__ import annotations

import io
import math
import tarfile
from collections.abc import Mapping
from functools import cache
from typing import Final

from applications.application import ApplicationFailed
from applications.media.scene import moving_scene
from system import sandbox

MANIFEST: Final = "manifest.mpd"
FRAMES_PER_SECOND: Final = 25
_WIDTH, _HEIGHT = 640, 360
#: Half a turn of what is seen of the scene.
_LEAST_S: Final = 10.0
#: Of all representations: it is made in the sandbox's memory.
MOST_BYTES: Final = 48 << 20
_LIMITS: Final = sandbox.Limits(300.0, output_bytes=2 * MOST_BYTES, file_bytes=MOST_BYTES)
#: Makes files in the sandbox, and writes them all to its output.
_KEPT: Final = 'mkdir /tmp/video && cd /tmp/video && "$@" >&2 && tar -cf - *'


def length_s(segment_s: float) -> float:
    """Of the video: whole segments, ten seconds at least."""
    return math.ceil(_LEAST_S / segment_s) * segment_s


@cache
def files(ladder: tuple[float, ...], segment_s: float) -> Mapping[str, bytes]:
    """By name: the manifest, and of each representation an initialization segment and its media segments.

    `ladder` are the rates of the representations, bit/s. An encoder's buffer of one segment bounds what each segment takes over
    its rate, as of a video that is made for streaming. Raises ApplicationFailed, SandboxFailed, LimitExceeded.
    """
    pictures = str(round(segment_s * FRAMES_PER_SECOND))
    encoders = [
        argument
        for number, rate in enumerate(ladder)
        for argument in (
            *("-map", "0:v", f"-b:v:{number}", f"{rate:.0f}", f"-maxrate:v:{number}", f"{rate:.0f}"),
            *(f"-bufsize:v:{number}", f"{rate * segment_s:.0f}"),
        )
    ]
    command = (
        *("ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-loglevel", "error", "-f", "lavfi"),
        *("-i", f"{moving_scene(_WIDTH, _HEIGHT, FRAMES_PER_SECOND)},format=yuv420p", "-t", f"{length_s(segment_s):g}"),
        # One thread for each: what they make does not depend on the machine.
        *("-c:v", "libx264", "-preset", "ultrafast", "-threads", "1", *encoders),
        *("-g", pictures, "-keyint_min", pictures, "-sc_threshold", "0", "-bitexact"),
        *("-f", "dash", "-seg_duration", f"{segment_s:g}", "-use_template", "1", "-use_timeline", "0"),
        *("-adaptation_sets", "id=0,streams=v", "-init_seg_name", "init-$RepresentationID$.mp4"),
        *("-media_seg_name", "$RepresentationID$-$Number$.m4s", MANIFEST),
    )
    done = sandbox.run(("/bin/sh", "-c", _KEPT, "sh", *command), _LIMITS)
    if done.status != 0 or not done.output:
        raise ApplicationFailed(f"ffmpeg could not make a video: {done.complaint.strip() or 'it says nothing'}")
    with tarfile.open(fileobj=io.BytesIO(done.output)) as archive:
        return {member.name: file.read() for member in archive if (file := archive.extractfile(member)) is not None}
