# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of a run folder, whoever writes and reads them (docs/architecture.md, "Run folder")."""

from __future__ import annotations

from typing import Final

#: Grows when a file goes or means something else. environment.json says it; one that does not is of version 1.
VERSION: Final = 3

#: What was asked for. Of `netboxit traffic` it is traffic.yaml.
TOPOLOGY_FILE: Final = "topology.yaml"
#: Figures to compare with.
REFERENCE_FILE: Final = "reference.yaml"
#: Below it: the files that the topology names, which `contracts.files.find_file` finds there before it looks elsewhere.
NAMED_FILES_FOLDER: Final = "topology-files"
#: What else was asked for: how long.
REQUEST_FILE: Final = "request.json"
#: What was made of it. A lab that is up has it in its own folder.
PLAN_FILE: Final = "plan.json"
#: Versions, kernel, processor, clock.
ENVIRONMENT_FILE: Final = "environment.json"
#: Scheduling and offloads as read from the lab, and when its time began and ended.
LAB_FILE: Final = "lab.json"
#: Of a run over several machines: who they are, their clocks, what joined them.
MACHINES_FILE: Final = "hosts.json"
#: What was changed in the lab at what time, a line each. A lab that is up without a run has it in its own folder.
EVENTS_FILE: Final = "events.jsonl"
#: When the run began and ended, and what failed.
RUN_FILE: Final = "run.json"
#: Of a run of a campaign that did not keep all of it: what was kept.
KEPT_FILE: Final = "kept.json"

#: Below traffic/<application>/: its flows.
FLOWS_FILE: Final = "flows.json"
#: Below captures/: what each capture counted and dropped.
COUNTS_FILE: Final = "captures.json"

#: Below nodes/<node>/: a record for each frame; what happened, a line each; what was counted.
RECORDS_FILE: Final = "frames.bin"
JOURNAL_FILE: Final = "journal.jsonl"
STATISTICS_FILE: Final = "statistics.json"

#: What an analysis makes of them: a row for each frame of a flow, a row for each number over time, a row for each flow with its
#: figures, a row for each other figure; all figures; a page for people.
FRAMES_TABLE: Final = "frames.parquet"
SERIES_TABLE: Final = "series.parquet"
FLOWS_TABLE: Final = "flows.parquet"
MEASURES_TABLE: Final = "measures.parquet"
METRICS_FILE: Final = "metrics.json"
REPORT_FILE: Final = "report.html"
