# SPDX-License-Identifier: GPL-2.0-or-later
"""Every document that a command prints, by name and version; metrics.json of a run folder is `results.metrics_document`'s.

The shapes are types alone: what prints a document imports none of them. `testbed.documents.schemas` makes the schemas of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contracts.document import Document

if TYPE_CHECKING:
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

APPLY: Final[Document[Apply]] = Document("apply")
ATTACH: Final[Document[Attach]] = Document("attach")
BENCH: Final[Document[Bench]] = Document("bench")
CALIBRATE: Final[Document[Calibrate]] = Document("calibrate")
CAPTURE: Final[Document[Capture]] = Document("capture")
CHANGES: Final[Document[Changes]] = Document("changes", version=2)
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
PLAN: Final[Document[PlanDocument]] = Document("plan", version=2)
PROGRESS: Final[Document[Progress]] = Document("progress")
PUT_BACK: Final[Document[PutBack]] = Document("put-back", version=2)
RECORD: Final[Document[Record]] = Document("record")
RUN: Final[Document[Run]] = Document("run", version=2)
STATUS: Final[Document[Status]] = Document("status")
UP: Final[Document[LabStatus]] = Document("up")
WATCH: Final[Document[WatchLine]] = Document("watch")
