# SPDX-License-Identifier: GPL-2.0-or-later
"""A plan as `virtual-network` reads it (netboxes/network/README.md): netboxes, routers and hosts, and where their records go."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from applications.virtual_traffic import FlowEnd
from contracts import durable
from contracts.netbox_configuration import netbox_configuration
from contracts.plan import NodePlan, Plan
from contracts.run_folder import JOURNAL_FILE, RECORDS_FILE, STATISTICS_FILE
from netboxes.live_limits import live_limits_of_program
from results.capture import SNAPSHOT_BYTES, file_name
from testbed.labs.measuring import SAMPLE_S
from testbed.nodes import routers
from testbed.virtual_time import hosts
from testbed.virtual_time.course import course

#: Time 0 of all simulations, as ns since 1970: the year 2000. The same in each run, so that the same seed gives the same files.
EPOCH_NS: Final = 946_684_800_000_000_000
#: Between the moment that all netboxes are ready and the network's time: for echoes by which addresses are resolved.
_SETTLE_S: Final = 4.0
#: How long stations may take into the network, as in a lab.
_PATIENCE_S: Final = 90.0

#: Folders of a run folder (docs/architecture.md, "Run folder").
CAPTURES: Final = "captures"
NODES: Final = "nodes"

#: Of the program, in its folder.
TIMES_FILE: Final = "times.json"

#: An entry of netboxes, of routers.
_Json = dict[str, Any]


@dataclass(frozen=True)
class VirtualNetwork:
    """A plan in virtual time. All files are below `folder`, for as long as it runs."""

    plan: Plan
    ends: Sequence[FlowEnd]
    folder: Path

    def configuration(self, duration_s: float) -> _Json:
        """What the program is told; the configurations of routers are files of the folder then."""
        with durable.told(self.folder):
            for node in self.plan.nodes:
                (self.folder / NODES / node.name).mkdir(parents=True)
            (self.folder / CAPTURES).mkdir()
        return {
            "duration_s": duration_s,
            "settle_s": _SETTLE_S,
            "patience_s": _PATIENCE_S,
            "epoch_ns": EPOCH_NS,
            "times": str(self.folder / TIMES_FILE),
            "watched": True,
            "netboxes": [self._netbox(node) for node in self.plan.nodes if not routers.is_click(node)],
            "routers": [self._router(node) for node in self.plan.nodes if routers.is_click(node)],
            "wires": [[[end.node, end.interface] for end in (wire.left, wire.right)] for wire in self.plan.wires],
            **course(self.plan, self.folder),
        }

    def captures(self) -> list[tuple[str, NodePlan, str]]:
        """File, host and interface of each."""
        return [
            (file_name(node, port.name), node, port.name)
            for node in self.plan.nodes
            if node.kind == "host"
            for port in node.interfaces
        ]

    def _netbox(self, node: NodePlan) -> _Json:
        written = self._host(node) if hosts.is_endpoint(node) else self._segment(node)
        place = self.folder / NODES / node.name
        return {
            "name": node.name,
            "seed": self.plan.seed,
            "clock": "virtual",
            "statistics": str(place / STATISTICS_FILE),
            "journal": str(place / JOURNAL_FILE),
            "interval_s": SAMPLE_S,
            **written,
        }

    def _segment(self, node: NodePlan) -> _Json:
        told = netbox_configuration(node)
        return {
            "technology": told["technology"],
            "seed": told["seed"],
            "stations": [{"name": own["name"], "port": self._port(node, own["name"])} for own in told["stations"]],
            "classes": told["classes"],
            "parameters": told["parameters"],
            "stages": told.get("stages"),
            "link_layer": told.get("link_layer"),
            "telemetry": told.get("telemetry"),
            "live": told["live"],
            "realtime": told["realtime"],
            "records": str(self.folder / NODES / node.name / RECORDS_FILE),
        }

    def _host(self, node: NodePlan) -> _Json:
        return {
            "technology": "endpoints",
            "stations": [{"name": port.name, "port": self._port(node, port.name)} for port in node.interfaces],
            "parameters": hosts.parameters(node, self.plan.mtus(), self.ends),
            "live": live_limits_of_program("endpoints"),
        }

    def _port(self, node: NodePlan, name: str) -> _Json:
        port: _Json = {"kind": "joined", "mtu": self.plan.mtus()[next(own.wire for own in node.interfaces if own.name == name)]}
        if node.kind == "host":
            port |= {"capture": str(self.folder / CAPTURES / file_name(node, name)), "snapshot": SNAPSHOT_BYTES}
        return port

    def _router(self, node: NodePlan) -> _Json:
        place = self.folder / NODES / node.name
        name = routers.configuration_name(node)
        durable.write(place / name, node.files[name])
        return {
            "name": node.name,
            "configuration": str(place / name),
            "defines": routers.defines_in(node.command),
            "stages": json.loads(node.files[routers.STAGES_FILE]),
            "interfaces": [port.name for port in node.interfaces],
            "statistics": str(place / STATISTICS_FILE),
            "journal": str(place / JOURNAL_FILE),
        }
