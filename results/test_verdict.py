# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import copy
from typing import Any

import pytest

from results.verdict import EXIT_STATUS, Verdict, judge

PLAN = {"lateness_limit_s": 1e-3, "notes": ["cores are shared"]}
LATENESS = {"p50": 0.0, "p99": 900.0, "p99_9": 950.0, "max": 990.0}
NETBOX: dict[str, Any] = {
    "ports": [{"received": 10_000, "overload_drops": 0, "send_drops": 0}],
    "lateness_us": {"frame": LATENESS, "event": LATENESS},
    "missed": 0,
    "records": {"dropped": 0},
}
CAPTURE = {"node": "eoc", "interface": "eth", "received": 10, "dropped": 0}
FLOW = {"name": "call.voice", "direction": "return", "packets": 10}
FIFO = {"nodes": [{"name": "cell", "netbox": {"scheduler": {"policy": "fifo", "reasons": []}}}, {"name": "eoc", "netbox": None}]}


def verdict_of(change: dict[str, Any] | None = None, **others: Any) -> Verdict:
    netbox = {**copy.deepcopy(NETBOX), **(change or {})}
    given: dict[str, Any] = {
        **{
            "plan": PLAN,
            "failures": [],
            "statistics": {"cell": netbox},
            "captures": [CAPTURE],
            "flows": [FLOW],
            "environment": FIFO,
        },
        **others,
    }
    return judge(**given)


def test_a_run_without_fault_is_valid_and_keeps_its_notes() -> None:
    assert verdict_of().to_json() == {"status": "valid", "reasons": [], "notes": ["cores are shared"]}
    assert EXIT_STATUS == {"valid": 0, "degraded": 3, "invalid": 4}


@pytest.mark.parametrize("kind", ["frame", "event"])
def test_one_in_a_hundred_over_the_limit_is_invalid(kind: str) -> None:
    late = {**NETBOX["lateness_us"], kind: {**LATENESS, "p99": 1001.0}}
    found = verdict_of({"lateness_us": late})
    assert found.status == "invalid"
    assert found.to_json()["reasons"] == [
        f"netbox cell: one in a hundred {kind}s is more than 1,001 us late, the limit is 1,000 us"
    ]


def test_a_single_time_over_the_limit_degrades() -> None:
    assert verdict_of({"missed": 1}).status == "degraded"


@pytest.mark.parametrize(("dropped", "status"), [(0, "valid"), (1, "degraded"), (10, "degraded"), (11, "invalid")])
def test_drops_by_overload_degrade_up_to_one_in_a_thousand(dropped: int, status: str) -> None:
    assert verdict_of({"ports": [{"received": 10_000, "overload_drops": dropped, "send_drops": 0}]}).status == status


@pytest.mark.parametrize(
    "others",
    [
        {"failures": ["node cell has ended"]},
        {"captures": [{**CAPTURE, "dropped": 1}]},
        {"captures": [{**CAPTURE, "received": None, "dropped": None}]},
        {"flows": [{**FLOW, "packets": 0}]},
    ],
)
def test_what_makes_measurements_incomplete_is_invalid(others: dict[str, Any]) -> None:
    assert verdict_of(**others).status == "invalid"


def test_missing_records_are_invalid() -> None:
    assert verdict_of({"records": {"dropped": 1}}).status == "invalid"


def test_no_real_time_scheduling_degrades() -> None:
    other = {"nodes": [{"name": "cell", "netbox": {"scheduler": {"policy": "other", "reasons": ["EPERM"]}}}]}
    found = verdict_of(environment=other)
    assert found.status == "degraded"
    assert "cell (EPERM)" in found.to_json()["reasons"][0]


def test_the_worse_comes_first() -> None:
    found = verdict_of({"missed": 3}, failures=["interrupted"])
    assert found.status == "invalid"
    assert found.to_json()["reasons"][0] == "interrupted"
    assert len(found.to_json()["reasons"]) == 2
