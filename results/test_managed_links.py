# SPDX-License-Identifier: GPL-2.0-or-later
"""Budgets over the time of a run, by what hosts wrote into their journals, honest ones and others."""

from __future__ import annotations

from typing import Any

import pytest

from results.journal import Journal
from results.managed_links import judge, managed_links
from results.verdict import Verdict

#: The run takes ten seconds.
BEGAN_NS, ENDED_NS = 1_000_000_000_000, 1_010_000_000_000


def event(at_s: float, kind: str, **details: Any) -> dict[str, Any]:
    return {"at_s": at_s, "event": kind, "link": "sat", **details}


def told(*events: dict[str, Any], began_ns: int = BEGAN_NS, members: tuple[str, ...] = ("fr1",)) -> list[Any]:
    """Of members of which the first one wrote this."""
    journal = Journal(began_ns, events=list(events))  # type: ignore[arg-type]
    [link] = managed_links({"sat": members}, {members[0]: journal}, BEGAN_NS, ENDED_NS)
    return list(link["members"])


def judged(members: list[Any]) -> Verdict:
    judge([{"link": "sat", "members": members}], verdict := Verdict())
    return verdict


def test_what_applied_when_the_run_began_begins_with_it() -> None:
    """The lab was up 3 s before: 900 kbit/s for 4 s, 400 for 4 s, none for 2 s."""
    budgets = [event(0.2, "budget", budget_bps=1_000_000), event(1.0, "budget", budget_bps=900_000)]
    budgets += [event(7.0, "budget", budget_bps=400_000), event(11.0, "budget", budget_bps=None)]
    budgets += [event(14.0, "budget", budget_bps=7)]  # as the lab was taken down
    [member] = told(*budgets, began_ns=BEGAN_NS - 3_000_000_000)
    assert (member["host"], member["time_s"], member["budget_bps"]) == ("fr1", [0.0, 4.0, 8.0], [900_000, 400_000, None])
    assert member["mean_bps"] == pytest.approx((900_000 + 400_000) / 2)
    assert judged([member]).status == "valid" and judged([member]).notes == []


def test_a_budget_that_was_not_in_force_degrades_the_run() -> None:
    why = "interface eth0 has a root qdisc of somebody else"
    [member] = told(
        event(0.0, "budget", budget_bps=1), event(-2.0, "unenforced", error="no HTB"), event(1.0, "enforced"),
        event(4.0, "unenforced", error=why),
    )  # fmt: skip
    assert (member["unenforced_s"], member["unenforced"]) == (1.0 + 6.0, why)
    verdict = judged([member])
    assert verdict.degraded == [f"host fr1, member of the managed link sat: its budget was not enforced for 7.0 s: {why}"]


def test_what_became_of_leases_is_a_note() -> None:
    kinds = ("allocator_unreachable", "lease_lost", "allocator_unreachable", "other_allocator")
    [member] = told(event(0.0, "budget", budget_bps=1), *(event(1.0 + at, kind) for at, kind in enumerate(kinds)))
    verdict = judged([member])
    assert verdict.status == "valid"
    assert [note.partition(": ")[2].partition(",")[0].partition(";")[0] for note in verdict.notes] == [
        "it lost its lease once",
        "a second allocator announced budgets of the link",
        "its allocator did not answer 2 times",
    ]


def test_a_member_without_a_budget_is_told() -> None:
    """One that wrote nothing, and one that heard no allocator."""
    members = told(event(1.0, "allocator_unreachable"), members=("fr1", "fr2"))
    assert [(member["host"], member["time_s"], member["mean_bps"]) for member in members] == [
        ("fr1", [], None),
        ("fr2", [], None),
    ]
    assert [note.rpartition(" sat: ")[2] for note in judged(members).notes] == [
        "it had no budget in the run",
        "its allocator did not answer once",
        "it had no budget in the run",
    ]


def test_what_a_host_says_of_others_is_passed_over() -> None:
    members = told(event(0.0, "budget", budget_bps=7, host="fr2"), members=("fr1", "fr2"))
    assert [(member["host"], member["budget_bps"]) for member in members] == [("fr1", [7]), ("fr2", [])]


@pytest.mark.parametrize(
    "line",
    [
        *(event(0.0, "budget", budget_bps=value) for value in ("much", -1, 1.5, 10**16, [1], True)),
        event(0.0, "budget"),
        {"at_s": 0.0, "event": "budget", "link": ["sat"], "budget_bps": 1},
        {"at_s": 0.0, "event": "budget", "link": "other", "budget_bps": 1},
        event(0.0, "lease_lost"),
    ],
)
def test_what_is_no_budget_of_the_link_is_passed_over(line: dict[str, Any]) -> None:
    [member] = told(line)
    assert member["time_s"] == []


def test_a_host_that_writes_without_end_is_bounded() -> None:
    [member] = told(*(event(at / 1e4, "budget", budget_bps=at) for at in range(20_000)))
    assert len(member["time_s"]) == len(member["budget_bps"]) == 10_000
    [member] = told(event(0.0, "budget", budget_bps=1), event(1.0, "unenforced", error="\x1b[31m" + "x" * 10_000))
    assert len(member["unenforced"]) == 300 and "\x1b" not in member["unenforced"]


def test_a_run_whose_end_nobody_knows_has_no_means() -> None:
    journal = Journal(BEGAN_NS, events=[event(0.0, "budget", budget_bps=1)])  # type: ignore[list-item]
    [link] = managed_links({"sat": ["fr1"]}, {"fr1": journal}, BEGAN_NS, None)
    assert [link["members"][0][key] for key in ("mean_bps", "unenforced_s")] == [None, None]
