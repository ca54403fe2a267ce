# SPDX-License-Identifier: GPL-2.0-or-later
"""Run netboxes that are joined by wires in virtual time, all in one process."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from contracts.installation import BUILD
from netboxes.engine.virtual import Emulation, Netbox, run_program
from netboxes.technology import build_folder

#: A station of a netbox or an interface of a router, by their names.
End = tuple[str, str]


@dataclass(frozen=True)
class ClickRouter:
    """A Click router: its configuration, the variables of it, and the interfaces that wires lead to."""

    configuration: Path
    defines: Mapping[str, str]
    interfaces: Sequence[str]


def emulate_network(
    netboxes: Mapping[str, Netbox],
    wires: Sequence[tuple[End, End]],
    duration_s: float,
    *,
    routers: Mapping[str, ClickRouter] | None = None,
    events: Sequence[Mapping[str, Any]] = (),
    conditions: Sequence[Mapping[str, Any]] = (),
    interval_s: float | None = None,
) -> dict[str, Emulation]:
    """By name what came out of each netbox, until `duration_s` of simulated time. What leaves at one end of a wire enters at the
    other at the same instant.

    `events` and `conditions` are those of the network (README.md); the events of netboxes come before them.
    The network's time begins, from which events count, when the first frame enters from outside. Stations without a
    wire keep what leaves them in `received`. Raises EmulationFailed.
    """
    first_ns = min((netbox.first_ns() for netbox in netboxes.values() if netbox.frames), default=0)
    with tempfile.TemporaryDirectory(prefix="netboxit-") as name:
        folders = {netbox: Path(name) / netbox for netbox in netboxes}
        for folder in folders.values():
            folder.mkdir()
        joined = {end for wire in wires for end in wire}
        file = Path(name) / "network.json"
        file.write_text(
            json.dumps(
                {
                    "duration_s": duration_s - first_ns / 1e9,
                    "start_s": first_ns / 1e9,
                    "netboxes": [
                        replace(box, events=()).configuration(
                            name, folders[name], interval_s, {station for node, station in joined if node == name}
                        )
                        for name, box in netboxes.items()
                    ],
                    "routers": [
                        {"name": name, **asdict(router), "configuration": str(router.configuration)}
                        for name, router in (routers or {}).items()
                    ],
                    "wires": wires,
                    "events": [
                        *(
                            {"at_s": at_s, "netbox": name, "parameter": parameter, "value": value}
                            for name, box in netboxes.items()
                            for at_s, parameter, value in box.events
                        ),
                        *events,
                    ],
                    "conditions": conditions,
                }
            )
        )
        run_program(build_folder() / "bin/virtual-network", file, BUILD)
        return {name: netbox.emulation(folders[name]) for name, netbox in netboxes.items()}
