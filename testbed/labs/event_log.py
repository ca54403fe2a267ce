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
from typing import Final, Self

from contracts import durable
from contracts.run_folder import EVENTS_FILE
from ownership import recorded
from testbed.labs import measuring

#: In the lab's folder.
_BEGUN: Final = "begun.json"


class EventLog:
    """Each line is written when its event is over, also when it failed."""

    def __init__(self, file: Path, lab: Path, began_ns: int | None = None) -> None:
        """`file` is the log, `lab` the lab's folder. Times count from `began_ns` (CLOCK_REALTIME), or from now until `begin`."""
        self.file, self._lab, self._lock = file, lab, threading.Lock()
        self.has_begun = began_ns is not None
        self.began_ns = time.time_ns() if began_ns is None else began_ns
        self._began = time.monotonic() - (time.time_ns() - self.began_ns) / 1e9

    @classmethod
    def of(cls, lab: Path) -> Self:
        """That of a lab that is up. Of one whose network's time has not begun it counts from now, and `has_begun` is false."""
        try:
            began_ns, file = recorded.read(lab / _BEGUN, lambda begun: (int(begun["began_ns"]), Path(begun["file"])))
        except FileNotFoundError:
            return cls(lab / EVENTS_FILE, lab)
        return cls(file, lab, began_ns)

    @classmethod
    def of_traffic(cls, lab: Path) -> Self | None:
        """That of traffic which is measured just now in a lab that stays up."""
        log = measuring.log_of(lab)
        return None if log is None else cls(log[1], lab, log[0])

    def begin(self) -> None:
        """The network's time begins now."""
        self.began_ns, self._began, self.has_begun = time.time_ns(), time.monotonic(), True
        recorded.put(self._lab / _BEGUN, {"began_ns": self.began_ns, "file": str(self.file.absolute())})

    def begin_beside(self) -> None:
        """The traffic of a lab begins now that stays up: the network's time, and the lab's own log, go on."""
        self.began_ns, self._began, self.has_begun = time.time_ns(), time.monotonic(), True
        measuring.keep_log(self._lab, self.began_ns, self.file)

    def due(self, at_s: float) -> float:
        """On the monotonic clock."""
        return self._began + at_s

    def at_s(self, monotonic: float) -> float:
        return monotonic - self._began

    def write(self, at_s: float, started: float, what: Mapping[str, object], error: str | None = None) -> None:
        """`what` are the keys of an `EventRecord` that say what happened. `started` is when it was begun, on the monotonic clock;
        now it is over."""
        line = {
            "at_s": round(at_s, 6),
            "late_ms": round((started - self.due(at_s)) * 1e3, 3),
            "took_ms": round((time.monotonic() - started) * 1e3, 3),
            **what,
            "error": error,
        }
        with self._lock, durable.told(self.file), self.file.open("a") as file:
            file.write(json.dumps(line) + "\n")
