# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of a run, decoded by ffmpeg. Nodes wrote them, so ffmpeg works in the sandbox, with limits.

It accepts only the format that a file's name promises: a playlist that names other files is no recording.
"""

from __future__ import annotations

import os
import stat
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from contracts.errors import NetBoxITError, printable
from system import sandbox


class MediaFailed(NetBoxITError):
    """A recording of a run could not be read."""


#: What the applications write (applications.call, applications.camera), by the end of a file's name: ffmpeg's names of its
#: container and of the codec in it.
_FORMS: Final = {".wav": ("wav", "pcm_s16le"), ".h264": ("h264", "h264"), ".mkv": ("matroska", "h264")}


def convert(file: Path, output: Sequence[str], limits: sandbox.Limits) -> bytes:
    """What ffmpeg makes of a file by those options, written to its standard output. Raises MediaFailed."""
    with decoding(file, output, limits) as (program, name):
        content = program.read(limits.output_bytes + 1)
        if status := program.wait():
            raise MediaFailed(f"ffmpeg could not read {name} (status {status}): {printable(program.complaint().strip()[-500:])}")
        return content


@contextmanager
def decoding(file: Path, output: Sequence[str], limits: sandbox.Limits) -> Iterator[tuple[sandbox.Program, str]]:
    """The same while it is read, and what a message calls the file. Raises MediaFailed, also for what exceeds the limits."""
    name = printable(file.name)
    if file.suffix not in _FORMS:
        raise MediaFailed(f"{name} is no recording: its name ends in none of {', '.join(_FORMS)}")
    container, codec = _FORMS[file.suffix]
    command = [
        *("ffmpeg", "-v", "error", "-nostdin", "-threads", "1", "-protocol_whitelist", "pipe"),
        *("-format_whitelist", container, "-codec_whitelist", codec, "-f", container, "-i", "pipe:0"),
        # With a thread for each core it would need memory by the number of cores.
        *("-filter_threads", "1", "-threads", "1", *output),
    ]
    try:
        with _opened(file, name) as content, sandbox.running(command, limits, stdin=content) as program:
            yield program, name
    except (sandbox.LimitExceeded, sandbox.SandboxFailed) as error:
        raise MediaFailed(f"{name} could not be read: {error}") from error


def embedded(kind: str, file: Path, output: Sequence[str], limits: sandbox.Limits) -> str | None:
    """What `convert` gives, as a URL of that media type for a page; None where it is nothing, or cannot be read.

    A report is written also when a recording of the run is damaged or missing; the metrics say what is wrong with it.
    """
    try:
        content = convert(file, output, limits)
    except MediaFailed:
        return None
    return f"data:{kind};base64,{b64encode(content).decode()}" if content else None


@contextmanager
def _opened(file: Path, name: str) -> Iterator[BinaryIO]:
    """An ordinary file. No pipe is waited for, and no link followed."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise MediaFailed(f"{name} could not be read: {error.strerror}") from error
    with os.fdopen(descriptor, "rb") as content:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise MediaFailed(f"{name} is no recording: it is no ordinary file")
        yield content
