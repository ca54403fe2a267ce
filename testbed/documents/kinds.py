# SPDX-License-Identifier: GPL-2.0-or-later
"""Every document that a command prints, by name and version; metrics.json of a run folder is `results.metrics_document`'s.

The shapes are types alone: what prints a document imports none of them. `testbed.documents.schemas` makes the schemas of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contracts.document import Document

if TYPE_CHECKING:
    from testbed.documents import archive, bench, campaign, captures, changes, host, messages, plan, run, status, watch

APPLY: Final[Document[changes.Apply]] = Document("apply")
ATTACH: Final[Document[changes.Attach]] = Document("attach")
BENCH: Final[Document[bench.Bench]] = Document("bench")
CALIBRATE: Final[Document[host.Calibrate]] = Document("calibrate")
CAMPAIGN_AGAIN: Final[Document[archive.CampaignAgain]] = Document("campaign-again")
CAMPAIGN_DRY_RUN: Final[Document[campaign.CampaignDryRun]] = Document("campaign-dry-run")
CAMPAIGN: Final[Document[campaign.CampaignOutcome]] = Document("campaign")
CAPTURE: Final[Document[captures.Capture]] = Document("capture")
CHANGES: Final[Document[changes.Changes]] = Document("changes", version=2)
CHECK: Final[Document[plan.Check]] = Document("check")
COMPARE: Final[Document[campaign.Compare]] = Document("compare")
DETACH: Final[Document[changes.Detach]] = Document("detach")
DOCTOR: Final[Document[host.Doctor]] = Document("doctor")
DOWN: Final[Document[status.Down]] = Document("down")
DRILLS: Final[Document[changes.Drills]] = Document("drills")
ERRORS: Final[Document[messages.Errors]] = Document("errors")
EXPORT: Final[Document[archive.Export]] = Document("export")
HANDLER_VALUE: Final[Document[changes.HandlerValue]] = Document("handler-value")
HANDLER_WRITTEN: Final[Document[changes.HandlerWritten]] = Document("handler-written")
HANDLERS: Final[Document[changes.Handlers]] = Document("handlers")
IMPORT: Final[Document[archive.Import]] = Document("import")
MACHINES: Final[Document[host.Machines]] = Document("machines")
PLAN: Final[Document[plan.PlanDocument]] = Document("plan", version=2)
PROGRESS: Final[Document[messages.Progress]] = Document("progress")
PUT_BACK: Final[Document[changes.PutBack]] = Document("put-back", version=2)
RECORD: Final[Document[captures.Record]] = Document("record")
RUN: Final[Document[run.Run]] = Document("run", version=2)
RUN_AGAIN: Final[Document[archive.RunAgain]] = Document("run-again")
STATUS: Final[Document[status.Status]] = Document("status")
UP: Final[Document[status.LabStatus]] = Document("up")
WATCH: Final[Document[watch.WatchLine]] = Document("watch")
