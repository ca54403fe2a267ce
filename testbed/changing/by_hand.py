# SPDX-License-Identifier: GPL-2.0-or-later
"""What somebody has set in a netbox that runs, and what of it is lost when the netbox starts again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from contracts.errors import NetBoxITError
from contracts.netbox_configuration import netbox_configuration
from contracts.plan import NodePlan
from contracts.run_folder import JOURNAL_FILE
from netboxes.technology import technology_of
from system import node_files
from testbed.description.live import written

_MISSING: Final = object()


def lost(folder: Path, node: NodePlan) -> list[str]:
    """Parameters that differ from what the netbox would start with, as a person writes them: "distance 7.5 km".

    `folder` is the node's own; its netbox has told there what was set since it started, by whomever.
    """
    if node.kind != "netbox":
        return []
    configuration = netbox_configuration(node)
    technology = technology_of(configuration["technology"])
    latest = {event["parameter"]: event["value"] for event in _events(folder) if event.get("event") == "set"}
    return [
        f"{parameter} {written(technology, parameter, value)}"
        for parameter, value in latest.items()
        if _starts_with(configuration["parameters"], parameter) != value
    ]


def _starts_with(parameters: Mapping[str, Any], name: str) -> Any:
    """The value of "distance", or of "responder.position"."""
    station, _, key = name.rpartition(".")
    of = parameters.get("stations", {}).get(station, {}) if station else parameters
    return of.get(key, _MISSING)


def _events(folder: Path) -> list[dict[str, Any]]:
    try:
        lines = node_files.read(folder / JOURNAL_FILE).splitlines()
    except (FileNotFoundError, NetBoxITError):
        return []
    events = []
    for line in lines:
        with suppress(ValueError):  # being written
            event = json.loads(line)
            if isinstance(event, dict) and isinstance(event.get("parameter"), str) and "value" in event:
                events.append(event)
    return events
