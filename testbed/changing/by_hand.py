# SPDX-License-Identifier: GPL-2.0-or-later
"""What somebody has set in a netbox or Click router that runs, and what of it is lost when that starts again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from contracts.errors import NetBoxITError
from contracts.netbox_configuration import NetboxConfiguration, Parameters, netbox_configuration
from contracts.plan import NodePlan
from contracts.run_folder import JOURNAL_FILE
from netboxes.technology import technology_of
from system import node_files
from testbed.description.live import written, written_stages
from testbed.nodes.routers import CONTROL, HandlerRefused, Handlers, RouterUnreachable, is_click, planned_stages

_MISSING: Final = object()


def lost(folder: Path, node: NodePlan) -> list[str]:
    """Parameters that differ from what the node would start with, as a person writes them: "distance 7.5 km".

    `folder` is the node's own; its netbox has told there what was set since it started, by whomever. A Click router is asked.
    """
    if is_click(node):
        return list(_other_stages(folder, node))
    if node.kind != "netbox":
        return []
    configuration = netbox_configuration(node)
    technology = technology_of(configuration["technology"])
    return [
        f"{parameter} {written(technology, parameter, value)}"
        for parameter, value in _latest(folder).items()
        if _starts_with(configuration, parameter) != value
    ]


def _other_stages(folder: Path, router: NodePlan) -> Iterator[str]:
    """Of interfaces that have others than those of the plan. Whoever does not answer has lost everything already."""
    planned = planned_stages(router)
    with suppress(RouterUnreachable, HandlerRefused), Handlers(folder / CONTROL) as handlers:
        stages = handlers.stages()
        for name in (interface.name for interface in router.interfaces):
            if (own := stages.get(name, [])) != planned.get(name, []):
                yield f"{name}.stages {_shown(own)}"


def _shown(stages: Sequence[Mapping[str, Any]]) -> str:
    """Whoever is in the router's container may answer anything."""
    try:
        return written_stages(stages)
    except RecursionError:
        return "others"


def _starts_with(configuration: NetboxConfiguration, name: str) -> object:
    """The value of "distance", or of "responder.position"."""
    station, _, key = name.rpartition(".")
    if key == "stages":
        return configuration.get("stages", {}).get(station, [])
    if not station and key in (above := configuration.get("link_layer", {})):
        return above[key]
    parameters = configuration["parameters"]
    of: Parameters = parameters.get("stations", {}).get(station, {}) if station else parameters
    return of.get(key, _MISSING)


def _latest(folder: Path) -> Parameters:
    """The last value of each parameter that was set, by the journal."""
    latest: Parameters = {}
    with suppress(FileNotFoundError, NetBoxITError):
        for line in node_files.read(folder / JOURNAL_FILE).splitlines():
            with suppress(ValueError):  # being written
                match json.loads(line):
                    case {"event": "set", "parameter": str(parameter), "value": value}:
                        latest[parameter] = value
    return latest
