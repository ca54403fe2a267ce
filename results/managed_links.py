# SPDX-License-Identifier: GPL-2.0-or-later
"""Budgets of managed links over the time of a run, from the journals of their hosts (middleware/README.md, "What is announced").

A host can write anything into its own journal, so what it says is checked and bounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from contracts.errors import printable
from results.journal import Journal
from results.metrics_document import ManagedLink, ManagedMember
from results.verdict import Verdict

#: Of a member; more is left out.
_MOST_CHANGES = 10_000
#: What the middleware takes (middleware/rate.h).
_LARGEST_BPS = 10**15
#: Of what a host says in its own words.
_LONGEST_WORDS: Final = 300


@dataclass
class _Member:
    """Budgets by the times from which on they applied, counted from the beginning of the run, and what else was announced."""

    budgets: list[tuple[float, int | None]] = field(default_factory=list)
    #: Since when, and why; None: it was in force again.
    unenforced: list[tuple[float, str | None]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: {"lease_lost": 0, "other_allocator": 0, "allocator_unreachable": 0})

    def take(self, at_s: float, event: Mapping[str, Any]) -> None:
        kind = event["event"]
        if kind == "budget" and _is_budget(event.get("budget_bps", "")):
            self.budgets.append((at_s, event["budget_bps"]))
        elif kind in ("unenforced", "enforced"):
            self.unenforced.append((at_s, printable(str(event.get("error")))[:_LONGEST_WORDS] if kind == "unenforced" else None))
        elif kind in self.counts:
            self.counts[kind] += at_s >= 0


def _is_budget(value: object) -> bool:
    return value is None or (type(value) is int and 0 <= value <= _LARGEST_BPS)


def managed_links(
    members: Mapping[str, Sequence[str]], journals: Mapping[str, Journal], began_ns: int, ended_ns: int | None
) -> list[ManagedLink]:
    """Of the members of each link what they might send. Times count from `began_ns`; what applied then begins at 0."""
    until_s = math.inf if ended_ns is None else (ended_ns - began_ns) / 1e9
    return [
        {"link": link, "members": [_told(host, _member(link, journals.get(host), began_ns, until_s), until_s) for host in hosts]}
        for link, hosts in members.items()
    ]


def _member(link: str, journal: Journal | None, began_ns: int, until_s: float) -> _Member:
    """What a host wrote down of its own part: it tells nothing of others."""
    member = _Member()
    if journal is not None:
        offset_s = journal.offset_s(began_ns)
        for event in journal.events:
            if event.get("link") == link and event["at_s"] + offset_s <= until_s:
                member.take(event["at_s"] + offset_s, event)
    return member


def _told(host: str, member: _Member, until_s: float) -> ManagedMember:
    times = [(max(at_s, 0.0), budget) for at_s, budget in member.budgets]
    # Of those before the run, and of several at one time, the last one.
    changes = list(dict(times).items())[:_MOST_CHANGES]
    words = [error for _, error in member.unenforced if error is not None]
    return {
        "host": host,
        "time_s": [at_s for at_s, _ in changes],
        "budget_bps": [budget for _, budget in changes],
        "mean_bps": _mean([*changes, (until_s, None)]) if math.isfinite(until_s) else None,
        "unenforced_s": _unenforced_s(member, until_s) if math.isfinite(until_s) else None,
        "unenforced": words[-1] if words else None,
        "leases_lost": member.counts["lease_lost"],
        "other_allocators": member.counts["other_allocator"],
        "unreachable": member.counts["allocator_unreachable"],
    }


def _mean(changes: list[tuple[float, int | None]]) -> float | None:
    """Over the time in which one applied."""
    spans = [
        (end_s - begin_s, budget) for (begin_s, budget), (end_s, _) in pairwise(changes) if budget is not None and end_s > begin_s
    ]
    total_s = sum(span_s for span_s, _ in spans)
    return sum(span_s * budget for span_s, budget in spans) / total_s if total_s else None


def _unenforced_s(member: _Member, until_s: float) -> float:
    """How long budgets were not in force, of the run."""
    ends = [*(at_s for at_s, _ in member.unenforced[1:]), until_s]
    spans = zip(member.unenforced, ends, strict=False)
    return sum(max(end_s, 0.0) - max(begin_s, 0.0) for (begin_s, error), end_s in spans if error is not None)


def judge(links: Iterable[ManagedLink], verdict: Verdict) -> None:
    """A budget that is not in force is not the network that the topology declares; what leases did is the network's own doing."""
    for link in links:
        for member in link["members"]:
            name = f"host {member['host']}, member of the managed link {link['link']}"
            if member["unenforced_s"]:
                verdict.degraded.append(
                    f"{name}: its budget was not enforced for {member['unenforced_s']:.1f} s: {member['unenforced']}"
                )
            verdict.notes += [f"{name}: {words}" for words in _notes(member)]


def _notes(member: ManagedMember) -> Iterator[str]:
    if not any(budget is not None for budget in member["budget_bps"]):
        yield "it had no budget in the run"
    if member["leases_lost"]:
        yield f"it lost its lease {_times(member['leases_lost'])}, and had no budget until it had another one, or kept the last"
    if member["other_allocators"]:
        yield "a second allocator announced budgets of the link; let one host alone divide it"
    if member["unreachable"] > member["leases_lost"]:
        yield f"its allocator did not answer {_times(member['unreachable'])}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
