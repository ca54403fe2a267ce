# SPDX-License-Identifier: GPL-2.0-or-later
"""Every document that a command prints, and the metrics.json of a run folder, by name and version.

The shapes are types alone: what prints a document imports none of them. `testbed.documents.schemas` makes the schemas of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, NewType, TypeVar

if TYPE_CHECKING:
    from results.metrics_document import Metrics
    from testbed.documents.bench import Bench
    from testbed.documents.captures import Capture, Record
    from testbed.documents.changes import (
        Apply,
        Attach,
        Changes,
        Detach,
        Drills,
        Handlers,
        HandlerValue,
        HandlerWritten,
        PutBack,
    )
    from testbed.documents.host import Calibrate, Doctor, Machines
    from testbed.documents.messages import Errors, Progress
    from testbed.documents.plan import Check, PlanDocument
    from testbed.documents.run import Run
    from testbed.documents.status import Down, LabStatus, Status
    from testbed.documents.watch import WatchLine

Content = TypeVar("Content", bound=Mapping[str, Any])
#: A document that says which one it is.
Whole = NewType("Whole", dict[str, Any])


@dataclass(frozen=True)
class Document(Generic[Content]):
    """`version` grows when a key goes, or means something else; a key more is no new version (docs/json.md)."""

    name: str
    version: int = 1

    @property
    def format(self) -> str:
        return f"netboxit {self.name}"

    def of(self, content: Content) -> Whole:
        """The document: which one it is, then what it says."""
        return Whole({"format": self.format, "version": self.version, **content})


APPLY: Final[Document[Apply]] = Document("apply")
ATTACH: Final[Document[Attach]] = Document("attach")
BENCH: Final[Document[Bench]] = Document("bench")
CALIBRATE: Final[Document[Calibrate]] = Document("calibrate")
CAPTURE: Final[Document[Capture]] = Document("capture")
CHANGES: Final[Document[Changes]] = Document("changes")
CHECK: Final[Document[Check]] = Document("check")
DETACH: Final[Document[Detach]] = Document("detach")
DOCTOR: Final[Document[Doctor]] = Document("doctor")
DOWN: Final[Document[Down]] = Document("down")
DRILLS: Final[Document[Drills]] = Document("drills")
ERRORS: Final[Document[Errors]] = Document("errors")
HANDLER_VALUE: Final[Document[HandlerValue]] = Document("handler-value")
HANDLER_WRITTEN: Final[Document[HandlerWritten]] = Document("handler-written")
HANDLERS: Final[Document[Handlers]] = Document("handlers")
MACHINES: Final[Document[Machines]] = Document("machines")
METRICS: Final[Document[Metrics]] = Document("metrics")
PLAN: Final[Document[PlanDocument]] = Document("plan")
PROGRESS: Final[Document[Progress]] = Document("progress")
PUT_BACK: Final[Document[PutBack]] = Document("put-back")
RECORD: Final[Document[Record]] = Document("record")
RUN: Final[Document[Run]] = Document("run")
STATUS: Final[Document[Status]] = Document("status")
UP: Final[Document[LabStatus]] = Document("up")
WATCH: Final[Document[WatchLine]] = Document("watch")
