# SPDX-License-Identifier: GPL-2.0-or-later
"""The loudspeaker of a telephone without a sound card: takes samples at the pace at which a card would, and records them.

Runs inside a host with the system's Python and nothing else:

    python3 loudspeaker.py FIFO RECORDING.wav SAMPLE_RATE

Makes FIFO, reads 16-bit mono samples from it in steps of 20 ms, one step each 20 ms, until the writer closes it or SIGINT comes.
The pace is what matters: a player whose samples are taken at once would empty the telephone's playout buffer and hear gaps.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys
import time
import wave

STEP_S = 0.020
SAMPLE_BYTES = 2
#: The kernel's smallest pipe, one page: what waits in it is heard later.
PIPE_BYTES = 4096


def record(fifo: str, recording: str, rate: int) -> None:
    step = round(rate * STEP_S) * SAMPLE_BYTES
    with wave.open(recording, "wb") as wav:
        wav.setparams((1, SAMPLE_BYTES, rate, 0, "NONE", "not compressed"))
        with contextlib.suppress(KeyboardInterrupt):  # SIGINT or SIGTERM: the recording is complete as it is
            # The pipe must be small before anything is in it, and its reader must not see an end before the first writer came:
            # so this program is a writer too until the first samples are there.
            both = os.open(fifo, os.O_RDWR)
            fcntl.fcntl(both, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            reader = os.open(fifo, os.O_RDONLY)
            piece = os.read(reader, step)
            os.close(both)
            due = time.monotonic()
            while piece:
                wav.writeframes(piece)
                due += len(piece) / SAMPLE_BYTES / rate
                time.sleep(max(0.0, due - time.monotonic()))
                piece = os.read(reader, step)


def main() -> None:
    fifo, recording, rate = sys.argv[1], sys.argv[2], int(sys.argv[3])
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    os.mkfifo(fifo)
    record(fifo, recording, rate)


if __name__ == "__main__":
    main()
