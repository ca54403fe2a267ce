# SPDX-License-Identifier: GPL-2.0-or-later
"""`events.jsonl`: what was changed in a lab at what time (docs/architecture.md, "Run folder").

A run's is in its folder, that of a lab which is up without one in the lab's. The lab's folder says which it is and when the
network's time began, so that a change made from another terminal is recorded with the others. While the traffic of a file is
measured in a lab that stays up, changes are recorded in both.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Self

from contracts import durable
from contracts.run_folder import EVENTS_FILE
from ownership import recorded
from testbed.labs import measuring

#: In the lab's folder.
_BEGUN: Final = "begun.json"


class EventLog:
    """Each line is written when its event is over, whatever became of it."""

    def __init__(self, file: Path, lab: Path) -> None:
        """`file` is the log, `lab` the lab's folder."""
        self._file, self._lab, self._lock = file, lab, threading.Lock()
        self.began_ns, self._began, self.has_begun = 0, 0.0, False

    @classmethod
    def of(cls, lab: Path) -> Self:
        """That of a lab that is up. Of one whose network's time has not begun it counts from now, and `has_begun` is false."""
        has_begun = True
        try:
            began_ns, file = recorded.read(lab / _BEGUN, lambda said: (int(said["began_ns"]), Path(said["file"])))
        except FileNotFoundError:
            began_ns, file, has_begun = time.time_ns(), lab / EVENTS_FILE, False
        log = cls(file, lab)
        log._count_from(began_ns)
        log.has_begun = has_begun
        return log

    @classmethod
    def of_traffic(cls, lab: Path) -> Self | None:
        """That of traffic which is measured just now in a lab that stays up."""
        if (told := measuring.log_of(lab)) is None:
            return None
        log = cls(told[1], lab)
        log._count_from(told[0])
        return log

    @property
    def file(self) -> Path:
        return self._file

    def begin(self) -> None:
        """The network's time begins now."""
        self.began_ns, self._began, self.has_begun = time.time_ns(), time.monotonic(), True
        recorded.put(self._lab / _BEGUN, {"began_ns": self.began_ns, "file": str(self._file.absolute())})

    def begin_beside(self) -> None:
        """The traffic of a lab begins now that stays up: the network's time, and the lab's own log, go on."""
        self.began_ns, self._began, self.has_begun = time.time_ns(), time.monotonic(), True
        measuring.keep_log(self._lab, self.began_ns, self._file)

    def due(self, at_s: float) -> float:
        """On the monotonic clock."""
        return self._began + at_s

    def at_s(self, monotonic: float) -> float:
        return monotonic - self._began

    def write(self, at_s: float, started: float, what: Mapping[str, Any], error: str | None = None) -> None:
        """`started` is when it was begun, on the monotonic clock; now it is over."""
        line = {
            "at_s": round(at_s, 6),
            "late_ms": round((started - self.due(at_s)) * 1e3, 3),
            "took_ms": round((time.monotonic() - started) * 1e3, 3),
            **what,
            "error": error,
        }
        with self._lock, durable.told(self._file), self._file.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def _count_from(self, began_ns: int) -> None:
        self.began_ns, self.has_begun = began_ns, True
        self._began = time.monotonic() - (time.time_ns() - began_ns) / 1e9
