# SPDX-License-Identifier: GPL-2.0-or-later
"""A netbox's configuration, netbox.json (docs/architecture.md, "Netbox process")."""

from __future__ import annotations

import json
from collections.abc import Mapping

from contracts.names import netbox_seed
from contracts.netbox_configuration import NetboxConfiguration, PortConfiguration, RealtimeConfiguration
from contracts.run_folder import JOURNAL_FILE, RECORDS_FILE, STATISTICS_FILE
from netboxes.live_limits import live_limits
from system.cores import REALTIME_PERIOD_US
from system.rootfs import NODE_FOLDER
from testbed.description.topology import Netbox, Topology


def netbox_json(
    name: str,
    netbox: Netbox,
    topology: Topology,
    ports: Mapping[str, PortConfiguration],
    *,
    priority: int,
    runtime_us: int | None,
    io_core: int | None,
) -> str:
    """The file's text.

    `ports` says by station how it reaches its wire, `priority` is that of SCHED_FIFO (0: none), `runtime_us` the CPU time that
    the kernel grants the real-time threads of a core (None: all), `io_core` the core of a second thread (None: there is none).
    """
    common, own = topology.realtime, netbox.realtime
    limit = own.limit if own and own.limit is not None else common.limit
    policy = own.policy if own and own.policy is not None else common.policy
    realtime: RealtimeConfiguration = {
        "limit_us": round(limit * 1e6, 3),
        "policy": policy,
        "priority": priority,
        # A spin without SCHED_FIFO only uses up the time that the scheduler gives.
        "spin_us": round(common.spin * 1e6, 3) if priority else 0,
        "timer_slack_ns": round(common.timer_slack * 1e9),
        "runtime_us": runtime_us,
        "period_us": REALTIME_PERIOD_US,
    }
    if io_core is not None:
        realtime["io_core"] = io_core
    configuration: NetboxConfiguration = {
        "name": name,
        "technology": netbox.technology,
        "seed": netbox_seed(topology.seed, name),
        "clock": "real",
        "stations": [{"name": station, "port": port} for station, port in ports.items()],
        "classes": [{"name": of, "match": match.rule()} for of, match in netbox.classes.items()],
        "parameters": netbox.parameters.model_dump(mode="json"),
        "live": live_limits(type(netbox.parameters)),
        "realtime": realtime,
        "control": f"{NODE_FOLDER}/control.sock",
        "records": f"{NODE_FOLDER}/{RECORDS_FILE}",
        "statistics": f"{NODE_FOLDER}/{STATISTICS_FILE}",
        "journal": f"{NODE_FOLDER}/{JOURNAL_FILE}",
    }
    return json.dumps(configuration, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
