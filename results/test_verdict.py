# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import copy
from typing import Any

import pytest

from results.conftest import netbox_statistics, node_status, plan_of
from results.verdict import Verdict, judge

PLAN = plan_of([], notes=("cores are shared",))
LATENESS = {"count": 9, "p50": 0.0, "p99": 900.0, "p99_9": 950.0, "max": 990.0}
NETBOX: Any = netbox_statistics(lateness_us={"frame": LATENESS, "event": LATENESS})
KEPT: dict[str, Any] = {
    **{"limit_us": 1000.0, "policy": "mark", "received": 10_000, "overload_drops": 0, "send_drops": 0},
    **{"missed": 0, "misses": [], "steal_ratio": 0.001, "freezes": []},
}
CAPTURE = {"node": "eoc", "interface": "eth", "received": 10, "dropped": 0, "ended": None}
FLOW = {"name": "call.voice", "direction": "return", "packets": 10, "warm_up_packets": 0, "unreached": None}
FIFO = [node_status("cell", "netbox", netbox={"scheduler": {"policy": "fifo", "reasons": []}}), node_status("eoc", "host")]


def verdict_of(change: dict[str, Any] | None = None, kept: dict[str, Any] | None = None, **others: Any) -> Verdict:
    netbox = {**copy.deepcopy(NETBOX), **(change or {})}
    given: dict[str, Any] = {
        **{
            "plan": PLAN,
            "failures": [],
            "statistics": {"cell": netbox},
            "netboxes": {"cell": {**KEPT, **(kept or {})}},
            "captures": [CAPTURE],
            "flows": [FLOW],
            "nodes": FIFO,
            "switches": {},
            "events": [],
        },
        **others,
    }
    return judge(**given)


def test_a_run_without_fault_is_valid_and_keeps_its_notes() -> None:
    assert verdict_of().to_json() == {"status": "valid", "reasons": [], "advice": [], "notes": ["cores are shared"]}


@pytest.mark.parametrize("kind", ["frame", "event"])
def test_one_in_a_hundred_over_the_limit_is_invalid(kind: str) -> None:
    late = {**NETBOX["lateness_us"], kind: {**LATENESS, "p99": 1001.0}}
    verdict = verdict_of({"lateness_us": late})
    assert verdict.status == "invalid"
    assert verdict.to_json()["reasons"] == [
        f"netbox cell: one in a hundred {kind}s is more than 1,001 us late, the limit is 1,000 us"
    ]


def test_frames_that_a_generator_could_not_send_are_a_share_of_those_that_it_emitted() -> None:
    emitted = {**NETBOX["frames"], "emitted": 90_000}
    verdict = verdict_of({"frames": emitted}, {"received": 10_000, "send_drops": 100})
    assert verdict.status == "degraded"
    assert verdict.degraded == ["netbox cell: 100 of 100,000 frames were dropped at its ports because it was too slow"]


def test_what_a_drill_did_is_not_blamed_on_the_host() -> None:
    misses = [{"after_s": at, "what": "frame", "lateness_us": 9e4} for at in (5.1, 5.2, 7.9)]
    kept = {"missed": 3, "misses": misses, "freezes": [{"at_s": 5.0, "for_s": 0.3}], "overload_drops": 100}
    late = {**NETBOX["lateness_us"], "frame": {**LATENESS, "p99": 2000.0}}
    told = " (drill: the run froze it for 300 ms at 5.0 s; 1 of the first 3 were at other times)"
    verdict = verdict_of({"lateness_us": late}, kept)
    assert verdict.status == "invalid"
    assert len(verdict.to_json()["reasons"]) == 3
    assert all(reason.endswith(told) for reason in verdict.to_json()["reasons"])


def test_a_run_in_which_nothing_was_sent_says_that_nothing_was_measured() -> None:
    verdict = verdict_of(flows=[])
    assert verdict.status == "valid" and verdict.notes[0].startswith("the topology has no `traffic`")
    assert verdict_of({"frames": {"delivered": 0, "lost": {}, "emitted": 10}}, flows=[]).notes == ["cores are shared"]
    assert verdict_of(flows=[], failures=["fr1 ended"]).notes == ["cores are shared"]


def test_a_single_time_over_the_limit_degrades() -> None:
    assert verdict_of(kept={"missed": 1}).status == "degraded"


def test_a_netbox_is_judged_by_its_own_limit() -> None:
    assert verdict_of(kept={"limit_us": 899.0}).status == "invalid"
    assert verdict_of(kept={"limit_us": 901.0}).status == "valid"


def test_when_deadlines_were_missed_is_said_where_it_is_known() -> None:
    misses = [{"after_s": 2.04, "what": "event", "lateness_us": 1500.0}, {"after_s": 7.5, "what": "frame", "lateness_us": 5310.0}]
    (reason,) = verdict_of(kept={"missed": 2, "misses": misses}).degraded
    assert reason.endswith("the first 2.0 s after the traffic began; 5,310 us is the most, at 7.5 s")
    (reason,) = verdict_of(kept={"missed": 2, "misses": [{**miss, "after_s": None} for miss in misses]}).degraded
    assert reason.endswith("later than the limit of 1,000 us")


@pytest.mark.parametrize(("stolen", "status"), [(None, "valid"), (0.05, "valid"), (0.051, "degraded"), (0.9, "degraded")])
def test_a_core_that_others_use_degrades(stolen: float | None, status: str) -> None:
    verdict = verdict_of(kept={"steal_ratio": stolen})
    assert verdict.status == status
    assert all("netbox cell: other guests of this machine took" in reason for reason in verdict.degraded)


@pytest.mark.parametrize(("dropped", "status"), [(0, "valid"), (1, "degraded"), (10, "degraded"), (11, "invalid")])
def test_drops_by_overload_degrade_up_to_one_in_a_thousand(dropped: int, status: str) -> None:
    assert verdict_of(kept={"overload_drops": dropped}).status == status
    assert verdict_of(kept={"send_drops": dropped}).status == status


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


def test_why_a_capture_ended_early_is_told() -> None:
    capture = {**CAPTURE, "received": None, "dropped": None, "ended": "dumpcap: no space left"}
    (reason,) = verdict_of(captures=[capture]).invalid
    assert reason == "the capture at eth of eoc ended before the run was over: dumpcap: no space left"


def test_missing_records_are_invalid() -> None:
    assert verdict_of({"records": {"dropped": 1}}).status == "invalid"


def test_no_real_time_scheduling_degrades() -> None:
    other = node_status("cell", "netbox", netbox={"scheduler": {"policy": "other", "reasons": ["EPERM"]}})
    verdict = verdict_of(nodes=[other])
    assert verdict.status == "degraded"
    assert "cell (EPERM)" in verdict.to_json()["reasons"][0]


def test_the_worse_comes_first() -> None:
    verdict = verdict_of(kept={"missed": 3}, failures=["interrupted"])
    assert verdict.status == "invalid"
    assert verdict.to_json()["reasons"][0] == "interrupted"
    assert len(verdict.to_json()["reasons"]) == 2


def test_a_generator_that_fell_behind_degrades() -> None:
    stations = {"out": {"intended": 10_000, "behind": 1_250}, "other": {"intended": 10, "behind": 0}}
    verdict = verdict_of({"segment": {"stations": stations}})
    assert verdict.status == "degraded"
    assert verdict.to_json()["reasons"] == [
        "generator cell.out: 1,250 of 10,000 frames were never sent, because it was behind the clock; "
        "the network was offered less than the topology says"
    ]


def test_journal_lines_that_found_no_room_are_noted() -> None:
    verdict = verdict_of({"journal": {"dropped": 3}})
    assert verdict.status == "valid"
    assert "netbox cell: 3 lines of its journal found no room" in verdict.to_json()["notes"][0]


@pytest.mark.parametrize(
    ("lost", "status"),
    [
        ({"policed": 500, "queue_drops": 500}, "valid"),
        ({"send_drops": 3}, "degraded"),
        ({"receive_drops": 30}, "invalid"),
        ({"unserved": 1}, "degraded"),
    ],
)
def test_what_a_switch_was_told_to_drop_is_the_networks_and_what_it_had_no_time_for_the_testbeds(
    lost: dict[str, int], status: str
) -> None:
    port = {"received": 10_000, "sent": 9_000, "receive_drops": 0, "send_drops": 0, "policed": 0, "queue_drops": 0, **lost}
    verdict = verdict_of(switches={"floor": {"ports": {"uplink": port}, "unserved": lost.get("unserved", 0)}})
    assert verdict.status == status
    assert all("switch floor" in reason for reason in verdict.invalid + verdict.degraded)


def test_stations_without_a_link_from_the_beginning_are_a_note_with_what_came_of_them() -> None:
    def told(at_s: float, event: str, station: str, **details: str) -> dict[str, Any]:
        return {"time_s": at_s, "kind": event, "netbox": "cell", "station": station, "details": details, "by_run": False}

    verdict = verdict_of(
        events=[
            told(-0.002, "link_down", "walker", reason="not associated"),
            told(-0.002, "link_down", "far", reason="not associated"),
            told(4.0, "link_down", "near", reason="not associated"),
            told(12.34, "link_up", "walker"),
        ]
    )
    assert verdict.status == "valid"
    assert verdict.notes[:2] == [
        "netbox cell: station walker had no link when the run began (not associated), and got one after 12.3 s",
        "netbox cell: station far had no link when the run began (not associated), and never got one",
    ]
    assert not any("near" in note for note in verdict.notes)


@pytest.mark.parametrize(
    ("program", "note"),
    [
        (None, None),
        ({"state": "runs", "status": None, "starts": 1, "log": ""}, None),
        (
            {"state": "ended", "status": 3, "starts": 1, "log": "why"},
            "node web: its program ended with status 3; its log is nodes/web/program.log",
        ),
        (
            {"state": "runs", "status": 0, "starts": 4, "log": ""},
            "node web: its program ended with status 0; its log is nodes/web/program.log (it was started 4 times)",
        ),
    ],
)
def test_the_end_of_a_program_that_a_host_starts_by_itself_is_noted(program: dict[str, Any] | None, note: str | None) -> None:
    verdict = verdict_of(nodes=[*FIFO, node_status("web", "host", program=program)])
    assert verdict.to_json()["status"] == "valid"
    assert verdict.notes == [*([note] if note else []), "cores are shared"]


@pytest.mark.parametrize(("late", "repeats", "is_told"), [(51, 1, True), (50, 1, False), (51, 0, False)])
def test_a_link_layer_whose_timers_are_too_short_for_its_technology_is_told(late: int, repeats: int, is_told: bool) -> None:
    layer = {"frames_arrived": 1000, "frames_late": late}
    station = {"link_layer": layer, "services": {"data": {"retransmissions": repeats}, "default": {"retransmissions": 0}}}
    verdict = verdict_of({"segment": {"stations": {"ap": station, "other": {}}}})
    assert verdict.status == "valid"
    told = [note for note in verdict.notes if "5% of the link layer's frames from ap took longer" in note]
    assert verdict.notes == [*told, *PLAN.notes] and len(told) == is_told
