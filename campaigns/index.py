# SPDX-License-Identifier: GPL-2.0-or-later
"""The index of a campaign, `runs.jsonl`: which runs are over, a line each."""

from __future__ import annotations

import json
import os
from pathlib import Path

from contracts import durable
from contracts.campaign import INDEX_FILE, CampaignRun
from contracts.run_files import read_lines


class Index:
    """The runs that are over, by their names. A run is in it, and on the disk, once `append` has returned.

    A line is one write and then an fsync. What a kill or a full disk leaves of a line is no line, and is removed.
    """

    def __init__(self, folder: Path) -> None:
        """Raises DamagedRun."""
        self._file = folder / INDEX_FILE
        self.runs: dict[str, CampaignRun] = {run["name"]: run for run in read_lines(self._file, CampaignRun)}

    def append(self, run: CampaignRun) -> None:
        """Raises NotWritten."""
        with durable.told(self._file):
            new = not self._file.exists()
            descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
            try:
                end = _whole_lines(descriptor)
                os.ftruncate(descriptor, end)
                try:
                    durable.write_all(descriptor, json.dumps(run).encode() + b"\n")
                    os.fsync(descriptor)
                except OSError:
                    os.ftruncate(descriptor, end)
                    raise
            finally:
                os.close(descriptor)
            if new:
                durable.sync_folder(self._file.parent)
        self.runs[run["name"]] = run


def _whole_lines(descriptor: int) -> int:
    """The bytes up to the end of the last complete line."""
    end = os.lseek(descriptor, 0, os.SEEK_END)
    while end:
        begin = max(0, end - 4096)
        if (newline := os.pread(descriptor, end - begin, begin).rfind(b"\n")) >= 0:
            return begin + newline + 1
        end = begin
    return 0
