# SPDX-License-Identifier: GPL-2.0-or-later
"""Networks of any size, as data that a topology file may hold."""

from __future__ import annotations

from typing import Any


def star(hosts: int) -> dict[str, Any]:
    """So many hosts (two at least) around one satellite link, each on a wire of its own; `host0` is at the gateway."""
    terminals = {f"terminal{number}": {"role": "terminal"} for number in range(1, hosts)}
    stations = ["gateway", *terminals]
    return {
        "name": f"star{hosts}",
        "hosts": {f"host{number}": {"address": f"10.9.{number // 200}.{number % 200 + 1}/16"} for number in range(hosts)},
        "netboxes": {
            "sky": {
                "technology": "satellite",
                "stations": {"gateway": {"role": "gateway"}, **terminals},
                "delay": "1 ms",
                "return_rate": "2 Mbit/s",
                "forward_rate": "10 Mbit/s",
            }
        },
        "wires": [[f"host{number}", f"sky.{station}"] for number, station in enumerate(stations)],
    }
