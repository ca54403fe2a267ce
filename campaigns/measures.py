# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of what a campaign asks of its runs: whose and which, as `call.mos` or `call.forward.delay_ms_p99`."""

from __future__ import annotations

from typing import Any

from testbed.description.input_errors import nearest


def unknown_measures(name: str, traffic: Any) -> tuple[str, str] | None:
    """Why a measure is none of a topology with that `traffic`, cause and remedy; None where it is one."""
    entries = list(traffic) if isinstance(traffic, dict) else []
    flow, _, measure = name.partition(".")
    if not measure:
        return f'"{name}" is not a measure', "write whose and which, as call.mos"
    if flow not in entries:
        return f'there is no traffic "{flow}"', nearest(flow, entries)
    return None
