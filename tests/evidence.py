# SPDX-License-Identifier: GPL-2.0-or-later
"""Records of what a long trial found, for docs/records/: what docs/reliability.md says is read from there."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from results.environment import environment


def keep(file: Path, command: str, found: dict[str, Any]) -> None:
    """Writes what `command` found, with the date, the commit and the machine, as compressed JSON (`zcat FILE`)."""
    record = {"command": command, "date": datetime.now(UTC).isoformat(timespec="seconds"), "machine": environment(), **found}
    with gzip.open(file, "wt") as compressed:
        json.dump(record, compressed)
